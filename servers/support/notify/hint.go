// Package notify tells any number of listeners that something has changed, so that
// they look again.
package notify

import "sync"

// Feed has listeners. One that is busy gets one hint for any number of changes. The
// zero value is ready.
type Feed struct {
	mu  sync.Mutex
	out map[chan struct{}]struct{}
}

// Subscribe returns a channel of one slot that gets the hints, and a function that
// ends it.
func (f *Feed) Subscribe() (hint <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.out == nil {
		f.out = map[chan struct{}]struct{}{}
	}
	f.out[c] = struct{}{}
	return c, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.out, c)
	}
}

// Heard reports whether there are listeners.
func (f *Feed) Heard() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.out) > 0
}

// Send hints at a change. It waits for nobody.
func (f *Feed) Send() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.out {
		Poke(c)
	}
}

// Poke puts a hint into a channel of one slot, unless one is in it: whoever takes
// that will look anyway. It waits for nobody.
func Poke(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
