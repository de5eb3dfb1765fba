package router

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/fuzzy"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
)

// offer is what agents have of a server, and who answers for it.
type offer struct {
	*backend.Catalogue
	by answerer
}

// answerer answers requests: a [backend.Server], or the deck itself.
type answerer interface {
	Serve(ctx context.Context, r *backend.Request) backend.Reply
}

// answers is an answerer of the deck's own that knows its answer.
type answers func(*backend.Request) backend.Reply

// Serve implements answerer.
func (a answers) Serve(_ context.Context, r *backend.Request) backend.Reply { return a(r) }

// all are the tools of an offer, whoever gets them.
func (o offer) all() []backend.ToolDefinition { return slices.Concat(o.Tools, o.Fallback, o.Gateway) }

// leads reports whether a tool is among those of the gateway.
func (o offer) leads(tool string) bool {
	return slices.ContainsFunc(o.Gateway, func(g backend.ToolDefinition) bool { return g.Key == tool })
}

// own is a tool of the deck's.
func own(name, definition string, policy backend.Policy) backend.ToolDefinition {
	return backend.ToolDefinition{Definition: backend.Definition{Key: name, Raw: json.RawMessage(definition)}, Policy: policy}
}

// Resumable names the tools of the view whose calls are sent again when the deck is
// lost.
func (v *View) Resumable() (names []string) {
	for _, m := range v.all() {
		for _, t := range slices.Concat(v.offerOf(m).all(), m.known().all()) {
			if t.Resumable && !slices.Contains(names, t.Key) {
				names = append(names, t.Key)
			}
		}
	}
	return names
}

// redactOf says how to keep a call of a tool that is not listed: as one that is turned
// off, or as the tool that was meant.
func (h *Host) redactOf(tool string) (kind redact.Kind) {
	name, slips := strings.ToLower(tool[:min(len(tool), 64)]), 3
	for _, m := range h.all() {
		for _, t := range m.known().all() {
			if n := fuzzy.Slips(name, t.Key); n < slips {
				slips, kind = n, t.Redact
			}
		}
	}
	return kind
}

// schemaOf is the schema of a tool's arguments.
func schemaOf(t backend.ToolDefinition) json.RawMessage {
	o, _ := rawjson.SplitObject(t.Raw) // it always is one
	return o.Get("inputSchema")
}
