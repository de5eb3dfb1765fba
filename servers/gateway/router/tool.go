package router

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/fuzzy"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
)

// Tool is one tool of a module, and all that the deck knows of it.
type Tool struct {
	Tool    mcp.Tool               // as clients see it
	Handler server.ToolHandlerFunc // nil: the offer's Router serves its calls
	// Raw is the definition that is listed as it stands, a JSON object on one line:
	// mcp-go encodes only the members it knows. nil: Tool as it encodes.
	Raw json.RawMessage
	// Work says how much a call takes while it runs. The zero value is for an answer
	// from memory.
	Work admission.Class
	// Redact says what the log must not keep of a call beyond what it never keeps.
	Redact redact.Kind
	// Resumable calls wait for the user: one that is not answered when its deck ends
	// is sent again to the next, with the members of [backend.ResumeKeyMeta] and its siblings.
	Resumable bool
	// InTurn calls of one connection begin in the order in which they were sent: the
	// handler calls [backend.InOrder].
	InTurn bool
	// Off, unless it is empty, is the answer to a call while the tool is turned off. It
	// is not listed then.
	Off string

	router Router // that serves its calls instead of the offer's; nil: that one
}

// RawTool is a tool that is listed as it stands and served by the offer's [Router]. The
// definition must be a JSON object with a name.
func RawTool(definition json.RawMessage) (Tool, error) {
	o, err := rawjson.Parse(definition)
	if err != nil {
		return Tool{}, fmt.Errorf("read the definition of a tool: %w", err)
	}
	name := o.Str("name")
	if name == "" {
		return Tool{}, errors.New("read the definition of a tool: it has no name")
	}
	return Tool{Tool: mcp.Tool{Name: name}, Raw: definition, Work: admission.Waits}, nil
}

// definition is what is listed of the tool.
func (t Tool) definition() json.RawMessage {
	if t.Raw != nil {
		return t.Raw
	}
	return encoded(t.Tool)
}

// all are the tools of an offer, whoever gets them.
func (o Offer) all() []Tool { return slices.Concat(o.Tools, o.Stub, o.Gateway) }

// Resumable names the tools of the view whose calls are sent again when the deck is
// lost.
func (v *View) Resumable() (names []string) {
	for _, m := range v.all() {
		for _, t := range slices.Concat(v.offerOf(m).all(), m.known().all()) {
			if t.Resumable && !slices.Contains(names, t.Tool.Name) {
				names = append(names, t.Tool.Name)
			}
		}
	}
	return names
}

// InTurn tells whether calls of a tool begin in the order in which they were sent.
func (v *View) InTurn(tool string) bool { return v.listing.Load().turns[tool] }

// redactOf says how to keep a call of a tool that is not listed: as one that is turned
// off, or as the tool that was meant.
func (h *Host) redactOf(tool string) (kind redact.Kind) {
	name, slips := strings.ToLower(tool[:min(len(tool), 64)]), 3
	for _, m := range h.all() {
		for _, t := range m.known().all() {
			if n := fuzzy.Slips(name, t.Tool.Name); n < slips {
				slips, kind = n, t.Redact
			}
		}
	}
	return kind
}
