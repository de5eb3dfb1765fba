package transport

import (
	"bytes"
	"container/list"
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

const (
	httpIdle   = time.Hour       // how long an unused session is kept
	sessionTTL = 5 * time.Minute // how long it is connected after its last request or stream: few clients say that they end
	agentTTL   = 2 * time.Minute // the same of a client without a session

	maxHTTPAgents = 256 // sessions, and as many clients without one; the least recently used is replaced
)

// httpAgent is an agent connected over HTTP: a session, or all requests that name the
// same client.
type httpAgent struct {
	*router.Agent                    // closed while it is asleep
	asleep        bool               // its session is kept, but it is not connected
	client        mcp.Implementation // as it said in the handshake
	key           string             // key of its session or client; "" before the session has an ID
	view          *httpView
	list          *list.List    // the list it is on, ordered by last use
	at            *list.Element // in list
	open          int           // requests under way
	flight        flight        // requests that are answered without the library
	asked         rpc.Pending   // by the deck
	can           mcp.ClientCapabilities
	last          time.Time
}

// enter finds or creates the agent of a request. It returns nil if there is no room for
// another, or if the agent has too many requests in flight.
func (h *HTTP) enter(r *http.Request, e *backend.Request, v *httpView) *httpAgent {
	client := clientOf(e)
	key, kept := "client "+client.Name+" "+client.Version, &h.clients
	if session := r.Header.Get(server.HeaderKeySessionID); session != "" {
		key, kept = "session "+session, &h.sessions
	}
	begins := e.Method == string(mcp.MethodInitialize)
	h.mu.Lock()
	a := h.agents[key]
	if a != nil && !begins && a.open >= maxInFlight {
		h.mu.Unlock()
		return nil
	}
	var out *httpAgent
	if a == nil || begins {
		if begins {
			key, kept = "", &h.sessions // the response has the session's ID
		}
		var room bool
		if out, room = h.room(kept); !room {
			h.mu.Unlock()
			return nil
		}
		a = &httpAgent{client: client, view: v, asleep: true, asked: rpc.Pending{Prefix: "deck-"}, can: capabilitiesOf(e)}
		h.keep(a, key, kept)
	}
	if a.asleep {
		a.Agent, a.asleep = h.Host.Connect(snapshot.Caller{Transport: "http"}, a.view.view.Spec.Servers), false
		client = a.client
	}
	a.open++
	h.used(a)
	h.mu.Unlock()
	h.end(out)
	a.Claim(client.Name, client.Version, r.Header.Get(mcp.HeaderProtocolVersion))
	return a
}

// keep adds an agent to a list. The caller holds mu.
func (h *HTTP) keep(a *httpAgent, key string, kept *list.List) {
	a.key, a.list, a.at = key, kept, kept.PushBack(a)
	if key != "" {
		h.agents[key] = a
	}
}

// used marks an agent as the most recently used. The caller holds mu.
func (h *HTTP) used(a *httpAgent) {
	a.last = time.Now()
	if a.at != nil {
		a.list.MoveToBack(a.at)
	}
}

// room makes room on a full list by removing the least recently used agent without
// requests in flight. The caller holds mu, and ends the returned agent.
func (h *HTTP) room(kept *list.List) (out *httpAgent, ok bool) {
	if kept.Len() < maxHTTPAgents {
		return nil, true
	}
	for at := kept.Front(); at != nil; at = at.Next() {
		if a, is := at.Value.(*httpAgent); is && a.open == 0 {
			h.drop(a)
			return a, true
		}
	}
	return nil, false
}

// drop removes an agent. The caller holds mu, and ends the agent.
func (h *HTTP) drop(a *httpAgent) {
	if a.at == nil {
		return
	}
	a.list.Remove(a.at)
	a.at = nil
	if h.agents[a.key] == a {
		delete(h.agents, a.key)
	}
}

// end ends an agent that was dropped, and the library's session. The agent may be nil.
func (h *HTTP) end(a *httpAgent) {
	if a == nil {
		return
	}
	if session, ok := cutSession(a.key); ok && a.view.mcp != nil {
		r := &http.Request{Method: http.MethodDelete, URL: &url.URL{Path: "/mcp"}, Header: http.Header{}, Body: http.NoBody, Host: "localhost"}
		r.Header.Set(server.HeaderKeySessionID, session)
		a.view.mcp.ServeHTTP(unread{}, r)
	}
	if !a.asleep {
		a.Close()
	}
}

// unread discards a response.
type unread struct{}

func (unread) Header() http.Header         { return http.Header{} }
func (unread) Write(p []byte) (int, error) { return len(p), nil }
func (unread) WriteHeader(int)             {}

// heldResponse keeps a response until it is sent.
type heldResponse struct {
	http.ResponseWriter
	status int // 0: none yet
	body   bytes.Buffer
}

// WriteHeader implements http.ResponseWriter.
func (h *heldResponse) WriteHeader(status int) { h.status = status }

// Write implements http.ResponseWriter.
func (h *heldResponse) Write(p []byte) (int, error) { return h.body.Write(p) }

func (h *heldResponse) send() {
	if h.status != 0 {
		h.ResponseWriter.WriteHeader(h.status)
	}
	_, _ = h.ResponseWriter.Write(h.body.Bytes()) // the client may be gone
}

func (h *HTTP) leave(a *httpAgent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	a.open--
	h.used(a)
}

// updateSession records that the request opened or ended a session.
func (h *HTTP) updateSession(w http.ResponseWriter, r *http.Request, e *backend.Request, a *httpAgent, status int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case e.Method == string(mcp.MethodInitialize):
		if id := w.Header().Get(server.HeaderKeySessionID); id != "" && a.at != nil {
			a.key = "session " + id
			h.agents[a.key] = a
			return
		}
		h.drop(a)
		a.Close()
	case r.Method == http.MethodDelete, status == http.StatusNotFound && a.list == &h.sessions && a.open == 1:
		// The session has ended, or does not exist.
		h.drop(a)
		a.Close()
	}
}

// forget drops agents that have been idle for too long. Sessions whose client is there no more,
// it seems, fall asleep before that: what runs for them ends, and they are shown no more.
func (h *HTTP) forget() {
	for _, a := range h.rest() {
		a.Close()
	}
	for kept, ttl := range map[*list.List]time.Duration{&h.sessions: httpIdle, &h.clients: agentTTL} {
		for {
			h.mu.Lock()
			out := oldest(kept, ttl)
			if out != nil {
				h.drop(out)
			}
			h.mu.Unlock()
			if out == nil {
				break
			}
			h.end(out)
		}
	}
}

// rest puts sessions to sleep, and returns the connections of their agents.
func (h *HTTP) rest() (out []*router.Agent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for at := h.sessions.Front(); at != nil; at = at.Next() {
		a, ok := at.Value.(*httpAgent)
		if !ok || time.Since(a.last) <= sessionTTL {
			break
		}
		if a.open == 0 && !a.asleep {
			a.asleep = true
			out = append(out, a.Agent)
		}
	}
	return out
}

// oldest returns an agent that has been idle for so long, or nil. The list is ordered,
// so the search ends at the first that was used since.
func oldest(kept *list.List, ttl time.Duration) *httpAgent {
	for at := kept.Front(); at != nil; at = at.Next() {
		a, ok := at.Value.(*httpAgent)
		if !ok || time.Since(a.last) <= ttl {
			return nil
		}
		if a.open == 0 {
			return a
		}
	}
	return nil
}

// expire drops idle agents until ctx is done, so that requests need not do so.
func (h *HTTP) expire(ctx context.Context) {
	t := time.NewTicker(agentTTL / 4)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			h.forget()
		case <-ctx.Done():
			return
		}
	}
}
