// Package offer offers the tools of a card to agents over MCP.
package offer

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/admission"
	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/card"
	"github.com/mcpdeck/mcpdeck/servers/card/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/host"
)

// Options are the settings of one server's card. Empty ones have defaults.
type Options struct {
	// Plain rebuilds results from the members that every client knows, in alphabetical
	// order.
	Plain   bool
	Brief   func() string // result of the status tool
	Status  string        // description of the status tool
	Stays   bool          // the status tool is offered beside other tools, too
	Gateway string        // description of the gateway
}

// Module is the server of a card.
type Module struct {
	c *card.Card
	o Options

	looking sync.Mutex

	mu     sync.Mutex // guards what follows
	scope  host.Scope
	state  deck.State
	listed *catalogue.Catalogue // from which tools was made
	tools  []host.Tool
}

// New makes the module of a card.
func New(c *card.Card, o Options) *Module {
	if o.Brief == nil {
		o.Brief = c.Brief
	}
	if o.Status == "" {
		o.Status = "Tells whether " + c.Options().Title + " is on. The user turns it on and off; no tool can."
	}
	if o.Gateway == "" {
		o.Gateway = "The tools of " + c.Options().Title + " through one tool: action tools lists them, describe explains one, call (default) runs one."
	}
	return &Module{c: c, o: o}
}

// Identity implements [host.Module].
func (m *Module) Identity() host.Identity {
	return host.Identity{Name: m.c.Name(), Title: m.c.Options().Title, ServerName: m.c.Name(), Foreign: true}
}

// Start implements [host.Module]. It starts a program only if the user has configured
// that.
func (m *Module) Start(_ context.Context, scope host.Scope) error {
	m.mu.Lock()
	m.scope, m.state = scope, deck.State{}
	m.mu.Unlock()
	m.look()
	m.c.Start(card.Events{Listed: scope.Changed, Look: m.look, Warn: scope.Warn, Pass: scope.Pass})
	return nil
}

// Quit implements [host.Quitter].
func (m *Module) Quit() { m.c.Quit() }

// Stop implements [host.Module].
func (m *Module) Stop(ctx context.Context) error { return m.c.Stop(ctx) }

// AgentGone implements [host.Leaver].
func (m *Module) AgentGone(agent string) { m.c.AgentGone(agent) }

// look reports the state of the card.
func (m *Module) look() {
	m.looking.Lock() // states are reported in the order in which they are read
	defer m.looking.Unlock()
	s := m.c.Status()
	// The user sees it beside the name.
	name := m.c.Options().Title + "'s MCP server "
	state := deck.State{Status: deck.Off, Reason: strings.TrimPrefix(s.Error, name)}
	sign := s.Sign()
	switch {
	case s.Mode == card.TurningOn:
		state = deck.State{Status: deck.Starting}
	case s.Mode == card.On && s.OnDemand && s.GaveUp:
		state = deck.State{Status: deck.Failed, Reason: strings.TrimPrefix(s.Error, name)}
	case s.Mode == card.On && sign.Tone == card.Warning:
		state = deck.State{Status: deck.Degraded, Reason: strings.TrimPrefix(sign.Note, name)}
	case s.Mode == card.On && s.OnDemand && len(s.Held) > 0:
		state = deck.State{Status: deck.Degraded, Reason: "held: " + s.Holding()}
	case s.Mode == card.On:
		state = deck.State{Status: deck.Ready, Detail: s.Detail}
		if s.OnDemand {
			state.Detail = s.Doing()
		}
	case s.Broken:
		state.Status = deck.Failed
	case s.Link != card.LinkFailed:
		state.Reason = ""
	}
	state.Held = len(s.Held)
	if s.Mode == card.Off {
		state.Adds = s.Adds
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
	now := m.c.Published()
	o := host.Offer{Refuse: m.refuse, Router: m}
	if listed := now.Catalogue(); listed != nil {
		o.Tools = m.toolsOf(listed)
		o.Instructions = listed.Instructions
		o.RawPrompts, o.RawTemplates, o.RawResources = definitions(listed.Prompts), definitions(listed.Templates), definitions(now.Resources())
		o.AsIs = m.asIs(now)
	}
	if m.o.Stays || len(o.Tools) == 0 { // the server may have a tool of this name
		o.Stub = []host.Tool{m.status()}
	}
	switch m.c.Options().GatewayFor() {
	case card.NoClient:
	case card.AllClients:
		o.Gateway = []host.Tool{m.gateway()}
		o.Tools = append(o.Tools[:len(o.Tools):len(o.Tools)], o.Gateway...)
	default:
		o.Gateway = []host.Tool{m.gateway()}
		o.ForGateway = m.c.Options().KeepsList
	}
	return o
}

func (m *Module) refuse(tool string) string { return m.c.Published().Refuse(tool) }

func (m *Module) refuseAsIs(tool string) string { return m.c.Published().RefuseAsIs(tool) }

// definitions returns prompts, templates or resources as they are listed.
func definitions(all []catalogue.Definition) (out []backend.Definition) {
	for _, d := range all {
		out = append(out, backend.Definition{Key: d.Name, Raw: d.Raw})
	}
	return out
}

// asIs is what a view of the server as it is without the deck offers: everything except
// what the user keeps from agents.
func (m *Module) asIs(now *card.Published) *host.AsIs {
	if m.o.Plain {
		return nil
	}
	listed := now.Catalogue()
	a := &host.AsIs{ServerInfo: listed.Server, Capabilities: listed.Capabilities}
	a.Instructions, a.Refuse = listed.Guide, m.refuseAsIs
	for i := range listed.Tools {
		if t, err := host.RawTool(listed.Tools[i].Raw); err == nil {
			a.Tools = append(a.Tools, t)
		}
	}
	for _, d := range listed.Prompts {
		a.RawPrompts = append(a.RawPrompts, backend.Definition{Key: d.Original, Raw: d.Given})
	}
	a.RawTemplates, a.RawResources = definitions(listed.Templates), definitions(now.Resources())
	return a
}

// toolsOf makes the tools of a catalogue, once for each catalogue.
func (m *Module) toolsOf(c *catalogue.Catalogue) []host.Tool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.listed == c {
		return m.tools
	}
	m.listed, m.tools = c, nil
	for i := range c.Tools {
		t, err := host.RawTool(c.Tools[i].JSON())
		if err != nil {
			m.c.Note("hidden: " + err.Error())
			continue
		}
		m.tools = append(m.tools, t)
	}
	return m.tools
}

// status is the tool of a connection to the card alone that would have no other: some
// clients drop a server without tools.
func (m *Module) status() host.Tool {
	return host.Tool{
		Tool: mcp.Tool{
			Name: m.c.Options().StatusTool(), Title: m.c.Options().Title + " status",
			Description:    m.o.Status,
			RawInputSchema: json.RawMessage(`{"type":"object","properties":{}}`),
			Annotations: mcp.ToolAnnotation{
				Title: m.c.Options().Title + " status", ReadOnlyHint: mcp.ToBoolPtr(true), DestructiveHint: mcp.ToBoolPtr(false),
				IdempotentHint: mcp.ToBoolPtr(true), OpenWorldHint: mcp.ToBoolPtr(false),
			},
		},
		Work: admission.Waits,
		Handler: func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(m.o.Brief()), nil
		},
	}
}

const gatewaySchema = `{"type":"object","properties":{"action":{"type":"string","enum":["tools","describe","call"],"description":"what to do"},` +
	`"tool":{"type":"string","description":"name of the tool to describe or call"},` +
	`"arguments":{"type":"object","description":"the tool's own"},"arguments_json":{"type":"string","description":"instead of arguments"}}}`

// gateway is a single tool that never changes, for clients that list a server's tools
// only once. It cannot turn the card on.
func (m *Module) gateway() host.Tool {
	return host.Tool{
		Tool: mcp.Tool{
			Name: m.c.Options().Gateway.Tool, Title: m.c.Options().Title + " tools", Description: m.o.Gateway, RawInputSchema: json.RawMessage(gatewaySchema),
			Annotations: mcp.ToolAnnotation{
				Title: m.c.Options().Title + " tools", ReadOnlyHint: mcp.ToBoolPtr(false), DestructiveHint: mcp.ToBoolPtr(true),
				IdempotentHint: mcp.ToBoolPtr(false), OpenWorldHint: mcp.ToBoolPtr(false),
			},
		},
		Work: admission.Waits,
	}
}
