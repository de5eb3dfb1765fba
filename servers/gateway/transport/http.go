package transport

import (
	"cmp"
	"container/list"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// maxHTTPRequests is the maximum number of concurrent requests, including open streams.
const maxHTTPRequests = 1024

// maxHeader is the maximum size of request headers in bytes; net/http adds a little.
const maxHeader = 32 << 10

// HTTP serves views over streamable HTTP: all servers at /mcp, one at /mcp/SERVER, and
// that one unchanged, as if without the deck, at /mcp/SERVER?as-is. It must be placed
// behind a Guard.
type HTTP struct {
	Host *router.Host

	grace    time.Duration // for the first bytes of a body; 0: bodyGrace
	most     int           // open connections; 0: maxHTTPConns
	requests atomic.Int32
	receipts receipts

	mu       sync.Mutex // guards what follows
	served   map[*router.View]*httpView
	agents   map[string]*httpAgent // by their keys
	sessions list.List             // of *httpAgent, the most recently used at the back
	clients  list.List             // those without a session
}

type httpView struct {
	view *router.View
	mcp  *server.StreamableHTTPServer
}

// ServeHTTP implements http.Handler.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v, err := h.view(r.URL)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	if h.requests.Add(1) > maxHTTPRequests {
		h.requests.Add(-1)
		pace, done := h.pace(w)
		hearOut(r.Body, 0, pace)
		done()
		tooBusy(w, nil, "mcpdeck is busy: too many requests are in flight")
		return
	}
	defer h.requests.Add(-1)
	var body []byte
	if r.Method == http.MethodPost {
		read, release, status, why := h.body(w, r)
		defer release()
		switch {
		case status == http.StatusServiceUnavailable:
			tooBusy(w, nil, why)
			return
		case status > 0:
			refuse(w, status, why)
			return
		}
		body = read
	}
	e, ok := checked(w, r, body)
	if !ok {
		return
	}
	v = h.fitting(r, e, v)
	agent := h.enter(r, e, v)
	if agent == nil {
		tooBusy(w, e.ID, "mcpdeck is busy: too many requests or sessions are open. The request was not run; retry when one has ended")
		return
	}
	defer h.leave(agent)
	if agent.answered(e) {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	ctx := context.WithValue(agent.Context(r.Context()), envelopeKey{}, e)
	if e.ID != nil && e.Method != string(mcp.MethodInitialize) && e.Method != string(mcp.MethodSubscriptionsListen) {
		o := &outlet{of: &h.receipts, ctx: r.Context()}
		o.asker = httpAsker{agent, o}
		ctx = withOutlet(ctx, o)
		if agent.list == &h.sessions {
			ctx = router.WithAsker(ctx, o.asker)
		}
	}
	if serve := served(v.view, e, r.Header); serve != nil {
		router.Instead(ctx, agent.flight.cancellable(e, serve))
	}
	agent.flight.cancelled(e)
	if e.Method == string(mcp.MethodInitialize) {
		// The client may use the session as soon as it reads of it.
		held := &heldResponse{ResponseWriter: w}
		defer held.send()
		w = held
	}
	ctx, reply := new(deliveries).open(ctx)
	defer func() { reply.tell(r.Context().Err() == nil) }() // the client still reads, or does not
	out := &answerWriter{ResponseWriter: w, ctx: ctx, e: e, agent: agent.Agent, view: v.view, receipts: &h.receipts}
	v.mcp.ServeHTTP(out, r.WithContext(ctx))
	out.begin(out.status)
	h.updateSession(w, r, e, agent, out.sent)
}

// tooBusy refuses a request with a retryable error.
func tooBusy(w http.ResponseWriter, id json.RawMessage, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Retry-After", "5")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = w.Write(rpc.Failure(id, rpc.Error{Code: rpc.CodeBusy, Message: why})) // the client may be gone
}

// cutSession returns the session ID that an agent's key contains.
func cutSession(key string) (id string, ok bool) { return strings.CutPrefix(key, "session ") }

func (h *HTTP) view(u *url.URL) (*httpView, error) {
	name := strings.Trim(strings.TrimPrefix(u.Path, "/mcp"), "/")
	var spec router.ViewSpec
	if name != "" {
		spec.Servers = []string{name}
	}
	spec.AsIs, spec.Profile = u.Query().Has("as-is"), u.Query().Get("profile")
	view, err := h.Host.View(spec)
	if err != nil {
		return nil, err
	}
	return h.serving(view), nil
}

// fitting returns the view for a request: that of its session, or else of the profile that
// fits a client which names none.
func (h *HTTP) fitting(r *http.Request, e *backend.Request, v *httpView) *httpView {
	if session := r.Header.Get(server.HeaderKeySessionID); session != "" && e.Method != string(mcp.MethodInitialize) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if a := h.agents["session "+session]; a != nil {
			if spec := a.view.view.Spec; v.view.Spec.Profile == "" {
				spec.Profile = ""
				if reflect.DeepEqual(spec, v.view.Spec) {
					return a.view
				}
			}
		}
		return v
	}
	client := clientOf(e)
	if client.Name == "" {
		return v
	}
	if view := v.view.For(snapshot.Caller{Transport: "http", Client: client.Name, ClientVersion: client.Version}); view != v.view {
		return h.serving(view)
	}
	return v
}

// serving returns what serves a view.
func (h *HTTP) serving(view *router.View) *httpView {
	h.mu.Lock()
	defer h.mu.Unlock()
	if v := h.served[view]; v != nil {
		return v
	}
	if h.served == nil {
		h.served, h.agents = map[*router.View]*httpView{}, map[string]*httpAgent{}
	}
	v := &httpView{view: view, mcp: server.NewStreamableHTTPServer(view.MCP,
		server.WithStateful(true),
		server.WithSessionIdleTTL(httpIdle),
		server.WithHTTPContextFunc(ownSession(view.MCP)),
		server.WithEventStore(newEventStore(&h.receipts)),
	)}
	h.served[view] = v
	return v
}

// clientOf is the client as a handshake, or a request that belongs to none, says.
func clientOf(e *backend.Request) (client mcp.Implementation) {
	said := e.Meta.Get(mcp.MetaKeyClientInfo)
	if said == nil && e.Method == string(mcp.MethodInitialize) {
		said = e.Params.Get("clientInfo")
	}
	if said != nil {
		_ = json.Unmarshal(said, &client) // the library says what is wrong
	}
	return client
}

// Start serves on l, behind a guard with the token, until ctx ends or l is closed.
func (h *HTTP) Start(ctx context.Context, l net.Listener, token func() string) error {
	conns := &openConns{most: cmp.Or(h.most, maxHTTPConns), at: map[net.Conn]*list.Element{}}
	srv := &http.Server{
		Handler:           &Guard{Token: token, Next: h},
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeader,
		ConnState:         conns.changed,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { srv.Close() })
	defer stop()
	served, end := context.WithCancel(ctx)
	defer end()
	recovery.Go("http agents", func() { h.expire(served) })
	// The listener is closed first, so that calls in flight are answered.
	if err := srv.Serve(l); err != nil && ctx.Err() == nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
