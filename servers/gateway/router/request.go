package router

import (
	"context"
	"encoding/json"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/calllog"
	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// request is one in flight. It is the client that its server sees, and the server's deck.
type request struct {
	agent  *Agent
	raw    *backend.Request
	client backend.Client // as the transport reaches it

	// These are set before the request is served.
	call *calllog.Record // nil: it calls no tool
	slot *admission.Slot // among the deck's work
}

// newRequest is one that a client has sent. What a server says to the client about it comes past
// here.
func newRequest(a *Agent, r *backend.Request) *request {
	q := &request{agent: a, raw: r, client: r.Client}
	r.Client = q
	if r.Stateless() {
		r.Capabilities = r.Meta.Get(capabilitiesKey)
		return q
	}
	a.mu.Lock()
	r.Capabilities, r.Version = a.greeting.Capabilities, a.greeting.Version
	a.mu.Unlock()
	return q
}

// Notify implements [backend.Client]. A log message that the agent does not want is none that
// goes out.
func (q *request) Notify(method string, params json.RawMessage) {
	switch method {
	case progressMessage:
		q.progress(params)
	case logMessage:
		p, _ := rawjson.SplitObject(params) // something else has no level
		if !reaches(p.Str("level"), q.level()) {
			return
		}
	}
	q.client.Notify(method, compactJSON(backend.Reply{Result: params}).Result)
}

// Ask implements [backend.Client].
func (q *request) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if q.raw.Stateless() {
		return nil, backend.ErrCannotAsk
	}
	return q.client.Ask(ctx, method, compactJSON(backend.Reply{Result: params}).Result)
}

// level is the least level of log messages that the request's agent wants.
func (q *request) level() string {
	if q.raw.Stateless() {
		return q.raw.Meta.Str(logLevelKey)
	}
	q.agent.mu.Lock()
	defer q.agent.mu.Unlock()
	return q.agent.level
}

// progress shows how far the call of the request is.
func (q *request) progress(params json.RawMessage) {
	var p struct{ Progress, Total float64 }
	_ = json.Unmarshal(params, &p) // what is no number is not shown
	if q.call != nil && p.Total > 0 {
		q.call.Progress(p.Progress, p.Total)
	}
}

// WaitForUser implements [backend.Deck].
func (q *request) WaitForUser() (done func()) {
	if q.call == nil {
		return func() {}
	}
	return q.call.Wait()
}

// Yield implements [backend.Deck].
func (q *request) Yield() (back func(context.Context) error) { return q.slot.Yield() }

// Need implements [backend.Deck].
func (q *request) Need(ctx context.Context, bytes int64) error { return q.slot.Grow(ctx, bytes) }

// OnDelivery implements [backend.Deck].
func (q *request) OnDelivery(told func(reached bool)) bool {
	c, ok := q.client.(interface{ OnDelivery(told func(reached bool)) })
	if ok {
		c.OnDelivery(told)
	}
	return ok
}
