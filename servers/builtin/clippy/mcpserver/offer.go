// Package mcpserver offers Clippy's tools to agents over MCP.
package mcpserver

import (
	"cmp"
	"context"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/builtin/clippy"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/support/arguments"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Module is the clippy server.
type Module struct{ s *clippy.Service }

// New makes the module of a service.
func New(s *clippy.Service) *Module { return &Module{s: s} }

// Identity implements [router.Module].
func (*Module) Identity() router.Identity {
	return router.Identity{Name: "clippy", Title: "Clippy", ServerName: "clippy"}
}

// Start implements [router.Module].
func (m *Module) Start(_ context.Context, scope router.Scope) error {
	scope.SetState(snapshot.State{Status: snapshot.Ready})
	m.s.Begin(clippy.Hooks{
		Changed: scope.Changed,
		Trouble: func(text string) {
			if text == "" {
				scope.SetState(snapshot.State{Status: snapshot.Ready})
				return
			}
			scope.SetState(snapshot.State{Status: snapshot.Degraded, Reason: text + ". Repair it from the command palette, or edit " + m.s.MemoryPath()})
		},
	})
	return nil
}

// Stop implements [router.Module].
func (m *Module) Stop(context.Context) error {
	m.s.End()
	return nil
}

// Offer implements [router.Module].
func (m *Module) Offer() router.Offer {
	var offered []router.Tool
	for _, t := range tools() {
		o := router.Tool{Tool: t.Tool, Handler: m.handler(t), Work: t.work, Redact: t.redact, Off: m.s.Off(t.Name)}
		o.Tool.RawInputSchema = t.takes.Schema(arguments.Style{Closed: true})
		o.Tool.Annotations.Title, o.Tool.Annotations.OpenWorldHint = o.Tool.Title, new(bool)
		offered = append(offered, o)
	}
	return router.Offer{Tools: offered}
}

func (m *Module) handler(t tool) func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		c := router.CallerFrom(ctx)
		by := clippy.Caller{Name: c.Name(), ID: c.Agent, Root: c.Root, Refused: c.Refused}
		in, err := t.takes.Read(req.Params.Arguments, wrong)
		w, bad := t.prepare(m.s, in, by)
		err = cmp.Or(err, bad)
		a, err := clippy.Do(ctx, m.s, clippy.Call{Tool: t.Name, By: by, Detail: w.detail, Invalid: err, Rate: t.rate, Writes: w.writes}, w.run)
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
