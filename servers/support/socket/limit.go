package socket

import (
	"cmp"
	"sync"
)

// The default limits of a [ConnLimit]. A process that a deck serves has one connection or a few;
// one that leaks them or means harm takes only its own share.
const (
	mostOfAll = 1024
	mostOfOne = 64
)

// ConnLimit bounds the open connections of a server, over all its listeners. The zero value is
// ready to use, from any goroutine.
type ConnLimit struct {
	Most      int // of all processes; 0: 1024
	MostOfOne int // of one process; 0: 64

	mu   sync.Mutex
	open int
	by   map[int]int // by process
}

// enter counts one more connection of a process, 0 for one that the system does not name.
// limit is 0 if the connection is to be served, else the limit that it exceeds. As many
// connections again as are served are heard, so that they can be told so. leave follows in
// any case.
func (r *ConnLimit) enter(pid int) (hear bool, limit int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.by == nil {
		r.by = map[int]int{}
	}
	r.open++
	r.by[pid]++
	all, one := cmp.Or(r.Most, mostOfAll), cmp.Or(r.MostOfOne, mostOfOne)
	own := r.by[pid]
	if pid == 0 {
		own = 0
	}
	switch hear = r.open <= 2*all && own <= 2*one; {
	case own > one:
		limit = one
	case r.open > all:
		limit = all
	}
	return hear, limit
}

func (r *ConnLimit) leave(pid int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open--
	if r.by[pid]--; r.by[pid] == 0 {
		delete(r.by, pid)
	}
}
