package host

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/admission"
	"github.com/mcpdeck/mcpdeck/servers/calls"
	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/safe"
)

// request is what the host knows of a request in flight.
type request struct {
	agent *Agent
	// address is the resource's as the client wrote it, where it was read under another.
	address string

	mu       sync.Mutex       // guards what follows
	call     *calls.Record    // nil until a tool's handler runs
	place    *admission.Place // among the deck's work; nil: none
	notified bool
	refusal  string // of Failure
	failure  *Error // of Failure
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

// Notify sends a notification about the request of ctx to its client. It is
// never behind the request's result.
func Notify(ctx context.Context, method string, params map[string]any) error {
	if q := requestFrom(ctx); q != nil {
		q.mu.Lock()
		q.notified = true
		q.mu.Unlock()
	}
	s := server.ServerFromContext(ctx)
	if s == nil {
		return nil
	}
	if err := s.SendNotificationToClient(ctx, method, params); err != nil {
		return fmt.Errorf("notify the client: %w", err)
	}
	return nil
}

// flush waits until the notifications of a request over HTTP are on their way.
// mcp-go loses one that is sent immediately before the handler returns; our own
// byte streams do not need this.
func (q *request) flush(ctx context.Context, req mcp.CallToolRequest) {
	const pause = 3 * time.Millisecond
	q.mu.Lock()
	sent := q.notified || req.Params.Meta != nil && req.Params.Meta.ProgressToken != nil
	q.mu.Unlock()
	session := server.ClientSessionFromContext(ctx)
	if !sent || session == nil || q.agent.Caller().Transport != "http" {
		return
	}
	for end := time.Now().Add(time.Second); len(session.NotificationChannel()) > 0 && time.Now().Before(end); {
		time.Sleep(pause)
	}
	time.Sleep(pause)
}

// recorded wraps a tool's handler: the call is shown and logged, waits for its turn,
// a panic becomes an error for the agent, and a host that is closing takes no more.
func (h *Host) recorded(module string, t Tool) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (result *mcp.CallToolResult, err error) {
		q := requestFrom(ctx)
		if q == nil {
			return t.Handler(ctx, req)
		}
		if h.Closing() {
			return mcp.NewToolResultError("Error: the deck is shutting down; try again in a moment"), nil
		}
		r := q.agent.begin(module, &req, t.Redact)
		q.mu.Lock()
		q.call = r
		q.mu.Unlock()
		place, err := h.admit(ctx, q, t.Work)
		if err == nil {
			err = safe.Call(req.Params.Name, func() (err error) {
				defer place.Leave()
				result, err = t.Handler(ctx, req)
				return err
			})
		}
		var chosen *Error
		if err != nil && !errors.As(err, &chosen) && ctx.Err() == nil {
			result, err = mcp.NewToolResultError("Error: "+err.Error()), nil
		}
		q.flush(ctx, req)
		switch {
		case ctx.Err() != nil:
			r.End(deck.Cancelled, nil, "cancelled by the agent")
		case err != nil:
			r.End(deck.Refused, nil, err.Error())
		case result != nil && result.IsError:
			r.End(deck.ToolError, resultOf(result), "")
		default:
			r.End(deck.OK, resultOf(result), "")
		}
		return result, err
	}
}
