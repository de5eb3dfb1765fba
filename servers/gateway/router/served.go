package router

import (
	"context"
	"encoding/json"

	"github.com/mcpdeck/mcpdeck/servers/backend"
)

// Of is the module of a server.
func Of(s backend.Server) Module { return &served{s} }

// served is a server as a module, and as its router.
type served struct{ backend.Server }

// Identity implements [Module].
func (s *served) Identity() Identity { return s.Info() }

// Start implements [Module].
func (s *served) Start(ctx context.Context, scope Scope) error {
	return s.Server.Start(ctx, events{scope})
}

// events are a scope as a server sees it.
type events struct{ Scope }

// Notify implements [backend.Events].
func (e events) Notify(session, method string, params json.RawMessage) {
	e.Pass(session, method, params)
}

// Offer implements [Module].
func (s *served) Offer() Offer {
	c := s.Catalogue()
	o, as := s.offerOf(c), c
	if c.Passthrough != nil {
		as = c.Passthrough
	}
	o.AsIs = &Passthrough{Offer: s.offerOf(as), ServerInfo: as.ServerInfo, Capabilities: as.Capabilities}
	return o
}

func (s *served) offerOf(c *backend.Catalogue) Offer {
	return Offer{
		Tools: rawTools(c.Tools), Stub: rawTools(c.Fallback), Gateway: rawTools(c.Gateway), ForGateway: c.GatewayFor, Refuse: c.Refuse,
		RawPrompts: c.Prompts, RawResources: c.Resources, RawTemplates: c.Templates, Instructions: c.Instructions, Router: s,
	}
}

func rawTools(all []backend.ToolDefinition) (tools []Tool) {
	for _, d := range all {
		t, err := RawTool(d.Raw)
		if err != nil {
			continue // it has no name
		}
		t.Work, t.Redact, t.Resumable, t.InTurn, t.Off = d.Load, d.Redact, d.Resumable, d.Ordered, d.Off
		tools = append(tools, t)
	}
	return tools
}

// AgentGone implements [SessionEnder].
func (s *served) AgentGone(agent string) {
	if e, ok := s.Server.(backend.SessionEnder); ok {
		e.SessionEnded(agent)
	}
}

// Wants implements [Listener].
func (s *served) Wants(agent string, w Subscriptions) {
	if l, ok := s.Server.(backend.Subscriber); ok {
		l.Subscribed(agent, backend.Subscriptions{Level: w.Level, Resources: w.Resources, Root: w.Root})
	}
}

// Refresh implements [Refresher].
func (s *served) Refresh() {
	if r, ok := s.Server.(backend.Refresher); ok {
		r.Refresh()
	}
}

// Quit implements [Quitter].
func (s *served) Quit() {
	if q, ok := s.Server.(backend.Quitter); ok {
		q.Quit()
	}
}

// Owns implements [Router].
func (s *served) Owns(kind backend.Kind, key string) bool {
	r, ok := s.Server.(backend.Resolver)
	return ok && r.Owns(kind, key)
}

var _ interface {
	Module
	Router
	SessionEnder
	Listener
	Refresher
	Quitter
} = (*served)(nil)
