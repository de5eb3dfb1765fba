package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
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
	code     int // of the error, if the handler chose one
	data     any
	message  string // of the error, if it is ours
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

// FailWith makes the error that the handler of ctx is about to return a
// protocol error with this JSON-RPC code and data. Without it a tool's error
// becomes a result that the model can read, a prompt's or resource's an internal
// error.
func FailWith(ctx context.Context, code int, data ...any) {
	if q := requestFrom(ctx); q != nil {
		q.mu.Lock()
		q.code = code
		if len(data) > 0 {
			q.data = data[0]
		}
		q.mu.Unlock()
	}
}

// Failure is the code and data that FailWith set, else those given.
func Failure(ctx context.Context, code int, data any) (int, any) {
	q := requestFrom(ctx)
	if q == nil {
		return code, data
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.code != 0 {
		return q.code, q.data
	}
	return code, data
}

// FailureMessage is our own sentence for the error that the request of ctx ends
// with, else the one given.
func FailureMessage(ctx context.Context, message string) string {
	if q := requestFrom(ctx); q != nil {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.message != "" {
			return q.message
		}
	}
	return message
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

// RecordRefusal is Refusal for a transport that answers the call itself: the
// call is recorded as one that failed.
func (v *View) RecordRefusal(ctx context.Context, tool string) string {
	if tool == "" {
		return ""
	}
	text, module := v.refusal(tool)
	if q := requestFrom(ctx); text != "" && q != nil {
		r := q.agent.begin(module, tool, nil)
		r.End(deck.ToolError, resultOf(mcp.NewToolResultError(text)), "")
	}
	return text
}

// recorded wraps a tool's handler: the call is shown and logged, waits for its turn,
// a panic becomes an error for the agent, and a host that is closing takes no more.
func (h *Host) recorded(module string, class admission.Class, next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (result *mcp.CallToolResult, err error) {
		q := requestFrom(ctx)
		if q == nil {
			return next(ctx, req)
		}
		if h.Closing() {
			return mcp.NewToolResultError("Error: the deck is shutting down; try again in a moment"), nil
		}
		r := q.agent.begin(module, req.Params.Name, req.Params.RawArguments)
		q.mu.Lock()
		q.call = r
		q.mu.Unlock()
		place, err := h.admit(ctx, q, class)
		if err == nil {
			err = safe.Call(req.Params.Name, func() (err error) {
				defer place.Leave()
				result, err = next(ctx, req)
				return err
			})
		}
		if code, _ := Failure(ctx, 0, nil); err != nil && code == 0 && ctx.Err() == nil {
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

// refused records a tool call that ended before any handler ran.
func (v *View) refused(ctx context.Context, _ any, method mcp.MCPMethod, message any, err error) {
	q := requestFrom(ctx)
	req, ok := message.(*mcp.CallToolRequest)
	if method != mcp.MethodToolsCall || q == nil || !ok {
		return
	}
	q.mu.Lock()
	done := q.call != nil
	q.mu.Unlock()
	if done {
		return
	}
	text, module := v.refusal(req.Params.Name)
	r := q.agent.begin(module, req.Params.Name, req.Params.RawArguments)
	if text != "" {
		r.End(deck.ToolError, resultOf(mcp.NewToolResultError(text)), "")
		return
	}
	why := strings.TrimPrefix(err.Error(), "request error: ")
	if errors.Is(err, server.ErrToolNotFound) {
		why = v.unknown(req.Params.Name)
		q.mu.Lock()
		q.message = why
		q.mu.Unlock()
	}
	r.End(deck.Refused, nil, why)
}
