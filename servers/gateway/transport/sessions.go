package transport

import (
	"container/list"
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"sync"
	"time"

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
	*router.Agent      // closed while it is asleep
	asleep        bool // its session is kept, but it is not connected
	key           agentKey
	view          *router.View  // that its session began with
	list          *list.List    // the list it is on, ordered by last use
	at            *list.Element // in list; nil: it has ended
	open          int           // requests under way
	last          time.Time

	asked  rpc.Pending // by the deck
	events events
	own    stream        // of what belongs to no request
	gone   chan struct{} // closed when it has ended

	inFlight sync.Mutex
	flight   map[string]context.CancelFunc // requests of the session, by their ids
}

// agentKey is a session's ID or, of requests without a session, who the client is.
type agentKey struct {
	session         string
	none            bool // there is no session
	client, version string
}

// sessionOf is the key of the session of a request.
func sessionOf(r *http.Request) agentKey { return agentKey{session: r.Header.Get(sessionHeader)} }

// begin notes how a request of the session is cancelled, until it is over; false if there is one
// with its id.
func (a *httpAgent) begin(id string, cancel context.CancelFunc) bool {
	a.inFlight.Lock()
	defer a.inFlight.Unlock()
	if a.flight[id] != nil {
		return false
	}
	if a.flight == nil {
		a.flight = map[string]context.CancelFunc{}
	}
	a.flight[id] = cancel
	return true
}

// over forgets a request.
func (a *httpAgent) over(id string) {
	a.inFlight.Lock()
	delete(a.flight, id)
	a.inFlight.Unlock()
}

// cancel ends a request of the session.
func (a *httpAgent) cancel(id string) {
	a.inFlight.Lock()
	cancel := a.flight[id]
	a.inFlight.Unlock()
	if cancel != nil {
		cancel()
	}
}

// enter finds or creates the agent of a request. It reports whether there is its session, and
// returns nil if there is no room for another agent, or if the agent has too many requests in
// flight.
func (h *HTTP) enter(r *http.Request, e *backend.Request, v *router.View) (a *httpAgent, found bool) {
	client := clientOf(e)
	key, kept := agentKey{none: true, client: client.Name, version: client.Version}, &h.clients
	begins := e.Method == initializeMethod && !e.Stateless
	switch {
	case begins:
		key, kept = agentKey{session: rand.Text()}, &h.sessions
	case !e.Stateless:
		key = sessionOf(r)
	}
	h.mu.Lock()
	a = h.agents[key]
	if a == nil && !begins && !e.Stateless {
		h.mu.Unlock()
		return nil, false
	}
	if a != nil && a.open >= maxInFlight {
		h.mu.Unlock()
		return nil, true
	}
	var out *httpAgent
	if a == nil {
		var room bool
		if out, room = h.room(kept); !room {
			h.mu.Unlock()
			return nil, true
		}
		a = h.connect(key, kept, v)
	}
	if a.asleep {
		a.Agent, a.asleep = a.Resume(), false
	}
	a.open++
	h.used(a)
	h.mu.Unlock()
	h.end(out)
	a.Claim(client.Name, client.Version, r.Header.Get(versionHeader))
	return a, true
}

// connect makes an agent. The caller holds mu.
func (h *HTTP) connect(key agentKey, kept *list.List, v *router.View) *httpAgent {
	a := &httpAgent{
		Agent: h.Host.Connect(snapshot.Caller{Transport: "http"}, v.Spec.Servers), key: key, view: v, list: kept,
		asked: rpc.Pending{Prefix: "deck-"}, gone: make(chan struct{}),
	}
	a.own.of = &a.events
	if kept == &h.sessions {
		a.Attach(v, func(method string, params json.RawMessage) {
			a.own.send(rpc.Message{Method: method, Params: params}.Encode(), false)
		})
	}
	a.at = kept.PushBack(a)
	if h.agents == nil {
		h.agents = map[agentKey]*httpAgent{}
	}
	h.agents[key] = a
	return a
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
			h.remove(a)
			return a, true
		}
	}
	return nil, false
}

// remove takes an agent off the lists. The caller holds mu, and ends the agent.
func (h *HTTP) remove(a *httpAgent) {
	if a.at == nil {
		return
	}
	a.list.Remove(a.at)
	a.at = nil
	delete(h.agents, a.key)
	close(a.gone)
}

// end closes an agent that was removed. It may be nil.
func (h *HTTP) end(a *httpAgent) {
	if a == nil {
		return
	}
	h.mu.Lock()
	asleep := a.asleep
	a.asleep = false
	h.mu.Unlock()
	if !asleep {
		a.Close()
	}
}

// drop ends an agent.
func (h *HTTP) drop(a *httpAgent) {
	h.mu.Lock()
	h.remove(a)
	h.mu.Unlock()
	h.end(a)
}

func (h *HTTP) leave(a *httpAgent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	a.open--
	h.used(a)
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
				h.remove(out)
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
