// Package offer offers Pencil's tools to agents over MCP.
package offer

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/admission"
	"github.com/mcpdeck/mcpdeck/servers/card"
	"github.com/mcpdeck/mcpdeck/servers/card/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/card/child"
	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/host"
	"github.com/mcpdeck/mcpdeck/servers/pencil"
	"github.com/mcpdeck/mcpdeck/servers/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/safe"
)

// Module is the pencil server.
type Module struct {
	p *pencil.Pencil

	mu     sync.Mutex
	scope  host.Scope
	state  deck.State
	listed *catalogue.Catalogue // of which tools was made
	tools  []host.Tool
}

// New makes the module of a Pencil.
func New(p *pencil.Pencil) *Module { return &Module{p: p} }

// Identity implements [host.Module].
func (m *Module) Identity() host.Identity {
	return host.Identity{Name: "pencil", Title: "Pencil", ServerName: "pencil"}
}

// Start implements [host.Module]. No program is started unless the user
// configured that.
func (m *Module) Start(_ context.Context, scope host.Scope) error {
	m.mu.Lock()
	m.scope, m.state = scope, deck.State{}
	m.mu.Unlock()
	m.look()
	m.p.Start(card.Events{Listed: scope.Changed, Look: m.look, Warn: scope.Warn})
	return nil
}

// Quit implements [host.Quitter].
func (m *Module) Quit() { m.p.Quit() }

// Stop implements [host.Module].
func (m *Module) Stop(ctx context.Context) error { return m.p.Stop(ctx) }

// look passes the state on.
func (m *Module) look() {
	s := m.p.Status()
	state := deck.State{Status: deck.Off, Reason: s.Error}
	sign := s.Sign()
	switch {
	case s.Mode == card.TurningOn:
		state = deck.State{Status: deck.Starting}
	case s.Mode == card.On && sign.Tone == card.Warning:
		state = deck.State{Status: deck.Degraded, Reason: sign.Note}
	case s.Mode == card.On:
		state = deck.State{Status: deck.Ready, Detail: s.File}
	case s.Broken:
		state.Status = deck.Failed
	case s.Link != card.LinkFailed:
		state.Reason = ""
	}
	m.mu.Lock()
	changed, scope := state != m.state, m.scope
	m.state = state
	m.mu.Unlock()
	if changed {
		scope.SetState(state)
	} else {
		scope.Tell()
	}
}

// Offer implements [host.Module].
func (m *Module) Offer() host.Offer {
	o := host.Offer{
		Stub:   []host.Tool{m.status()},
		Refuse: m.p.Refuse,
	}
	if listed := m.p.Listed(); listed != nil {
		o.Tools = m.toolsOf(listed)
		o.Instructions = listed.Instructions
	}
	switch m.p.GatewayFor() {
	case card.NoClient:
	case card.AllClients:
		o.Gateway = []host.Tool{m.gateway()}
		o.Tools = append(o.Tools[:len(o.Tools):len(o.Tools)], o.Gateway...)
	default:
		o.Gateway = []host.Tool{m.gateway()}
		o.ForGateway = m.p.KeepsList
	}
	return o
}

// toolsOf makes the tools of a catalogue, once, and their definitions as they are
// listed: the library's own types would lose what they do not know.
func (m *Module) toolsOf(c *catalogue.Catalogue) []host.Tool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.listed == c {
		return m.tools
	}
	scratch := server.NewMCPServer("", "")
	m.listed, m.tools = c, nil
	for i := range c.Tools {
		tool := &c.Tools[i]
		t := host.Tool{
			Tool:    mcp.Tool{Name: tool.Name, Description: tool.Description, RawInputSchema: tool.Input},
			Handler: m.call, Raw: tool.JSON(), Work: admission.Waits, // the work is the child's
		}
		// The library panics on some schemas; one such tool must not take the
		// others with it.
		err := safe.Call("offer "+t.Tool.Name, func() error {
			scratch.AddTool(t.Tool, t.Handler)
			_, err := json.Marshal(t.Tool)
			return err
		})
		if err != nil {
			m.p.Note("hidden: " + err.Error())
			continue
		}
		m.tools = append(m.tools, t)
	}
	return m.tools
}

// metaOf carries _meta with its values raw.
func metaOf(raw json.RawMessage) *mcp.Meta {
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return nil
	}
	fields := make(map[string]any, len(o))
	for _, m := range o {
		fields[m.Key] = m.Value
	}
	return &mcp.Meta{AdditionalFields: fields}
}

func (m *Module) call(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	r, err := m.p.Call(ctx, invocation(ctx, req))
	if err != nil {
		return nil, err
	}
	return resultOf(r), nil
}

// invocation is a request as the domain takes it. What the protocol keeps in
// _meta for the connection between agent and deck does not go to the child.
func invocation(ctx context.Context, req mcp.CallToolRequest) card.Invocation {
	in := card.Invocation{
		Tool: req.Params.Name, Args: req.Params.RawArguments, Agent: host.CallerFrom(ctx).Name(),
		WaitForUser: func() func() { return host.WaitForUser(ctx) },
	}
	meta := req.Params.Meta
	if meta == nil {
		return in
	}
	fields := map[string]any{}
	for k, v := range meta.AdditionalFields {
		if !strings.HasPrefix(k, "io.modelcontextprotocol/") && !strings.HasPrefix(k, "mcpdeck/") {
			fields[k] = v
		}
	}
	if len(fields) > 0 {
		if raw, err := json.Marshal(fields); err == nil {
			in.Meta = raw
		}
	}
	if token := meta.ProgressToken; token != nil {
		in.Progress = func(p child.Progress) {
			params := map[string]any{"progressToken": token, "progress": p.Value}
			if p.Total > 0 {
				params["total"] = p.Total
			}
			if p.Message != "" {
				params["message"] = p.Message
			}
			_ = host.Notify(ctx, "notifications/progress", params) // the agent may be gone
		}
	}
	return in
}

// block is one content block as the child gave it. The library lets only its
// own types be content, so it wears one of them.
type block struct {
	mcp.TextContent
	raw json.RawMessage
}

func (b block) MarshalJSON() ([]byte, error) { return b.raw, nil }

func resultOf(r card.Result) *mcp.CallToolResult {
	out := &mcp.CallToolResult{Content: make([]mcp.Content, len(r.Content)), RawStructuredContent: r.Structured, IsError: r.IsError}
	out.Meta = metaOf(r.Meta)
	for i, raw := range r.Content {
		out.Content[i] = block{raw: raw}
	}
	return out
}

// status is the tool that a connection to Pencil alone always has: a client
// may drop a server that lists nothing.
func (m *Module) status() host.Tool {
	return host.Tool{
		Tool: mcp.Tool{
			Name: pencil.StatusTool, Title: "Pencil status",
			Description:    "Tells whether Pencil mode is on and what its design tools are connected to. The user switches the mode; no tool can.",
			RawInputSchema: json.RawMessage(`{"type":"object","properties":{}}`),
			Annotations: mcp.ToolAnnotation{
				Title: "Pencil status", ReadOnlyHint: mcp.ToBoolPtr(true), DestructiveHint: mcp.ToBoolPtr(false),
				IdempotentHint: mcp.ToBoolPtr(true), OpenWorldHint: mcp.ToBoolPtr(false),
			},
		},
		Work: admission.Waits,
		Handler: func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(m.p.Brief()), nil
		},
	}
}

// The gateway is one tool that never changes, for clients that list a server's
// tools once. It cannot switch the mode.
const (
	gatewayAbout = "Pencil's design tools through one tool, for use while Pencil mode is on: " +
		"action tools lists them, describe explains one, call (default) runs one."
	gatewaySchema = `{"type":"object","properties":{"action":{"type":"string","enum":["tools","describe","call"],"description":"what to do"},` +
		`"tool":{"type":"string","description":"name of the tool to describe or call"},` +
		`"arguments":{"type":"object","description":"the tool's own"},"arguments_json":{"type":"string","description":"instead of arguments"}}}`
)

func (m *Module) gateway() host.Tool {
	return host.Tool{
		Tool: mcp.Tool{
			Name: pencil.CallTool, Title: "Pencil tools", Description: gatewayAbout, RawInputSchema: json.RawMessage(gatewaySchema),
			Annotations: mcp.ToolAnnotation{
				Title: "Pencil tools", ReadOnlyHint: mcp.ToBoolPtr(false), DestructiveHint: mcp.ToBoolPtr(true),
				IdempotentHint: mcp.ToBoolPtr(false), OpenWorldHint: mcp.ToBoolPtr(false),
			},
		},
		Work: admission.Waits,
		Handler: func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			r, err := m.p.Gateway(ctx, invocation(ctx, req))
			if err != nil {
				return nil, err
			}
			return resultOf(r), nil
		},
	}
}
