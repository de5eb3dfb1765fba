package router

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/calllog"
	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// request is what the host knows of a request in flight.
type request struct {
	agent  *Agent
	raw    *backend.Request
	client backend.Client // as the transport reaches it

	mu    sync.Mutex      // guards what follows
	call  *calllog.Record // nil until a tool's handler runs
	place *admission.Slot // among the deck's work; nil: none
}

type requestKey struct{}

func requestFrom(ctx context.Context) *request {
	q, _ := ctx.Value(requestKey{}).(*request)
	return q
}

// takes makes this the request that a client has sent. What a server says to the client about it
// comes past here.
func (q *request) takes(r *backend.Request) {
	q.raw, q.client = r, r.Client
	r.Client = q
	if r.Stateless() {
		r.Capabilities = r.Meta.Get(capabilitiesKey)
		return
	}
	q.agent.mu.Lock()
	r.Capabilities, r.Version = q.agent.greeting.Capabilities, q.agent.greeting.Version
	q.agent.mu.Unlock()
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
	q.mu.Lock()
	r := q.call
	q.mu.Unlock()
	if r != nil && p.Total > 0 {
		r.Progress(p.Progress, p.Total)
	}
}

// WaitForUser implements [backend.Deck].
func (q *request) WaitForUser() (done func()) {
	q.mu.Lock()
	r := q.call
	q.mu.Unlock()
	if r == nil {
		return func() {}
	}
	return r.Wait()
}

// record runs a call of a tool: it is shown and logged, waits for its turn, a panic
// becomes an error for the agent, and a host that is closing takes no more.
func record(ctx context.Context, q *request, to route, c calllog.Request, r *backend.Request) (reply backend.Reply, err error) {
	h := q.agent.host
	if h.Closing() {
		return refused("Error: mcpdeck is shutting down; try again in a moment"), nil
	}
	call := h.calls.Begin(&q.agent.figures, q.agent.Caller(), c)
	q.mu.Lock()
	q.call = call
	q.mu.Unlock()
	during, done := to.module.withRemoval(ctx)
	defer done()
	place, err := h.admit(during, q, to.work)
	if err == nil {
		err = recovery.Call(c.Tool, func() (err error) {
			defer place.Leave()
			reply, err = to.answer(during, q, r)
			return err
		})
	}
	if text := removalError(during); text != "" && ctx.Err() == nil {
		if status, _ := statusOf(reply); err != nil || status != snapshot.OK {
			reply, err = refused(text), nil
		}
	}
	if err != nil && ctx.Err() == nil {
		reply, err = refused("Error: "+err.Error()), nil
	}
	switch {
	case ctx.Err() != nil:
		call.End(snapshot.Cancelled, nil, "cancelled by the agent")
	default:
		status, why := statusOf(reply)
		call.End(status, to.logged(reply), why)
	}
	return reply, err
}
