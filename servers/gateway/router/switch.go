package router

import (
	"fmt"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Switch turns a server on or off that has no switch of its own. While it is off, agents
// are offered nothing of it; what it does, and calls in flight, go on. It returns how
// many of its tools agents have then.
func (h *Host) Switch(name string, on bool) (tools int, err error) {
	m := h.module(name)
	switch {
	case m == nil:
		return 0, fmt.Errorf("turn %q on or off: %w", name, ErrUnknownServer)
	case m.id.Foreign:
		return 0, fmt.Errorf("turn %s on or off: it has its own switch", name)
	}
	m.mu.Lock()
	changed := m.off == on
	m.off, m.wanted = !on, on
	m.mu.Unlock()
	if changed {
		m.Changed()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.listed.Tools, nil
}

// Deny turns tools of a server off, and those on that are not among them: agents do not
// have them, and calls are refused. It is for servers that the host turns on and off.
func (h *Host) Deny(name string, tools []string) error {
	m := h.module(name)
	switch {
	case m == nil:
		return fmt.Errorf("turn off tools of %q: %w", name, ErrUnknownServer)
	case m.id.Foreign:
		return fmt.Errorf("turn off tools of %s: it does that itself", name)
	}
	m.mu.Lock()
	m.denied = tools
	m.mu.Unlock()
	m.Changed()
	return nil
}

// without are tools, of which some are turned off by the user.
func without(tools []backend.ToolDefinition, denied []string) []backend.ToolDefinition {
	if len(denied) == 0 {
		return tools
	}
	tools = slices.Clone(tools)
	for i := range tools {
		if slices.Contains(denied, tools[i].Key) {
			tools[i].Off = tools[i].Key + " is turned off. The user can allow it in mcpdeck."
		}
	}
	return tools
}

// isOff tells whether the host has turned the server off.
func (m *registration) isOff() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.off
}

// known is what the server offers or, while it is off, would offer.
func (m *registration) known() offer {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.whole
}

// turnedOff is what agents are offered of a server that is off: its tools answer that,
// and a client that asked for it alone finds a tool to ask, since some drop a server
// that lists nothing.
func (m *registration) turnedOff(o offer) offer {
	names := map[string]bool{}
	for _, t := range o.all() {
		names[t.Key] = true
	}
	text := m.id.Title + " is off. The user can turn it on in mcpdeck."
	about := rawjson.Quote("Tells whether " + m.id.Title + " is on. The user turns it on and off; no tool can.")
	name := m.id.Name + "_status"
	status := own(name, `{"annotations":{"readOnlyHint":true},"description":`+string(about)+
		`,"inputSchema":{"type":"object","properties":{}},"name":`+string(rawjson.Quote(name))+`}`, backend.Policy{Load: admission.Small})
	refuse := func(tool string) string {
		if names[tool] {
			return text
		}
		return ""
	}
	return offer{
		&backend.Catalogue{Fallback: []backend.ToolDefinition{status}, Refuse: refuse},
		answers(func(*backend.Request) backend.Reply { return said(text) }),
	}
}

// shown is the state of the server for the user. The caller holds mu.
func (m *registration) shown() snapshot.State {
	if m.off {
		return snapshot.State{Status: snapshot.Off, Adds: m.adds}
	}
	return m.state
}
