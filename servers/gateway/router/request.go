package router

import (
	"context"
	"sync"

	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/calllog"
	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// request is what the host knows of a request in flight.
type request struct {
	agent  *Agent
	server *server.MCPServer // of its view; nil: the context's
	raw    *backend.Request  // that a router serves; nil: none

	mu    sync.Mutex                          // guards what follows
	call  *calllog.Record                     // nil until a tool's handler runs
	place *admission.Place                    // among the deck's work; nil: none
	serve func(context.Context) backend.Reply // of Instead
	reply *backend.Reply                      // of Served
}

type requestKey struct{}

func requestFrom(ctx context.Context) *request {
	q, _ := ctx.Value(requestKey{}).(*request)
	return q
}

// WaitForUser marks the call of ctx as waiting for the user until the
// returned function is called.
func WaitForUser(ctx context.Context) (done func()) {
	q := requestFrom(ctx)
	if q == nil {
		return func() {}
	}
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
	during, done := to.module.during(ctx)
	defer done()
	place, err := h.admit(during, q, to.work)
	if err == nil {
		err = recovery.Call(c.Tool, func() (err error) {
			defer place.Leave()
			reply = to.router.Serve(during, r)
			return nil
		})
	}
	if text := left(during); text != "" && ctx.Err() == nil {
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
