package wire

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers"
	"github.com/mcpdeck/mcpdeck/servers/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/safe"
)

const (
	httpIdle = time.Hour       // a session unused for so long is forgotten
	agentTTL = 2 * time.Minute // a client without a session is shown for so long after its last request
)

// HTTP serves views as streamable HTTP: all servers at /mcp, one at
// /mcp/SERVER. It must stand behind a Guard.
type HTTP struct {
	Host *servers.Host

	mu     sync.Mutex // guards what follows
	served map[string]*httpView
	agents map[string]*httpAgent
}

type httpView struct {
	view *servers.View
	mcp  *server.StreamableHTTPServer
}

// httpAgent is a client as far as HTTP shows one: a session, or requests that
// name the same client.
type httpAgent struct {
	*servers.Agent
	session bool
	open    int // requests under way
	last    time.Time
}

// ServeHTTP implements http.Handler.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v, err := h.view(r.URL.Path)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	e, ok := checked(w, r)
	if !ok {
		return
	}
	agent := h.enter(r, e, v.view)
	defer h.leave(agent)
	ctx := agent.Context(r.Context())
	if text := v.view.RecordRefusal(ctx, toolOf(e)); text != "" {
		w.Header().Set("Content-Type", "application/json")
		if line, err := resultLine(e.id, refusalResult(text)); err == nil {
			_, _ = w.Write(line) // the client may be gone
		}
		return
	}
	out := &answerWriter{ResponseWriter: w, ctx: ctx, e: e, raw: v.view.Raw()}
	v.mcp.ServeHTTP(out, r.WithContext(ctx))
	out.begin(out.status)
	h.settle(w, r, e, agent)
}

// toolOf returns the name of the tool that a request calls, "" if it calls none.
func toolOf(e envelope) string {
	if e.method != string(mcp.MethodToolsCall) {
		return ""
	}
	params, err := rawjson.SplitObject(e.params)
	if err != nil {
		return ""
	}
	return params.Str("name")
}

func (h *HTTP) view(path string) (*httpView, error) {
	name := strings.Trim(strings.TrimPrefix(path, "/mcp"), "/")
	h.mu.Lock()
	defer h.mu.Unlock()
	if v := h.served[name]; v != nil {
		return v, nil
	}
	var spec servers.ViewSpec
	if name != "" {
		spec.Servers = []string{name}
	}
	view, err := h.Host.View(spec)
	if err != nil {
		return nil, err
	}
	if h.served == nil {
		h.served, h.agents = map[string]*httpView{}, map[string]*httpAgent{}
	}
	v := &httpView{view: view, mcp: server.NewStreamableHTTPServer(view.MCP,
		server.WithStateful(true),
		server.WithSessionIdleTTL(httpIdle),
		server.WithEventStore(newEventStore()),
	)}
	h.served[name] = v
	return v, nil
}

// enter finds or makes the agent behind a request.
func (h *HTTP) enter(r *http.Request, e envelope, view *servers.View) *httpAgent {
	client := clientOf(e)
	session := r.Header.Get(server.HeaderKeySessionID)
	key := "session " + session
	if session == "" {
		key = "client " + client.Name + " " + client.Version
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forget()
	a := h.agents[key]
	if a == nil || e.method == string(mcp.MethodInitialize) {
		a = &httpAgent{session: session != "", Agent: h.Host.Connect(servers.Caller{Transport: "http"}, view.Spec.Servers)}
		if e.method != string(mcp.MethodInitialize) { // else the session's id comes with the answer
			h.agents[key] = a
		}
	}
	a.open++
	a.last = time.Now()
	version := r.Header.Get(mcp.HeaderProtocolVersion)
	a.Claim(client.Name, client.Version, version)
	return a
}

func (h *HTTP) leave(a *httpAgent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	a.open--
	a.last = time.Now()
}

// settle follows what the request did to its session.
func (h *HTTP) settle(w http.ResponseWriter, r *http.Request, e envelope, a *httpAgent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case e.method == string(mcp.MethodInitialize):
		if id := w.Header().Get(server.HeaderKeySessionID); id != "" {
			a.session = true
			h.agents["session "+id] = a
			return
		}
		a.Close()
	case r.Method == http.MethodDelete:
		delete(h.agents, "session "+r.Header.Get(server.HeaderKeySessionID))
		a.Close()
	}
}

// forget drops agents that have not been heard of. The caller holds mu.
func (h *HTTP) forget() {
	for key, a := range h.agents {
		ttl := agentTTL
		if a.session {
			ttl = httpIdle
		}
		if a.open == 0 && time.Since(a.last) > ttl {
			delete(h.agents, key)
			a.Close()
		}
	}
}

// expire forgets agents until ctx ends, also while nobody sends anything.
func (h *HTTP) expire(ctx context.Context) {
	t := time.NewTicker(agentTTL / 4)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			h.mu.Lock()
			h.forget()
			h.mu.Unlock()
		case <-ctx.Done():
			return
		}
	}
}

func clientOf(e envelope) mcp.Implementation {
	var p struct {
		ClientInfo mcp.Implementation `json:"clientInfo"`
		Meta       struct {
			Client mcp.Implementation `json:"io.modelcontextprotocol/clientInfo"`
		} `json:"_meta"`
	}
	if e.method != string(mcp.MethodInitialize) && !modern(e.params) || json.Unmarshal(e.params, &p) != nil {
		return mcp.Implementation{}
	}
	if p.Meta.Client.Name != "" {
		return p.Meta.Client
	}
	return p.ClientInfo
}

// Start serves on l, behind a guard with the token, until ctx ends.
func (h *HTTP) Start(ctx context.Context, l net.Listener, token func() string) error {
	srv := &http.Server{
		Handler:           &Guard{Token: token, Next: h},
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { srv.Close() })
	defer stop()
	served, end := context.WithCancel(ctx)
	defer end()
	safe.Go("http agents", func() { h.expire(served) })
	if err := srv.Serve(l); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}
