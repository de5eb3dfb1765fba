package process

import (
	"sync"
	"time"
)

// Watch is All for who asks every few seconds: to look at each of hundreds of processes costs more
// than all else that an idle deck does. One that was there the last two times is looked at again
// once a minute only; until then its name may be the one that it had.
type Watch struct {
	mu     sync.Mutex
	looked time.Time        // at all of them
	seen   map[int]bool     // the last time
	known  map[int]relative // and the time before
}

// All is what All is.
func (w *Watch) All() []Running {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := time.Now(); now.Sub(w.looked) >= time.Minute {
		w.known, w.looked = nil, now
	}
	found := processes(w.known)
	known, seen := make(map[int]relative, len(found)), make(map[int]bool, len(found))
	out := make([]Running, len(found))
	for i, p := range found {
		if w.seen[p.pid] { // a new one may be about to become another program
			known[p.pid] = p
		}
		seen[p.pid] = true
		out[i] = Running{p.pid, p.parent, p.name}
	}
	w.known, w.seen = known, seen
	return out
}
