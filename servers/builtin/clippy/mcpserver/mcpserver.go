// Package mcpserver makes an MCP server of Clippy.
package mcpserver

import (
	"cmp"
	"context"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/inproc"
	"github.com/mcpdeck/mcpdeck/servers/builtin/clippy"
	"github.com/mcpdeck/mcpdeck/servers/support/arguments"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// New makes the server of a service. Tools that the service has turned off are not there.
func New(s *clippy.Service, version string, opts ...server.ServerOption) *server.MCPServer {
	off := server.WithToolFilter(func(_ context.Context, all []mcp.Tool) []mcp.Tool {
		return slices.DeleteFunc(slices.Clone(all), func(t mcp.Tool) bool { return s.Off(t.Name) != "" })
	})
	srv := server.NewMCPServer("clippy", version, append(opts, server.WithToolCapabilities(true), off)...)
	for _, t := range tools() {
		t.RawInputSchema = t.takes.Schema(arguments.Style{Closed: true})
		t.Annotations.Title, t.Annotations.OpenWorldHint = t.Title, new(bool)
		srv.AddTool(t.Tool, t.handler(s))
	}
	s.OnChange(func() { srv.SendNotificationToAllClients(mcp.MethodNotificationToolsListChanged, nil) })
	return srv
}

// InDeck is the server of a service in the deck.
func InDeck(s *clippy.Service, version string) *inproc.Server {
	policy := map[string]backend.Policy{}
	for _, t := range tools() {
		policy[t.Name] = t.policy
	}
	return inproc.New(inproc.Options{
		Info:   backend.Info{Name: "clippy", Title: "Clippy", ServerName: "clippy"},
		Policy: func(tool string) backend.Policy { return policy[tool] },
		Off:    s.Off,
		Ask:    s.Asks,
		Start: func(_ context.Context, e backend.Events) error {
			s.Begin(func(trouble string) {
				if trouble == "" {
					e.SetState(snapshot.State{Status: snapshot.Ready})
					return
				}
				e.SetState(snapshot.State{Status: snapshot.Degraded, Reason: trouble + ". Repair it from the command palette, or edit " + s.MemoryPath()})
			})
			return nil
		},
		Stop: func(context.Context) error { s.End(); return nil },
	}, func(opts ...server.ServerOption) *server.MCPServer { return New(s, version, opts...) })
}

func (t tool) handler(s *clippy.Service) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		c := backend.CallFrom(ctx).Caller
		by := clippy.Caller{Name: c.Name(), Root: c.Root, Refused: c.Refused}
		in, err := t.takes.Read(req.Params.Arguments, wrong)
		w, bad := t.prepare(s, in, by)
		err = cmp.Or(err, bad)
		a, err := clippy.Do(ctx, s, clippy.Call{Tool: t.Name, By: by, Detail: w.detail, Invalid: err, Rate: t.rate, Writes: w.writes}, w.run)
		if err != nil {
			return mcp.NewToolResultError("Error: " + err.Error()), nil
		}
		result := mcp.NewToolResultStructured(a.data, a.text)
		if a.more != "" {
			result.Content = append(result.Content, mcp.NewTextContent(a.more))
		}
		return result, nil
	}
}
