package upstream

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// AdapterOptions are the settings of one server's card. Empty ones have defaults.
type AdapterOptions struct {
	// Plain rebuilds results from the members that every client knows, in alphabetical
	// order.
	Plain   bool
	Brief   func() string // result of the status tool
	Status  string        // description of the status tool
	Stays   bool          // the status tool is offered beside other tools, too
	Gateway string        // description of the gateway
}

// Adapter is a card as a server behind the router.
type Adapter struct {
	c *Card
	o AdapterOptions

	looking sync.Mutex
}

var _ interface {
	backend.Server
	backend.Resolver
	backend.Subscriber
	backend.SessionEnder
	backend.Refresher
	backend.Quitter
	backend.Namer
} = (*Adapter)(nil)

// NewAdapter makes the adapter of a card.
func NewAdapter(c *Card, o AdapterOptions) *Adapter {
	if o.Brief == nil {
		o.Brief = c.Brief
	}
	title := c.Options().Title
	o.Status = cmp.Or(o.Status, "Tells whether "+title+" is on. The user turns it on and off; no tool can.")
	if o.Gateway == "" {
		o.Gateway = "The tools of " + title + " through one tool: action tools lists them, describe explains one, call (default) runs one."
	}
	return &Adapter{c: c, o: o}
}

// Info implements [backend.Server].
func (a *Adapter) Info() backend.Info {
	return backend.Info{Name: a.c.Name(), Title: a.c.Options().Title, ServerName: a.c.Name(), Foreign: true}
}

// Start implements [backend.Server]. It starts a program only if the user has configured
// that.
func (a *Adapter) Start(_ context.Context, e backend.Events) error {
	look := func() {
		a.looking.Lock() // states are reported in the order in which they are read
		defer a.looking.Unlock()
		e.SetState(a.state())
	}
	look()
	a.c.Start(Events{Listed: e.Changed, Look: look, Warn: e.Warn, Pass: e.Notify})
	return nil
}

// Quit implements [backend.Quitter].
func (a *Adapter) Quit() { a.c.Quit() }

// Stop implements [backend.Server].
func (a *Adapter) Stop(ctx context.Context) error { return a.c.Stop(ctx) }

// SessionEnded implements [backend.SessionEnder].
func (a *Adapter) SessionEnded(session string) { a.c.SessionEnded(session) }

// Subscribed implements [backend.Subscriber].
func (a *Adapter) Subscribed(session string, s backend.Subscriptions) {
	a.c.Subscribed(session, s)
}

// Refresh implements [backend.Refresher].
func (a *Adapter) Refresh() { a.c.Refresh() }

// state is the state of the card as the screen shows it.
func (a *Adapter) state() snapshot.State {
	s := a.c.Status()
	// The user sees it beside the name.
	name := a.c.Options().Title + "'s MCP server "
	state := snapshot.State{Status: snapshot.Off, Reason: strings.TrimPrefix(s.Error, name)}
	sign := s.Sign()
	switch {
	case s.Mode == TurningOn:
		state = snapshot.State{Status: snapshot.Starting}
	case s.Mode == On && s.OnDemand && s.GaveUp:
		state = snapshot.State{Status: snapshot.Failed, Reason: strings.TrimPrefix(s.Error, name)}
	case s.Mode == On && sign.Tone == Warning:
		state = snapshot.State{Status: snapshot.Degraded, Reason: strings.TrimPrefix(sign.Note, name)}
	case s.Mode == On && s.OnDemand && len(s.Held) > 0:
		state = snapshot.State{Status: snapshot.Degraded, Reason: "hidden until you accept the change: " + s.Holding()}
	case s.Mode == On:
		state = snapshot.State{Status: snapshot.Ready, Detail: s.Detail}
		if s.OnDemand {
			state.Detail = s.Doing()
		}
	case s.Broken:
		state.Status = snapshot.Failed
	case s.Link != LinkFailed:
		state.Reason = ""
	}
	state.Held = len(s.Held)
	if s.Mode == Off {
		state.Adds = s.Adds
	}
	return state
}

// Catalogue implements [backend.Server].
func (a *Adapter) Catalogue() *backend.Catalogue {
	now, o := a.c.Published(), a.c.Options()
	// A view of the server as it is has everything but what the user keeps from agents.
	as := &backend.Catalogue{}
	c := &backend.Catalogue{Passthrough: as, Refuse: func(tool string) string { return a.c.Published().Refuse(tool) }}
	listed := now.Catalogue()
	if listed != nil {
		c.Instructions = listed.Instructions
		for i := range listed.Tools {
			c.Tools = append(c.Tools, waits(listed.Tools[i].Name, listed.Tools[i].JSON()))
		}
		c.Prompts, c.Templates, c.Resources = definitions(listed.Prompts), definitions(listed.Templates), definitions(now.Resources())
	}
	if a.o.Stays || len(c.Tools) == 0 { // the server may have a tool of this name
		c.Fallback = []backend.ToolDefinition{a.own(o.StatusTool(), " status", a.o.Status, `{"type":"object","properties":{}}`, true)}
	}
	switch {
	case listed == nil, a.o.Plain:
		as.Fallback, as.Refuse = c.Fallback, c.Refuse
	default:
		as.ServerInfo, as.Capabilities, as.Instructions = listed.Listing.Server, listed.Listing.Capabilities, listed.Verdict.Instructions
		as.Refuse = func(tool string) string { return a.c.Published().RefusePassthrough(tool) }
		for i := range listed.Tools {
			as.Tools = append(as.Tools, waits(listed.Tools[i].Original, listed.Tools[i].Raw))
		}
		for _, d := range listed.Prompts {
			as.Prompts = append(as.Prompts, backend.Definition{Key: d.Original, Raw: d.Given})
		}
		as.Templates, as.Resources = c.Templates, c.Resources
	}
	if audience := o.GatewayFor(); audience != NoClient {
		c.Gateway = []backend.ToolDefinition{a.own(o.Gateway.Tool, " tools", a.o.Gateway, gatewaySchema, false)}
		c.GatewayFor = o.KeepsList
		if audience == AllClients {
			c.Tools, c.GatewayFor = append(c.Tools, c.Gateway...), nil
		}
	}
	return c
}

// definitions returns prompts, templates or resources as they are listed.
func definitions(all []catalogue.Definition) (out []backend.Definition) {
	for _, d := range all {
		out = append(out, backend.Definition{Key: d.Name, Raw: d.Raw})
	}
	return out
}

// waits is a tool whose calls do nothing themselves but wait for the server.
func waits(name string, raw json.RawMessage) backend.ToolDefinition {
	return backend.ToolDefinition{Definition: backend.Definition{Key: name, Raw: raw}, Policy: backend.Policy{Load: admission.Waits}}
}

// own is a tool of the deck's: the status, for a connection to the card alone that would have
// no other, since some clients drop a server without tools; or the gateway, which never
// changes, for clients that list a server's tools only once. Neither can turn the card on.
func (a *Adapter) own(name, title, description, schema string, readOnly bool) backend.ToolDefinition {
	raw := func(b bool) json.RawMessage {
		if b {
			return json.RawMessage("true")
		}
		return json.RawMessage("false")
	}
	shown := rawjson.Quote(a.c.Options().Title + title)
	hints := rawjson.Object{
		{Key: "title", Value: shown},
		{Key: "readOnlyHint", Value: raw(readOnly)},
		{Key: "destructiveHint", Value: raw(!readOnly)},
		{Key: "idempotentHint", Value: raw(readOnly)},
		{Key: "openWorldHint", Value: raw(false)},
	}
	return waits(name, rawjson.Object{
		{Key: "annotations", Value: hints.JSON()},
		{Key: "description", Value: rawjson.Quote(description)},
		{Key: "inputSchema", Value: json.RawMessage(schema)},
		{Key: "name", Value: rawjson.Quote(name)},
		{Key: "title", Value: shown},
	}.JSON())
}

const gatewaySchema = `{"type":"object","properties":{"action":{"type":"string","enum":["tools","describe","call"],"description":"what to do"},` +
	`"tool":{"type":"string","description":"name of the tool to describe or call"},` +
	`"arguments":{"type":"object","description":"the tool's own"},"arguments_json":{"type":"string","description":"instead of arguments"}}}`
