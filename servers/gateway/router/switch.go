package router

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Switch turns a module on or off that has no switch of its own. While it is off, agents
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
	m.off = !on
	m.mu.Unlock()
	if changed {
		m.Changed()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.listed.Tools, nil
}

// Deny turns tools of a module off, and those on that are not among them: agents do not
// have them, and calls are refused. It is for modules that the host turns on and off.
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
func without(tools []Tool, denied []string) []Tool {
	if len(denied) == 0 {
		return tools
	}
	tools = slices.Clone(tools)
	for i := range tools {
		if slices.Contains(denied, tools[i].Tool.Name) {
			tools[i].Off = tools[i].Tool.Name + " is turned off. The user can allow it in mcpdeck."
		}
	}
	return tools
}

// isOff tells whether the host has turned the module off.
func (m *registration) isOff() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.off
}

// known is what the module offers or, while it is off, would offer.
func (m *registration) known() Offer {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.whole
}

// turnedOff is what agents are offered of a module that is off: its tools answer that,
// and a client that asked for it alone finds a tool to ask, since some drop a server
// that lists nothing.
func (m *registration) turnedOff(o Offer) Offer {
	own := map[string]bool{}
	for _, t := range o.all() {
		own[t.Tool.Name] = true
	}
	text := m.id.Title + " is off. The user can turn it on in mcpdeck."
	about := rawjson.Quote("Tells whether " + m.id.Title + " is on. The user turns it on and off; no tool can.")
	status, _ := RawTool(json.RawMessage(`{"annotations":{"readOnlyHint":true},"description":` + string(about) + // it has a name
		`,"inputSchema":{"type":"object","properties":{}},"name":` + string(rawjson.Quote(m.id.Name+"_status")) + `}`))
	status.Work, status.router = admission.Small, answers(func(*backend.Request) backend.Reply { return said(text) })
	return Offer{Stub: []Tool{status}, Refuse: func(tool string) string {
		if own[tool] {
			return text
		}
		return ""
	}}
}

// shown is the state of the module for the user. The caller holds mu.
func (m *registration) shown() snapshot.State {
	if m.off {
		return snapshot.State{Status: snapshot.Off, Adds: m.adds}
	}
	return m.state
}
