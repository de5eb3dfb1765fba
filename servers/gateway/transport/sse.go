package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

const (
	keptEvents     = 256     // of one session
	keptEventBytes = 4 << 20 // of one session
)

// events are the latest messages of a session's streams, so that a client whose connection
// broke gets what it missed. The zero value is ready to use.
type events struct {
	mu    sync.Mutex // guards what follows, and the streams
	last  uint64     // id of the newest
	kept  []event
	bytes int
}

// event is a message on a stream.
type event struct {
	id   uint64
	of   *stream
	line []byte
}

// stream is a sequence of messages of a session: those about one request, or those that belong
// to none. Its connection may change.
type stream struct {
	of *events

	to      *rpc.Outbox   // nil: nobody reads
	left    chan struct{} // closed when the connection is not the stream's any more
	written uint64        // id of the last event that a connection got
	over    bool          // the last message was sent
}

// send adds a message, which a client that reads too slowly gets when it connects again.
func (s *stream) send(line []byte, last bool) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.over {
		return
	}
	e := s.of.add(s, line)
	s.over = last
	switch {
	case s.to == nil:
	case last:
		s.written = e.id
		s.to.Put(rpc.Outgoing{Line: e.frame()})
		s.detach()
	default:
		s.written = e.id
		s.to.Offer(e.frame(), maxUnread, maxUnreadSize)
	}
}

// add keeps a message. The caller holds mu.
func (s *events) add(of *stream, line []byte) event {
	s.last++
	e := event{s.last, of, line}
	s.kept = append(s.kept, e)
	s.bytes += len(line)
	for len(s.kept) > 1 && (len(s.kept) > keptEvents || s.bytes > keptEventBytes) {
		s.bytes -= len(s.kept[0].line)
		s.kept = s.kept[1:]
	}
	return e
}

// detach takes the stream's connection away from it. The caller holds mu.
func (s *stream) detach() {
	if s.to != nil {
		close(s.left)
		s.to, s.left = nil, nil
	}
}

// attach gives the stream a connection, in place of the one it had, which first gets the
// messages after one. What it returns is closed when the stream has ended, or has another
// connection.
func (s *stream) attach(to *rpc.Outbox, after uint64) (left <-chan struct{}) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.detach()
	for _, e := range s.of.kept {
		if e.of == s && e.id > after {
			to.Put(rpc.Outgoing{Line: e.frame()})
			s.written = e.id
		}
	}
	ends := make(chan struct{})
	if s.over {
		close(ends)
		return ends
	}
	s.to, s.left = to, ends
	return ends
}

// leave takes a connection away from the stream, if it is still the stream's.
func (s *stream) leave(of *rpc.Outbox) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.to == of {
		s.detach()
	}
}

// seen returns the id of the last event that a connection got.
func (s *stream) seen() uint64 {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	return s.written
}

// find returns the stream of an event that is kept, nil for another.
func (s *events) find(id uint64) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.kept {
		if e.id == id {
			return e.of
		}
	}
	return nil
}

// frame is the event as it is written.
func (e event) frame() []byte {
	return append([]byte("id: "+strconv.FormatUint(e.id, 10)+"\n"), frame(e.line)...)
}

// frame is a message as an event that is not kept.
func frame(line []byte) []byte {
	return fmt.Appendf(make([]byte, 0, len(line)+24), "event: message\ndata: %s\n\n", bytes.TrimSpace(line))
}

// response is the body of a response that consists of events. It begins with the first.
func response(w http.ResponseWriter) *rpc.Outbox {
	return bodyOf(w, sync.OnceFunc(func() { beginEvents(w) }))
}

// bodyOf writes to the body of a response, each time after begin.
func bodyOf(w http.ResponseWriter, begin func()) *rpc.Outbox {
	return &rpc.Outbox{Name: "connection writer", Flush: http.NewResponseController(w).Flush, Write: func(m rpc.Outgoing) error {
		begin()
		_, err := w.Write(m.Line)
		return err
	}}
}

func beginEvents(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Connection", "keep-alive")
	w.WriteHeader(http.StatusOK)
}

// exchange is a request over HTTP and the response to it, which is one message, or events if
// anything is said before the reply. It is the client of the request.
type exchange struct {
	delivery
	w       http.ResponseWriter
	e       *backend.Request
	session *httpAgent // nil: the request belongs to none

	saying sync.Mutex  // guards what follows
	out    *rpc.Outbox // nil: nothing was said
	kept   *stream     // of a session; nil: nothing is kept
	over   bool
}

// Notify implements [backend.Client].
func (x *exchange) Notify(method string, params json.RawMessage) {
	x.say(rpc.Message{Method: method, Params: params}.Encode(), false)
}

// say sends a message on the request's own stream.
func (x *exchange) say(line []byte, last bool) {
	x.saying.Lock()
	defer x.saying.Unlock()
	if x.over {
		return
	}
	if x.over = last; x.out == nil {
		x.out = response(x.w)
		if x.session != nil {
			x.kept = &stream{of: &x.session.events}
			x.kept.attach(x.out, 0)
		}
	}
	switch {
	case x.kept != nil:
		x.kept.send(line, last)
	case last:
		x.out.Put(rpc.Outgoing{Line: frame(line)})
	default:
		x.out.Offer(frame(line), maxUnread, maxUnreadSize)
	}
}

// Ask implements [backend.Client].
func (x *exchange) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if x.session == nil {
		return nil, backend.ErrCannotAsk
	}
	r, err := x.session.asked.Open(nil)
	if err != nil {
		return nil, err
	}
	defer r.Forget()
	x.say(rpc.Message{ID: r.RawID(), Method: method, Params: params}.Encode(), false)
	select {
	case answer := <-r.Reply:
		if answer.Err != nil {
			return nil, fmt.Errorf("%s: the client responded: %w", method, answer.Err)
		}
		return answer.Result, nil
	case <-ctx.Done():
		x.say(r.Cancelled(""), false)
		return nil, ctx.Err()
	}
}

// reply ends the response. It returns when all is written, or the client is gone.
func (x *exchange) reply(r backend.Reply) {
	m := rpc.Message{ID: x.e.ID, Result: r.Result, Err: r.Error}
	x.saying.Lock()
	plain := x.out == nil
	x.over = x.over || plain
	x.saying.Unlock()
	if plain {
		x.w.Header().Set("Content-Type", "application/json")
		x.w.WriteHeader(statusOf(x.e, r))
		_, _ = x.w.Write(m.Line()) // the client may be gone
		return
	}
	x.say(m.Encode(), true)
	_ = x.out.Close() // as above
}
