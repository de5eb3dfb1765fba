package transport

import (
	"cmp"
	"container/list"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// maxHTTPRequests is the maximum number of concurrent requests, including open streams.
const maxHTTPRequests = 1024

const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = mcp.HeaderProtocolVersion
	eventHeader   = "Last-Event-ID"
)

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

	mu       sync.Mutex // guards what follows
	agents   map[agentKey]*httpAgent
	sessions list.List // of *httpAgent, the most recently used at the back
	clients  list.List // those without a session
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
	switch {
	case !ok:
	case r.Method == http.MethodPost:
		h.post(w, r, e, v)
	case modern(r.Header.Get(versionHeader)):
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, r.Method+" belongs to an earlier version of the protocol; subscriptions/listen has what the deck says by itself", http.StatusMethodNotAllowed)
	case !known(r.Header):
		unknownVersion(w, r.Header)
	case r.Method == http.MethodDelete:
		h.delete(w, r)
	default:
		h.listen(w, r)
	}
}

// post answers a message.
func (h *HTTP) post(w http.ResponseWriter, r *http.Request, e *backend.Request, v *router.View) {
	if e.Stateless || modern(r.Header.Get(versionHeader)) {
		if bad := misfit(r.Header, e); bad != nil {
			fail(w, e.ID, http.StatusBadRequest, *bad)
			return
		}
	} else if e.Method != initializeMethod && !known(r.Header) {
		unknownVersion(w, r.Header)
		return
	}
	v = h.fitting(r, e, v)
	agent, found := h.enter(r, e, v)
	switch {
	case !found:
		http.Error(w, "unknown session", http.StatusNotFound)
		return
	case agent == nil:
		tooBusy(w, e.ID, "mcpdeck is busy: too many requests or sessions are open. The request was not run; retry when one has ended")
		return
	}
	defer h.leave(agent)
	switch {
	case e.ID != nil && e.Method != "":
		h.answer(w, r, e, agent, v)
		return
	case e.Method == "":
		agent.asked.Resolve(e.Message)
	case e.Method == cancelledMethod:
		agent.cancel(string(e.Params.Get("requestId")))
	}
	w.WriteHeader(http.StatusAccepted)
}

// answer answers a request.
func (h *HTTP) answer(w http.ResponseWriter, r *http.Request, e *backend.Request, agent *httpAgent, v *router.View) {
	session := agent
	if agent.list != &h.sessions {
		session = nil
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if session != nil && !session.begin(string(e.ID), cancel) { // IDs of other clients are not unique; they end their requests by hanging up
		fail(w, e.ID, http.StatusOK, rpc.Error{Code: rpc.CodeInvalid, Message: "a request with this id is already in flight"})
		return
	}
	x := &exchange{w: w, e: e, session: session}
	e.Client = x
	defer func() { x.tell(r.Context().Err() == nil) }() // the client still reads, or does not
	var reply backend.Reply
	err := recovery.Call("request", func() error { reply = h.serve(ctx, agent.Agent, r.Header, e, v); return nil })
	switch {
	case err != nil:
		reply = backend.Failed(rpc.CodeInternal, err.Error())
	case ctx.Err() != nil: // a response there must be
		reply = backend.Failed(rpc.CodeInternal, "the request was cancelled")
	}
	if e.Method == initializeMethod {
		if reply.Error != nil {
			h.drop(agent)
		} else { // which the client may use as soon as it reads of it
			w.Header().Set(sessionHeader, agent.key.session)
		}
	}
	if session != nil {
		session.over(string(e.ID)) // before the client can use the ID again
	}
	x.reply(reply)
}

// serve has the view answer, if the headers say what the request says.
func (h *HTTP) serve(ctx context.Context, a *router.Agent, header http.Header, e *backend.Request, v *router.View) backend.Reply {
	if e.Stateless && e.Kind == backend.Tool {
		schema := v.Schema(e.Key)
		t := mcp.NewToolWithRawSchema(e.Key, "", schema)
		if schema != nil && mcp.ValidateParamHeaderAnnotations(&t) == nil { // else it says nothing of headers
			if err := mcp.ValidateParamHeadersLookup(lookup(header), &t, e.Message.Params); err != nil {
				return backend.Failed(mcp.HEADER_MISMATCH, err.Error())
			}
		}
	}
	return v.Route(a, e)(ctx)
}

// listen carries what belongs to no request of a session, or what the client has missed of a
// stream.
func (h *HTTP) listen(w http.ResponseWriter, r *http.Request) {
	agent, found := h.enter(r, &backend.Request{}, nil)
	switch {
	case !found:
		http.Error(w, "unknown session", http.StatusNotFound)
		return
	case agent == nil:
		tooBusy(w, nil, "mcpdeck is busy: too many requests are open")
		return
	}
	defer h.leave(agent)
	of, after := &agent.own, agent.own.seen()
	if last := r.Header.Get(eventHeader); last != "" {
		id, err := strconv.ParseUint(last, 10, 64)
		if of, after = agent.events.find(id), id; err != nil || of == nil {
			http.Error(w, "unknown Last-Event-ID", http.StatusBadRequest)
			return
		}
	}
	beginEvents(w)
	_ = http.NewResponseController(w).Flush() // the client may be gone
	out := bodyOf(w, func() {})
	select {
	case <-of.attach(out, after):
	case <-agent.gone:
	case <-r.Context().Done():
	}
	of.leave(out)
	_ = out.Close() // as above
}

// delete ends a session.
func (h *HTTP) delete(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	agent := h.agents[sessionOf(r)]
	h.mu.Unlock()
	if agent == nil {
		http.Error(w, "unknown session", http.StatusNotFound)
		return
	}
	h.drop(agent)
	w.WriteHeader(http.StatusOK)
}

// modern reports whether a version of the protocol is one without handshake.
func modern(version string) bool { return version >= backend.Newest }

// known reports whether a request states no version of the protocol in its header, or one that
// there is.
func known(header http.Header) bool {
	version := header.Get(versionHeader)
	return version == "" || slices.Contains(backend.Versions(), version)
}

func unknownVersion(w http.ResponseWriter, header http.Header) {
	http.Error(w, "Unsupported protocol version: "+header.Get(versionHeader), http.StatusBadRequest)
}

// misfit says what is wrong with the headers of a message that belongs to no handshake.
func misfit(header http.Header, e *backend.Request) *rpc.Error {
	mismatch := func(text string) *rpc.Error { return &rpc.Error{Code: mcp.HEADER_MISMATCH, Message: text} }
	version := header.Get(versionHeader)
	switch {
	case e.Method == "":
		return &rpc.Error{Code: rpc.CodeInvalid, Message: "this version of the protocol has no answers of clients"}
	case header.Get(eventHeader) != "":
		return mismatch(eventHeader + " belongs to an earlier version of the protocol: send the request again with a new id")
	case version == "":
		return mismatch(versionHeader + " header is required for requests carrying " + versionKey)
	case e.Version == "":
		return &rpc.Error{Code: rpc.CodeParams, Message: "missing or invalid _meta field " + versionKey}
	case version != e.Version:
		return mismatch(fmt.Sprintf("%s header %s does not match request %s %s", versionHeader, version, versionKey, e.Version))
	case e.ID == nil:
		return nil
	}
	if err := mcp.ValidateStandardHeaders(header.Get, e.Version, mcp.MCPMethod(e.Method), e.Message.Params); err != nil {
		return mismatch(err.Error())
	}
	return nil
}

// lookup finds the first value of a header, and reports whether it was sent.
func lookup(header http.Header) func(name string) (string, bool) {
	return func(name string) (string, bool) {
		values := header.Values(name)
		return strings.Join(values[:min(len(values), 1)], ""), len(values) > 0
	}
}

// statusOf returns the status for a reply.
func statusOf(e *backend.Request, r backend.Reply) int {
	if r.Error == nil || !e.Stateless {
		return http.StatusOK
	}
	switch rpc.ReadError(r.Error).Code {
	case rpc.CodeMethod:
		return http.StatusNotFound
	case rpc.CodeInvalid, rpc.CodeParams, rpc.CodeParse, mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, mcp.HEADER_MISMATCH, mcp.UNSUPPORTED_PROTOCOL_VERSION:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// fail answers with an error.
func fail(w http.ResponseWriter, id json.RawMessage, status int, e rpc.Error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(rpc.Failure(id, e)) // the client may be gone
}

// tooBusy refuses a request with a retryable error.
func tooBusy(w http.ResponseWriter, id json.RawMessage, why string) {
	w.Header().Set("Retry-After", "5")
	fail(w, id, http.StatusServiceUnavailable, rpc.Error{Code: rpc.CodeBusy, Message: why})
}

func (h *HTTP) view(u *url.URL) (*router.View, error) {
	name := strings.Trim(strings.TrimPrefix(u.Path, "/mcp"), "/")
	var spec router.ViewSpec
	if name != "" {
		spec.Servers = []string{name}
	}
	if u.RawQuery != "" {
		q := u.Query()
		spec.Passthrough, spec.Profile = q.Has("as-is"), q.Get("profile")
	}
	return h.Host.View(spec)
}

// fitting returns the view for a request: that of its session, or else of the profile that
// fits a client which names none.
func (h *HTTP) fitting(r *http.Request, e *backend.Request, v *router.View) *router.View {
	if key := sessionOf(r); key.session != "" && !e.Stateless && e.Method != initializeMethod {
		h.mu.Lock()
		defer h.mu.Unlock()
		if a := h.agents[key]; a != nil && a.view.Narrows(v) {
			return a.view
		}
		return v
	}
	client := clientOf(e)
	if client.Name == "" {
		return v
	}
	return v.For(snapshot.Caller{Transport: "http", Client: client.Name, ClientVersion: client.Version})
}

// implementation is who a client says it is.
type implementation struct{ Name, Version string }

// clientOf is the client as a handshake, or a request that belongs to none, says.
func clientOf(e *backend.Request) implementation {
	said := e.Meta.Get(clientKey)
	if said == nil && e.Method == initializeMethod {
		said = e.Params.Get("clientInfo")
	}
	o, _ := rawjson.SplitObject(said) // something else says nothing
	return implementation{o.Str("name"), o.Str("version")}
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
