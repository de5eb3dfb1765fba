package inproc

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// session is what mcp-go sees of the client of one request. It embeds the zero value of
// mcp-go's own, which may ask clients of any era.
type session struct {
	server.InProcessSession
	id  string
	r   *backend.Request
	ctx context.Context //nolint:containedctx // that of the request, which the session is for

	begin   sync.Once
	said    chan mcp.JSONRPCNotification
	room    chan struct{} // gets one when there is more of it
	over    chan struct{} // closed when the answer is there
	drained chan struct{} // closed when all that was said before has gone out
}

// maxUnsaid is how much of what a handler says waits; mcp-go drops more.
const maxUnsaid = 64

// session makes that of a request.
func (s *Server) session(ctx context.Context, r *backend.Request) *session {
	c := &session{id: "request-" + strconv.FormatUint(s.served.Add(1), 10), r: r, ctx: ctx}
	var can mcp.ClientCapabilities
	_ = json.Unmarshal(r.Capabilities, &can) // what cannot be read is not declared
	c.SetClientCapabilities(can)
	return c
}

// SessionID implements [server.ClientSession].
func (s *session) SessionID() string { return s.id }

// Initialized implements [server.ClientSession].
func (s *session) Initialized() bool { return true }

// ProtocolVersion implements [server.SessionWithProtocolVersion].
func (s *session) ProtocolVersion() string { return s.r.Version }

// GetLogLevel implements [server.SessionWithLogging]: the router knows what the client wants.
func (s *session) GetLogLevel() mcp.LoggingLevel { return mcp.LoggingLevelDebug }

// NotificationChannel implements [server.ClientSession]. mcp-go gets it for each notification,
// and here waits for room. Most requests need none.
func (s *session) NotificationChannel() chan<- mcp.JSONRPCNotification {
	s.begin.Do(func() {
		s.said, s.room = make(chan mcp.JSONRPCNotification, maxUnsaid), make(chan struct{}, 1)
		s.over, s.drained = make(chan struct{}), make(chan struct{})
		recovery.Go("notifications of a request", s.pass)
	})
	for len(s.said) > maxUnsaid/2 {
		select {
		case <-s.room:
		case <-s.drained:
			return s.said
		case <-s.ctx.Done():
			return s.said
		}
	}
	s.more()
	return s.said
}

// more wakes one that waits for room.
func (s *session) more() {
	select {
	case s.room <- struct{}{}:
	default:
	}
}

// pass sends the client what the handler says, until the answer is there.
func (s *session) pass() {
	defer close(s.drained)
	for {
		select {
		case n := <-s.said:
			s.more()
			s.notify(n)
		case <-s.over:
			for len(s.said) > 0 {
				s.notify(<-s.said)
			}
			return
		}
	}
}

func (s *session) notify(n mcp.JSONRPCNotification) {
	if params, err := rpc.Raw(n.Params); err == nil {
		s.r.Client.Notify(n.Method, params)
	}
}

// drain returns when all that was said has gone out. What is said later is lost.
func (s *session) drain() {
	s.begin.Do(func() {}) // a channel that is made now would have no reader
	if s.said != nil {
		close(s.over)
		<-s.drained
	}
}

// RequestElicitation implements [server.SessionWithElicitation].
func (s *session) RequestElicitation(ctx context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	return asked[mcp.ElicitationResult](ctx, s, s.GetClientCapabilities().Elicitation != nil, mcp.MethodElicitationCreate, r.Params)
}

// RequestSampling implements [server.SessionWithSampling].
func (s *session) RequestSampling(ctx context.Context, r mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	return asked[mcp.CreateMessageResult](ctx, s, s.GetClientCapabilities().Sampling != nil, mcp.MethodSamplingCreateMessage, r.CreateMessageParams)
}

// ListRoots implements [server.SessionWithRoots].
func (s *session) ListRoots(ctx context.Context, _ mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	return asked[mcp.ListRootsResult](ctx, s, s.GetClientCapabilities().Roots != nil, mcp.MethodListRoots, nil)
}

// asked asks the client, for a result of mcp-go's types, unless it has not declared that it
// answers such requests. mcp-go calls it on goroutines of its own.
func asked[R any](ctx context.Context, s *session, declared bool, method mcp.MCPMethod, params any) (*R, error) {
	if !declared {
		return nil, fmt.Errorf("%s: %w", method, backend.ErrCannotAsk)
	}
	result := new(R)
	return result, recovery.Call(string(method), func() error {
		var raw json.RawMessage
		if params != nil {
			var err error
			if raw, err = rpc.Raw(params); err != nil {
				return fmt.Errorf("encode %s: %w", method, err)
			}
		}
		answer, err := s.r.Client.Ask(ctx, string(method), raw)
		if err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		return json.Unmarshal(answer, result)
	})
}

// maxUnheard is how many notifications that belong to no request wait; mcp-go drops more.
const maxUnheard = 256

// listener is what mcp-go sees of the deck, which is told what belongs to no request.
type listener struct {
	server.InProcessSession
	said chan mcp.JSONRPCNotification
}

// SessionID implements [server.ClientSession].
func (l *listener) SessionID() string { return "deck" }

// Initialized implements [server.ClientSession].
func (l *listener) Initialized() bool { return true }

// NotificationChannel implements [server.ClientSession].
func (l *listener) NotificationChannel() chan<- mcp.JSONRPCNotification { return l.said }
