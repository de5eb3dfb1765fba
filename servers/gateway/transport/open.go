package transport

import (
	"container/list"
	"net"
	"net/http"
	"sync"
)

// maxHTTPConns is the maximum number of open HTTP connections. It is twice that of
// requests, so that clients in excess of those can still be told so.
const maxHTTPConns = 2 * maxHTTPRequests

// openConns bounds the open connections of an HTTP server. A new connection in excess
// replaces the one that has been idle longest.
type openConns struct {
	most int

	mu   sync.Mutex // guards what follows
	open int
	idle list.List // of net.Conn, the longest idle at the front
	at   map[net.Conn]*list.Element
}

// changed is the callback for [http.Server.ConnState].
func (o *openConns) changed(c net.Conn, state http.ConnState) {
	o.mu.Lock()
	var out net.Conn
	switch state {
	case http.StateNew:
		o.open++
		o.rests(c)
		if o.open > o.most {
			out, _ = o.idle.Front().Value.(net.Conn) // c itself if no other is idle
			o.works(out)
		}
	case http.StateIdle:
		o.rests(c)
	case http.StateActive:
		o.works(c)
	case http.StateClosed, http.StateHijacked:
		o.open--
		o.works(c)
	}
	o.mu.Unlock()
	if out != nil {
		_ = out.Close() // the server hears of it when it reads
	}
}

func (o *openConns) rests(c net.Conn) { o.at[c] = o.idle.PushBack(c) }

func (o *openConns) works(c net.Conn) {
	if at := o.at[c]; at != nil {
		o.idle.Remove(at)
		delete(o.at, c)
	}
}
