package socket

import "sync/atomic"

// Room bounds the open connections of a server. It may be used from any goroutine.
type Room struct {
	// Most are served. As many again are heard, so that they can be told that there
	// is no room.
	Most int32

	open atomic.Int32
}

// Enter counts one more connection: hear tells whether its request is to be read,
// serve whether it is to be answered. Leave follows in any case.
func (r *Room) Enter() (hear, serve bool) {
	n := r.open.Add(1)
	return n <= 2*r.Most, n <= r.Most
}

// Leave counts a connection out.
func (r *Room) Leave() { r.open.Add(-1) }
