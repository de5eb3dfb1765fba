package host

import (
	"context"
	"errors"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/admission"
	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/calls"
	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/rpc"
	"github.com/mcpdeck/mcpdeck/servers/safe"
)

// request is what the host knows of a request in flight.
type request struct {
	agent  *Agent
	server *server.MCPServer // of its view; nil: the context's
	raw    *backend.Request  // that a router serves; nil: none
	// address is the resource's as the client wrote it, where it was read under another.
	address string

	mu      sync.Mutex                          // guards what follows
	call    *calls.Record                       // nil until a tool's handler runs
	place   *admission.Place                    // among the deck's work; nil: none
	refusal string                              // of Failure
	failure *rpc.Error                          // of Failure
	serve   func(context.Context) backend.Reply // of Instead
	reply   *backend.Reply                      // of Served
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

// recorded wraps a tool's handler.
func (h *Host) recorded(m *hosted, t Tool) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		q := requestFrom(ctx)
		if q == nil {
			return t.Handler(ctx, req)
		}
		c := calls.Request{Server: m.id.Name, Tool: req.Params.Name, Args: req.Params.RawArguments, Redact: t.Redact}
		return record(ctx, q, m, c, t.Work, typed, func(ctx context.Context) (*mcp.CallToolResult, error) { return t.Handler(ctx, req) })
	}
}

// record runs a call of a tool: it is shown and logged, waits for its turn, a panic
// becomes an error for the agent, and a host that is closing takes no more.
func record[T any](ctx context.Context, q *request, m *hosted, c calls.Request, work admission.Class, f shape[T], handle func(context.Context) (T, error)) (result T, err error) {
	h := q.agent.host
	if h.Closing() {
		return f.refusal("Error: mcpdeck is shutting down; try again in a moment"), nil
	}
	r := h.calls.Begin(&q.agent.figures, q.agent.Caller(), c)
	q.mu.Lock()
	q.call = r
	q.mu.Unlock()
	during, done := m.during(ctx)
	defer done()
	place, err := h.admit(during, q, work)
	if err == nil {
		err = safe.Call(c.Tool, func() (err error) {
			defer place.Leave()
			result, err = handle(during)
			return err
		})
	}
	if text := left(during); text != "" && ctx.Err() == nil {
		if status, _ := f.status(result); err != nil || status != deck.OK {
			result, err = f.refusal(text), nil
		}
	}
	var chosen *rpc.Error
	if err != nil && !errors.As(err, &chosen) && ctx.Err() == nil {
		result, err = f.refusal("Error: "+err.Error()), nil
	}
	switch {
	case ctx.Err() != nil:
		r.End(deck.Cancelled, nil, "cancelled by the agent")
	case err != nil:
		r.End(deck.Refused, nil, err.Error())
	default:
		status, why := f.status(result)
		r.End(status, f.logged(result), why)
	}
	return result, err
}
