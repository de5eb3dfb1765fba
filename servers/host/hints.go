package host

import "sync"

// hints tells any number of listeners that something changed. A listener that
// is busy gets one hint for any number of changes.
type hints struct {
	mu  sync.Mutex
	out map[chan struct{}]struct{}
}

func (h *hints) subscribe() (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	h.mu.Lock()
	if h.out == nil {
		h.out = map[chan struct{}]struct{}{}
	}
	h.out[c] = struct{}{}
	h.mu.Unlock()
	return c, func() {
		h.mu.Lock()
		delete(h.out, c)
		h.mu.Unlock()
	}
}

func (h *hints) send() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.out {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}
