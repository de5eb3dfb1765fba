package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// gatewayHint is appended to the result of a failed call through the gateway.
const gatewayHint = "If the arguments may be wrong, use action describe first."

// Gateway is a single tool that gives access to all tools of a card, for clients that list a
// server's tools only once.
type Gateway struct {
	Tool     string // name of the tool; "" if the card has none
	Audience Audience
	// Clients are the clients that get it with ClientsThatKeepLists, by the name they report,
	// ignoring case, with * at either end as a wildcard; nil means those known to list a
	// server's tools only once.
	Clients []string
}

// Audience is which clients get the gateway without connecting to it.
type Audience int

// The audiences.
const (
	ClientsThatKeepLists Audience = iota // see [Options.KeepsList]
	AllClients
	NoClient
)

// GatewayFor returns which clients get the gateway.
func (o *Options) GatewayFor() Audience {
	if o.Gateway.Tool == "" {
		return NoClient
	}
	return o.Gateway.Audience
}

// KeepsList reports whether a client gets the gateway without connecting to it.
func (o *Options) KeepsList(client string) bool {
	if o.Gateway.Clients == nil {
		row, _ := clients.Of(client)
		return row.KeepsTools
	}
	return slices.ContainsFunc(o.Gateway.Clients, func(pattern string) bool {
		return clients.Match(strings.ToLower(pattern), strings.ToLower(client))
	})
}

// Gateway answers a call of the gateway. in.Args are the gateway's own arguments.
func (c *Card) Gateway(ctx context.Context, in Call) (Result, error) {
	listed, err := c.Published().usable()
	if err != nil {
		return refused(err)
	}
	var o rawjson.Object
	if in.Args != nil {
		if o, err = rawjson.Parse(in.Args); err != nil {
			return textResult("The arguments are "+err.Error()+".", true), nil
		}
	}
	action, name := o.Str("action"), o.Str("tool")
	if action == "tools" || action == "" && name == "" {
		return textResult(toolLines(listed), false), nil
	}
	tool := listed.Lookup(name)
	switch {
	case action != "" && action != "call" && action != "describe":
		return textResult(`action must be "tools", "describe" or "call".`, true), nil
	case tool == nil:
		return textResult(c.opts.noTool(listed, name)+" Use action tools.", true), nil
	case action == "describe":
		return textResult(string(tool.JSON())+"\n\n"+listed.Instructions, false), nil
	}
	args, problem := gatewayArgs(o)
	if problem != "" {
		return textResult(problem, true), nil
	}
	in.Tool, in.Args = tool.Name, args
	r, err := c.Call(ctx, in)
	if err == nil && r.IsError {
		o, _ := rawjson.SplitObject(r.Raw) // it says that it is an error
		r.Raw = o.With("content", rawjson.Array(append(r.Content(), textBlock(gatewayHint))...)).JSON()
	}
	return r, err
}

// behind returns the tool that a call of the gateway is of, and its arguments; nil if it is of none.
func behind(listed *catalogue.Catalogue, raw json.RawMessage) (*catalogue.Tool, json.RawMessage) {
	o, err := rawjson.Parse(raw)
	if action := o.Str("action"); err != nil || listed == nil || action != "" && action != "call" {
		return nil, raw
	}
	args, problem := gatewayArgs(o)
	if problem != "" {
		return nil, raw
	}
	return listed.Lookup(o.Str("tool")), args
}

// gatewayArgs extracts a tool's arguments from those of the gateway.
func gatewayArgs(o rawjson.Object) (args json.RawMessage, problem string) {
	args = o.Some("arguments")
	raw := o.Some("arguments_json")
	if raw == nil {
		if args == nil {
			return nil, ""
		}
		if _, err := rawjson.SplitObject(args); err != nil {
			return nil, "arguments must be an object; use arguments_json for a string."
		}
		return args, ""
	}
	if args != nil && strings.Join(strings.Fields(string(args)), "") != "{}" {
		return nil, "Give arguments or arguments_json, not both."
	}
	s, err := rawjson.Text(raw)
	if err != nil {
		return nil, "arguments_json must be a string that holds a JSON object."
	}
	if _, err := rawjson.Parse([]byte(s)); err != nil {
		return nil, "arguments_json: " + err.Error() + "."
	}
	return rawjson.OneLine([]byte(s)), ""
}

func toolLines(c *catalogue.Catalogue) string {
	var b strings.Builder
	for i := range c.Tools {
		t := &c.Tools[i]
		about, _, _ := strings.Cut(t.Description, "\n")
		if stop := strings.Index(about, ". "); stop > 0 {
			about = about[:stop+1]
		}
		fmt.Fprintf(&b, "%s: %s\n", t.Name, sanitize.Cut(sanitize.Line(about), 160))
	}
	return b.String()
}
