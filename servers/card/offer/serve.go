package offer

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/card"
	"github.com/mcpdeck/mcpdeck/servers/card/child"
	"github.com/mcpdeck/mcpdeck/servers/host"
	"github.com/mcpdeck/mcpdeck/servers/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/rpc"
)

// Wants implements [host.Listener].
func (m *Module) Wants(agent string, w host.Wanted) {
	m.c.Wants(card.From{Agent: agent, Root: w.Root}, card.Wanted{Level: string(w.Level), Resources: w.Resources})
}

// Refresh implements [host.Refresher].
func (m *Module) Refresh() { m.c.Refresh() }

// Owns implements [host.Router].
func (m *Module) Owns(kind backend.Kind, key string) bool {
	switch kind {
	case backend.Resource:
		return m.c.Published().Has(key)
	case backend.Method:
		return m.c.Published().Passes(key)
	default:
		return false
	}
}

// Serve implements [host.Router].
func (m *Module) Serve(ctx context.Context, r *backend.Request) backend.Reply {
	in := m.invocation(ctx, r)
	switch {
	case r.Method == string(mcp.MethodToolsCall) && r.Key == m.c.Options().Gateway.Tool && !r.Passthrough:
		return m.replyTo(m.c.Gateway(ctx, in))
	case r.Method == string(mcp.MethodToolsCall):
		return m.replyTo(m.c.Call(ctx, in))
	case strings.HasPrefix(r.Method, "tasks/") && !r.Passthrough:
		return backend.Failed(rpc.CodeMethod, "method not found")
	}
	params := m.passed(r)
	var result json.RawMessage
	var err error
	switch mcp.MCPMethod(r.Method) {
	case mcp.MethodResourcesSubscribe, mcp.MethodResourcesUnsubscribe:
		result, err = m.c.Watch(ctx, r.Key, r.Method == string(mcp.MethodResourcesSubscribe), params, in)
	default:
		result, err = m.c.Forward(ctx, r.Method, params, in)
	}
	if err != nil {
		return m.failed(err)
	}
	return backend.Reply{Result: result}
}

// passed returns the params for the server of a request that is not a tool call: without
// _meta, and with the server's name for a prompt.
func (m *Module) passed(r *backend.Request) rawjson.Object {
	params := slices.DeleteFunc(slices.Clone(r.Params), func(p rawjson.Member) bool { return p.Key == "_meta" })
	listed := m.c.Published().Catalogue()
	if r.Kind != backend.Prompt || r.Passthrough || listed == nil || listed.Prompt(r.Key) == nil {
		return params
	}
	own := rawjson.Quote(listed.Prompt(r.Key).Original)
	for i, p := range params {
		switch p.Key {
		case "name":
			params[i].Value = own
		case "ref":
			ref, _ := rawjson.SplitObject(p.Value) // valid: the prompt was found by it
			ref = slices.Clone(ref)
			for j := range ref {
				if ref[j].Key == "name" {
					ref[j].Value = own
				}
			}
			params[i].Value = ref.JSON()
		}
	}
	return params
}

// invocation converts a request for the domain. What _meta has for the connection between
// agent and deck is not passed to the server.
func (m *Module) invocation(ctx context.Context, r *backend.Request) card.Invocation {
	from := host.CallerFrom(ctx)
	in := card.Invocation{
		Tool: r.Key, AsIs: r.Passthrough, Modern: r.Stateless(), Agent: from.Name(), From: card.From{Agent: from.Agent, Root: from.Root},
		WaitForUser: func() func() { return host.WaitForUser(ctx) },
		Said:        func(method string, params json.RawMessage) { _ = host.NotifyRaw(ctx, method, params) }, // it may be gone
	}
	if r.Stateless() {
		in.From.Answers = declared(r.Meta)
	} else if in.From.Answers = answers(host.Answers(ctx)); in.From.Answers != (card.Answers{}) {
		in.Ask = func(during context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
			asking, cancel := context.WithCancel(context.WithoutCancel(ctx))
			defer cancel()
			defer context.AfterFunc(during, cancel)()
			return host.Ask(asking, method, params)
		}
	}
	for _, p := range r.Params {
		switch p.Key {
		case "name", "_meta":
		case "arguments":
			in.Args = r.Params.Some(p.Key)
		case "task": // only in a view of the server as it is
			if r.Passthrough {
				in.More = append(in.More, p)
			}
		default:
			in.More = append(in.More, p)
		}
	}
	var rest rawjson.Object
	for _, f := range r.Meta {
		switch {
		case f.Key == "progressToken":
			in.Progress = func(p child.Progress) { m.step(ctx, f.Value, p) }
		case !slices.Contains(ofTheHop(), f.Key) && !strings.HasPrefix(f.Key, "mcpdeck/"):
			rest = append(rest, f)
		}
	}
	if len(rest) > 0 {
		in.Meta = rest.JSON()
	}
	return in
}

// answers returns which requests of a server a client answers, as it has declared.
func answers(can mcp.ClientCapabilities) (a card.Answers) {
	if e := can.Elicitation; e != nil {
		a.Forms, a.Pages = e.Form != nil || e.URL == nil, e.URL != nil // forms are older than pages and the default
	}
	if can.Sampling != nil {
		raw, _ := rpc.Raw(can.Sampling) // always encodes
		a.Sampling = string(raw)
	}
	return a
}

// declared returns which requests of a server a client of the newer era answers, as it has
// declared with a request.
func declared(meta rawjson.Object) card.Answers {
	var can mcp.ClientCapabilities
	if json.Unmarshal(meta.Get(mcp.MetaKeyClientCapabilities), &can) != nil {
		return card.Answers{}
	}
	a := answers(can)
	a.Roots = can.Roots != nil
	return a
}

// ofTheHop lists the members of _meta that are about the connection between agent and
// deck.
func ofTheHop() []string {
	return []string{mcp.MetaKeyProtocolVersion, mcp.MetaKeyClientInfo, mcp.MetaKeyClientCapabilities}
}

// step reports progress to the agent: the server's own message with another token.
func (m *Module) step(ctx context.Context, token json.RawMessage, p child.Progress) {
	if p.Raw != nil && !m.o.Plain {
		_ = host.NotifyRaw(ctx, "notifications/progress", withToken(p.Raw, token)) // the agent may be gone
		return
	}
	params := map[string]any{"progressToken": token, "progress": p.Value}
	if p.Total > 0 {
		params["total"] = p.Total
	}
	if p.Message != "" {
		params["message"] = p.Message
	}
	_ = host.Notify(ctx, "notifications/progress", params) // the agent may be gone
}

// withToken replaces the deck's token by the agent's.
func withToken(params, token json.RawMessage) json.RawMessage {
	parts, _, _ := rawjson.Split(params) // valid: it was read before
	for _, p := range parts {
		if p.Key == "progressToken" {
			return slices.Concat(params[:p.From], token, params[p.To:])
		}
	}
	return params
}

// replyTo converts the outcome of a call for the agent.
func (m *Module) replyTo(result card.Result, err error) backend.Reply {
	switch {
	case err != nil:
		return m.failed(err)
	case m.o.Plain:
		return backend.Reply{Result: plain(result)}
	}
	return backend.Reply{Result: result.JSON()}
}

// codeCapability is the error code for a client that has not declared a capability which
// the server needs.
const codeCapability = -32021

// failed converts an error for the agent; the server's own is not changed.
func (m *Module) failed(err error) backend.Reply {
	own, ok := errors.AsType[*rpc.Error](err)
	switch {
	case ok && own.Code <= -32020 && own.Code >= -32022 && !(own.Code == codeCapability && m.c.Options().Declares()):
		// They are about headers and versions of the deck's own connection to the server.
		return backend.Failed(rpc.CodeInternal, m.c.Options().Title+": "+own.Message)
	case ok && own.Raw != nil:
		return backend.Reply{Error: own.Raw}
	case ok:
		return backend.Failed(own.Code, own.Message)
	}
	return backend.Failed(rpc.CodeInternal, err.Error())
}

// plain rebuilds a result from the members that every client knows.
func plain(r card.Result) json.RawMessage {
	var o rawjson.Object
	if r.Meta != nil {
		o = append(o, rawjson.Member{Key: "_meta", Value: r.Meta})
	}
	content := json.RawMessage{'['}
	for i, block := range r.Content {
		if i > 0 {
			content = append(content, ',')
		}
		content = append(content, block...)
	}
	content = append(content, ']')
	o = append(o, rawjson.Member{Key: "content", Value: content})
	if r.IsError {
		o = append(o, rawjson.Member{Key: "isError", Value: json.RawMessage("true")})
	}
	if r.Structured != nil {
		o = append(o, rawjson.Member{Key: "structuredContent", Value: r.Structured})
	}
	return o.JSON()
}
