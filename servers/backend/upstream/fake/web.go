package fake

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// Faults are ways in which HTTP servers differ.
type Faults struct {
	JSON       bool // answers with JSON instead of a stream, unless it sends more than the answer
	NoSessions bool // has no session ids
	NoStream   bool // offers no stream of its own
	LostStatus int  // for an unknown session; 0: 404. 400 comes with an error of code -32000
	Breaks     int  // number of streams that end right after their first event, which has an id, to be resumed
	OnlySSE    bool // speaks only the older transport
	Status     int  // of every response; 0: the usual one
}

// web is the fake over HTTP.
type web struct {
	s    *Server
	mu   sync.Mutex
	all  map[string]*remote
	next int
	lost int // number of streams that were broken
}

// remote is a session over HTTP: its streams, with everything sent on them.
type remote struct {
	*session
	mu      sync.Mutex
	streams []*stream
	own     *stream // the server's own
	changed chan struct{}
}

// stream is the events that belong to one request, or to no request.
type stream struct {
	events [][]byte
	ended  bool
}

// Handler serves the fake at every path.
func (s *Server) Handler() http.Handler {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.web == nil {
		s.web = &web{s: s, all: map[string]*remote{}}
	}
	return s.web
}

// Forget makes the fake forget all sessions.
func (s *Server) Forget() {
	w := s.Handler().(*web)
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.all)
}

func (w *web) sessions() (all []*session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.all {
		all = append(all, r.session)
	}
	return all
}

func (w *web) begin() *remote {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next++
	r := &remote{own: &stream{}, changed: make(chan struct{})}
	r.streams = []*stream{r.own}
	r.session = w.s.newSession(fmt.Sprintf("session-%d", w.next), func(line []byte) { r.say(r.own, line) })
	w.all[r.id] = r
	r.crash = func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.all, r.id)
	}
	return r
}

func (r *remote) say(on *stream, line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	on.events = append(on.events, line)
	close(r.changed)
	r.changed = make(chan struct{})
}

// ServeHTTP implements http.Handler.
func (w *web) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	body, _ := io.ReadAll(in.Body)                               // empty if the client is gone
	m, bad := rpc.Rules{Lenient: true}.Decode(append(body, ' ')) // never empty
	w.s.note(Request{Verb: in.Method, Method: m.Method, Header: in.Header.Clone(), Line: string(body)})
	faults := w.s.HTTP
	id := in.Header.Get("Mcp-Session-Id")
	if faults.OnlySSE {
		w.older(out, in, m, bad)
		return
	}
	w.mu.Lock()
	r := w.all[id]
	w.mu.Unlock()
	switch {
	case faults.Status != 0:
		http.Error(out, "no", faults.Status)
		return
	case in.Method == http.MethodPost && bad != nil:
		http.Error(out, bad.Message, http.StatusBadRequest)
		return
	case isModern(m.Params):
		r = w.begin()
	case m.Method == "initialize" && !w.s.NoLegacy || in.Method == http.MethodPost && faults.NoSessions && r == nil:
		r = w.begin()
		if !faults.NoSessions {
			out.Header().Set("Mcp-Session-Id", r.id)
		}
	case r == nil && in.Method == http.MethodGet && (faults.NoStream || faults.NoSessions):
		http.Error(out, "no stream", http.StatusMethodNotAllowed)
		return
	case r == nil:
		w.unknown(out)
		return
	}
	switch in.Method {
	case http.MethodPost:
		w.post(out, in, r, m)
	case http.MethodGet:
		if faults.NoStream {
			http.Error(out, "no stream", http.StatusMethodNotAllowed)
			return
		}
		w.get(out, in, r)
	case http.MethodDelete:
		w.mu.Lock()
		delete(w.all, id)
		w.mu.Unlock()
	}
}

// unknown answers a request in an unknown session.
func (w *web) unknown(out http.ResponseWriter) {
	status := cmp.Or(max(w.s.HTTP.LostStatus, 0), http.StatusNotFound)
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(status)
	_, _ = out.Write(rpc.Failure(nil, rpc.Error{Code: -32000, Message: "Server not initialized"}))
}

// post answers a message on a stream of its own.
func (w *web) post(out http.ResponseWriter, in *http.Request, r *remote, m rpc.Message) {
	if m.ID == nil || m.Method == "" {
		r.take(context.WithoutCancel(in.Context()), m, nil)
		out.WriteHeader(http.StatusAccepted)
		return
	}
	on := &stream{}
	r.mu.Lock()
	r.streams = append(r.streams, on)
	number := len(r.streams) - 1
	r.mu.Unlock()
	ctx := in.Context()
	if !isModern(m.Params) && !w.s.HTTP.JSON {
		ctx = context.WithoutCancel(ctx) // the client may resume the stream
	}
	if w.s.HTTP.JSON {
		r.take(ctx, m, func(line []byte) { r.say(on, line) })
		if len(on.events) == 1 {
			out.Header().Set("Content-Type", "application/json")
			_, _ = out.Write(on.events[0])
			return
		}
		on.ended = true
		r.flow(out, in, number, on, 0, false)
		return
	}
	first := make(chan struct{})
	recovery.Go("fake", func() {
		r.take(ctx, m, func(line []byte) {
			select {
			case <-first: // the stream is open
			case <-in.Context().Done():
			}
			r.say(on, line)
		})
		r.mu.Lock()
		on.ended = true
		close(r.changed)
		r.changed = make(chan struct{})
		r.mu.Unlock()
	})
	w.mu.Lock()
	breaks := w.lost < w.s.HTTP.Breaks && m.Method == "tools/call"
	if breaks {
		w.lost++
	}
	w.mu.Unlock()
	close(first)
	r.flow(out, in, number, on, 0, breaks)
}

// get opens the server's own stream, or resumes a broken one.
func (w *web) get(out http.ResponseWriter, in *http.Request, r *remote) {
	number, from := 0, 0
	if last := in.Header.Get("Last-Event-Id"); last != "" {
		a, b, _ := strings.Cut(last, ".")
		number, _ = strconv.Atoi(a)
		from, _ = strconv.Atoi(b)
	}
	r.mu.Lock()
	if number >= len(r.streams) {
		r.mu.Unlock()
		http.Error(out, "unknown event", http.StatusBadRequest)
		return
	}
	on := r.streams[number]
	r.mu.Unlock()
	r.flow(out, in, number, on, from, false)
}

// flow writes the events of a stream after the one numbered from.
func (r *remote) flow(out http.ResponseWriter, in *http.Request, number int, on *stream, from int, breaks bool) {
	out.Header().Set("Content-Type", "text/event-stream")
	push := http.NewResponseController(out).Flush
	if breaks {
		fmt.Fprintf(out, "id: %d.0\nretry: 1\ndata:\n\n", number)
		_ = push() // the client may be gone
		return
	}
	_ = push()
	for {
		r.mu.Lock()
		events, ended, changed := slices.Clone(on.events[from:]), on.ended, r.changed
		r.mu.Unlock()
		for _, e := range events {
			from++
			fmt.Fprintf(out, "id: %d.%d\nevent: message\ndata: %s\n\n", number, from, strings.TrimSpace(string(e)))
		}
		_ = push()
		if ended && len(events) == 0 {
			return
		}
		if len(events) > 0 {
			continue
		}
		select {
		case <-changed:
		case <-in.Context().Done():
			return
		}
	}
}

// older is the HTTP+SSE transport: one stream of events, and an address to send messages
// to.
func (w *web) older(out http.ResponseWriter, in *http.Request, m rpc.Message, bad *rpc.Error) {
	id := in.URL.Query().Get("session")
	w.mu.Lock()
	r := w.all[id]
	w.mu.Unlock()
	switch {
	case in.Method == http.MethodGet:
		r = w.begin()
		out.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(out, "event: endpoint\ndata: ?session=%s\n\n", r.id)
		r.flow(out, in, 0, r.own, 0, false)
	case r == nil:
		http.Error(out, "use the stream", http.StatusMethodNotAllowed)
	case bad != nil:
		http.Error(out, bad.Message, http.StatusBadRequest)
	default:
		out.WriteHeader(http.StatusAccepted)
		_ = http.NewResponseController(out).Flush() // the client may be gone
		recovery.Go("fake", func() {
			r.take(context.WithoutCancel(in.Context()), m, func(line []byte) { r.say(r.own, line) })
		})
	}
}
