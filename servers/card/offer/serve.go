package offer

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/card"
	"github.com/mcpdeck/mcpdeck/servers/card/child"
	"github.com/mcpdeck/mcpdeck/servers/host"
	"github.com/mcpdeck/mcpdeck/servers/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/rpc"
)

// Owns implements [host.Router]: what a card answers for it lists.
func (m *Module) Owns(host.Kind, string) bool { return false }

// Serve implements [host.Router].
func (m *Module) Serve(ctx context.Context, r host.Request) host.Reply {
	call := m.c.Call
	if r.Key == m.c.GatewayTool() {
		call = m.c.Gateway
	}
	result, err := call(ctx, invocation(ctx, r))
	return m.replyTo(result, err)
}

// invocation is a request as the domain takes it. What the protocol keeps in
// _meta for the connection between agent and deck does not go to the server.
func invocation(ctx context.Context, r host.Request) card.Invocation {
	params, _ := rawjson.SplitObject(r.Params) // the transport has read it
	who := host.CallerFrom(ctx)
	in := card.Invocation{
		Tool: r.Key, Args: params.Some("arguments"), Agent: who.Name(), From: card.From{Agent: who.Agent, Root: who.Root},
		WaitForUser: func() func() { return host.WaitForUser(ctx) },
	}
	meta, err := rawjson.SplitObject(params.Some("_meta"))
	if err != nil {
		return in
	}
	var rest rawjson.Object
	for _, f := range meta {
		switch {
		case f.Key == "progressToken":
			in.Progress = func(p child.Progress) { step(ctx, f.Value, p) }
		case !strings.HasPrefix(f.Key, "io.modelcontextprotocol/") && !strings.HasPrefix(f.Key, "mcpdeck/"):
			rest = append(rest, f)
		}
	}
	if len(rest) > 0 {
		in.Meta = rest.JSON()
	}
	return in
}

// step tells the agent of progress.
func step(ctx context.Context, token any, p child.Progress) {
	params := map[string]any{"progressToken": token, "progress": p.Value}
	if p.Total > 0 {
		params["total"] = p.Total
	}
	if p.Message != "" {
		params["message"] = p.Message
	}
	_ = host.Notify(ctx, "notifications/progress", params) // the agent may be gone
}

// replyTo is what a call came to as the agent gets it.
func (m *Module) replyTo(result card.Result, err error) host.Reply {
	var own *rpc.Error
	switch {
	case errors.As(err, &own):
		raw, _ := rpc.Raw(*own) // of what was read
		return host.Reply{Error: raw}
	case err != nil:
		return host.Failed(rpc.CodeInternal, err.Error())
	}
	if m.o.Plain {
		return host.Reply{Result: plain(result)}
	}
	return host.Reply{Result: result.JSON()}
}

// plain is a result of the members that every client knows.
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
