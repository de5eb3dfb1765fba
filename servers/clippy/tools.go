package clippy

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/admission"
	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/host"
)

var _ host.Module = (*Server)(nil)

// Identity implements host.Module.
func (s *Server) Identity() host.Identity {
	return host.Identity{Name: "clippy", Title: "Clippy", ServerName: "clippy"}
}

// Start implements host.Module.
func (s *Server) Start(_ context.Context, scope host.Scope) error {
	scope.SetState(deck.State{Status: deck.Ready})
	s.begin(hooks{
		changed: scope.Changed,
		trouble: func(text string) {
			if text == "" {
				scope.SetState(deck.State{Status: deck.Ready})
				return
			}
			scope.SetState(deck.State{Status: deck.Degraded, Reason: text + ". Repair it from the palette or fix " + s.MemoryPath()})
		},
	})
	return nil
}

// Stop implements host.Module.
func (s *Server) Stop(context.Context) error {
	s.end()
	return nil
}

// Offer implements host.Module.
func (s *Server) Offer() host.Offer {
	s.mu.Lock()
	names := s.offered()
	s.mu.Unlock()
	var tools []host.Tool
	for _, d := range definitions() {
		t := host.Tool{Tool: d.tool(), Handler: s.handle, Work: admission.Small, Redact: d.redact}
		if !slices.Contains(names, d.name) {
			t.Off = d.name + " is switched off in the deck; the person can switch it on in its settings"
		}
		tools = append(tools, t)
	}
	return host.Offer{Tools: tools}
}

func (s *Server) handle(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	c := host.CallerFrom(ctx)
	a, err := s.call(ctx, req.Params.Name, req.Params.Arguments, who{name: c.Name(), id: c.Agent, root: c.Root, refused: c.Refused})
	if err != nil {
		return mcp.NewToolResultError("Error: " + sentence(err)), nil
	}
	result := mcp.NewToolResultStructured(a.data, a.text)
	if a.more != "" {
		result.Content = append(result.Content, mcp.NewTextContent(a.more))
	}
	return result, nil
}

func (d definition) tool() mcp.Tool {
	t := mcp.NewToolWithRawSchema(d.name, d.text, json.RawMessage(d.schema))
	t.Title = d.title
	t.Annotations = mcp.ToolAnnotation{
		Title: d.title, ReadOnlyHint: &d.readOnly, DestructiveHint: &d.destructive,
		IdempotentHint: &d.idempotent, OpenWorldHint: new(bool),
	}
	return t
}
