package inproc

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// ServeAlone serves without a deck, over a pair of streams, until in ends or ctx does. A panic
// fails its call.
func (s *Server) ServeAlone(ctx context.Context, in io.Reader, out io.Writer) error {
	server.WithRecovery()(s.server)
	server.WithToolHandlerMiddleware(func(next server.ToolHandlerFunc) server.ToolHandlerFunc {
		return func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if s.o.Ask != nil && s.o.Ask(r.Params.Name) {
				return mcp.NewToolResultError(backend.NobodyAsked(r.Params.Name)), nil
			}
			return next(ctx, r)
		}
	})(s.server)
	if s.o.Start != nil {
		if err := s.o.Start(ctx, logged{}); err != nil {
			return err
		}
	}
	err := server.NewStdioServer(s.server).Listen(ctx, in, out)
	if ctx.Err() != nil {
		err = nil
	}
	if stopped := s.Stop(context.WithoutCancel(ctx)); err == nil {
		err = stopped
	}
	return err
}

// logged is [backend.Events] that go to the log.
type logged struct{}

func (logged) Changed() {}

func (logged) Notify(_, method string, params json.RawMessage) {
	slog.Info("notification", "method", method, "params", string(params))
}

func (logged) SetState(s snapshot.State) { slog.Debug("state", "status", s.Status, "reason", s.Reason) }

func (logged) Warn(text string) { slog.Warn(text) }
