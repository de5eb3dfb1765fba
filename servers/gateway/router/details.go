package router

import (
	"encoding/json"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Details are what a server offers agents, or would if it were on; false if there is no
// such server. Of a server of somebody else's, only what agents have now is known here.
func (h *Host) Details(name string) (d snapshot.Details, ok bool) {
	m := h.module(name)
	if m == nil {
		return d, false
	}
	o := m.known()
	for _, t := range o.Tools {
		d.Tools = append(d.Tools, toolOf(t))
	}
	for _, r := range o.Resources {
		d.Resources = append(d.Resources, item(r.Key, r.Raw))
	}
	for _, t := range o.Templates {
		d.Resources = append(d.Resources, item(t.Key, t.Raw))
	}
	for _, p := range o.Prompts {
		d.Prompts = append(d.Prompts, item(p.Key, p.Raw))
	}
	d.Instructions, d.Offered = o.Instructions, !m.isOff()
	m.mark(&d)
	return d, true
}

// Figures are what the calls of a server came to, by tool, and under "" all of them.
func (h *Host) Figures(name string) map[string]snapshot.Figures { return h.calls.Figures(name) }

func toolOf(t backend.ToolDefinition) snapshot.Tool {
	o, _ := rawjson.SplitObject(t.Raw) // it always is one
	out := snapshot.Tool{
		Name: t.Key, Original: t.Key, Description: o.Str("description"),
		Input: o.Some("inputSchema"), Output: o.Some("outputSchema"), Annotations: o.Some("annotations"),
		Context: contextOf(t.Raw), Bytes: len(t.Raw), Verdict: snapshot.Allow,
	}
	if t.Off != "" {
		out.Verdict, out.Why = snapshot.Denied, t.Off
	}
	return out
}

// Adds returns what agents get by all that a server lists.
func Adds(c *backend.Catalogue) snapshot.Count {
	n := snapshot.Count{Tools: len(c.Tools), Context: len(c.Instructions)}
	for _, t := range c.Tools {
		n.Context += contextOf(t.Raw)
	}
	return n
}

// contextOf is how many bytes of a tool's definition a model gets: clients pass on the
// name, the description and the schema of the arguments.
func contextOf(definition json.RawMessage) int {
	o, _ := rawjson.SplitObject(definition) // it always is one
	return len(o.Only("name", "description", "inputSchema").JSON())
}

func item(key string, definition json.RawMessage) snapshot.Item {
	o, _ := rawjson.SplitObject(definition) // something else has no members
	out := snapshot.Item{Key: key, Name: o.Str("name"), Description: o.Str("description"), Bytes: len(definition)}
	args, _ := rawjson.SplitArray(o.Get("arguments")) // a prompt's
	for _, a := range args {
		arg, _ := rawjson.SplitObject(a) // something else has no name
		name := arg.Str("name")
		if arg.Flag("required") {
			name += "*"
		}
		out.Args = append(out.Args, name)
	}
	return out
}
