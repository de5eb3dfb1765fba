package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// The methods that are not passed on as they are.
const (
	toolsCall   = "tools/call"
	subscribe   = "resources/subscribe"
	unsubscribe = "resources/unsubscribe"
)

// Owns implements [backend.Resolver].
func (a *Adapter) Owns(kind backend.Kind, key string) bool {
	switch kind {
	case backend.Resource:
		return a.c.Published().Has(key)
	case backend.Method:
		return a.c.Published().Passes(key)
	default:
		return false
	}
}

// Serve implements [backend.Server].
func (a *Adapter) Serve(ctx context.Context, r *backend.Request) backend.Reply {
	in := invocation(ctx, r, a.o.Plain)
	switch {
	case r.Method == toolsCall && r.Key == a.c.Options().Gateway.Tool && !r.Passthrough:
		return a.replyTo(a.c.Gateway(ctx, in))
	case r.Method == toolsCall && a.isStatus(r):
		return a.replyTo(Text(a.o.Brief()), nil)
	case r.Method == toolsCall:
		return a.replyTo(a.c.Call(ctx, in))
	case strings.HasPrefix(r.Method, "tasks/") && !r.Passthrough:
		return backend.Failed(rpc.CodeMethod, "method not found")
	}
	params := a.passed(r)
	var result json.RawMessage
	var err error
	if r.Method == subscribe || r.Method == unsubscribe {
		result, err = a.c.Watch(ctx, r.Key, r.Method == subscribe, params, in)
	} else {
		result, err = a.c.Forward(ctx, r.Method, params, in)
	}
	if err != nil {
		return a.failed(err)
	}
	return backend.Reply{Result: result}
}

// Called implements [backend.Namer]. Which tool a call of the gateway is of, its arguments say.
func (a *Adapter) Called(r *backend.Request) backend.Called {
	o, listed := a.c.Options(), a.c.Published().Catalogue()
	c := backend.Called{Tool: r.Key, Args: r.Args}
	var tool *catalogue.Tool
	switch {
	case r.Key == o.Gateway.Tool && !r.Passthrough:
		if tool, c.Args = behind(listed, r.Args); tool == nil {
			return c // it lists or describes tools, or fails
		}
	case a.isStatus(r):
		return c
	case listed == nil:
	case r.Passthrough && !a.o.Plain:
		tool = listed.Original(r.Key)
	default:
		tool = listed.Exposed(r.Key)
	}
	if tool != nil {
		c.Tool = tool.Original
	} else if !r.Passthrough {
		c.Tool = strings.TrimPrefix(r.Key, o.Catalogue.Prefix)
	}
	c.Ask = o.Ask != nil && o.Ask(c.Tool)
	return c
}

// isStatus reports whether a call is of the status tool, and not of a tool of that name that
// the server has.
func (a *Adapter) isStatus(r *backend.Request) bool {
	if r.Key != a.c.Options().StatusTool() {
		return false
	}
	listed := a.c.Published().Catalogue()
	switch {
	case listed == nil:
		return true
	case r.Passthrough:
		return a.o.Plain || listed.Original(r.Key) == nil
	}
	return listed.Exposed(r.Key) == nil
}

// passed returns the params for the server of a request that is not a tool call: without
// _meta, and with the server's name for a prompt.
func (a *Adapter) passed(r *backend.Request) rawjson.Object {
	params, listed := r.Params.Without("_meta"), a.c.Published().Catalogue()
	if r.Kind != backend.Prompt || r.Passthrough || listed == nil || listed.Prompt(r.Key) == nil {
		return params
	}
	own := rawjson.Quote(listed.Prompt(r.Key).Original)
	if ref, err := rawjson.SplitObject(params.Get("ref")); err == nil {
		return params.With("ref", ref.With("name", own).JSON())
	}
	return params.With("name", own)
}

// invocation converts a request for the card. What _meta has for the connection between
// agent and deck is not passed to the server. plain rebuilds the server's progress.
func invocation(ctx context.Context, r *backend.Request, plain bool) Call {
	deck := backend.CallFrom(ctx)
	in := Call{
		Tool: r.Key, Passthrough: r.Passthrough, Modern: r.Stateless, Agent: deck.Caller.Name(), From: From{Agent: deck.Caller.Agent, Root: deck.Caller.Root},
		WaitForUser: deck.WaitForUser, Said: r.Client.Notify,
	}
	if in.From.Answers = answers(r); in.From.Answers != (Answers{}) {
		in.Ask = r.Client.Ask
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
			in.Progress = func(p child.Progress) { r.Client.Notify("notifications/progress", progress(p, f.Value, plain)) }
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
func answers(r *backend.Request) (a Answers) {
	can, _ := rawjson.SplitObject(r.Capabilities) // anything else declares nothing
	if raw := can.Some("elicitation"); raw != nil {
		modes, _ := rawjson.SplitObject(raw) // as above
		a.Pages = modes.Some("url") != nil
		a.Forms = modes.Some("form") != nil || !a.Pages // forms are older than pages and the default
	}
	a.Sampling = string(can.Some("sampling"))
	a.Roots = r.Stateless && can.Some("roots") != nil
	return a
}

// ofTheHop lists the members of _meta that are about the connection between agent and
// deck.
func ofTheHop() []string {
	const prefix = "io.modelcontextprotocol/"
	return []string{prefix + "protocolVersion", prefix + "clientInfo", prefix + "clientCapabilities"}
}

// progress are the params of a progress notification for the agent: the server's own with
// another token or, if it is plain or mcpdeck's, made anew.
func progress(p child.Progress, token json.RawMessage, plain bool) json.RawMessage {
	if p.Raw != nil && !plain {
		return withToken(p.Raw, token)
	}
	params := map[string]any{"progressToken": token, "progress": p.Value}
	if p.Total > 0 {
		params["total"] = p.Total
	}
	if p.Message != "" {
		params["message"] = p.Message
	}
	raw, _ := rpc.Raw(params) // always encodes
	return raw
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
func (a *Adapter) replyTo(result Result, err error) backend.Reply {
	switch {
	case err != nil:
		return a.failed(err)
	case a.o.Plain:
		return backend.Reply{Result: plain(result.Raw)}
	}
	return backend.Reply{Result: result.Raw}
}

// codeCapability is the error code for a client that has not declared a capability which
// the server needs.
const codeCapability = -32021

// failed converts an error for the agent; the server's own is not changed.
func (a *Adapter) failed(err error) backend.Reply {
	own, ok := errors.AsType[*rpc.Error](err)
	switch {
	case ok && own.Code <= -32020 && own.Code >= -32022 && !(own.Code == codeCapability && a.c.Options().Declares()):
		// They are about headers and versions of the deck's own connection to the server.
		return backend.Failed(rpc.CodeInternal, a.c.Options().Title+": "+own.Message)
	case ok && own.Raw != nil:
		return backend.Reply{Error: own.Raw}
	case ok:
		return backend.Failed(own.Code, own.Message)
	}
	return backend.Failed(rpc.CodeInternal, err.Error())
}

// plain rebuilds a result from the members that every client knows.
func plain(result json.RawMessage) json.RawMessage {
	r, _ := rawjson.SplitObject(result) // the deck passes on nothing else
	content, _ := rawjson.SplitArray(r.Get("content"))
	r = r.With("content", rawjson.Array(content...))
	var o rawjson.Object
	for _, key := range []string{"_meta", "content", "isError", "structuredContent"} {
		if v := r.Some(key); v != nil && (key != "isError" || r.Flag(key)) {
			o = append(o, rawjson.Member{Key: key, Value: v})
		}
	}
	return o.JSON()
}
