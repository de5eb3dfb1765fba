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
	result, err := m.c.Call(ctx, invocation(ctx, r))
	return replyTo(r, result, err)
}

// invocation is a request as the domain takes it. What the protocol keeps in
// _meta for the connection between agent and deck does not go to the server.
func invocation(ctx context.Context, r host.Request) card.Invocation {
	params, _ := rawjson.SplitObject(r.Params) // the transport has read it
	in := card.Invocation{
		Tool: r.Key, Args: params.Some("arguments"), Agent: host.CallerFrom(ctx).Name(),
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
		in.Meta = object(rest)
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
func replyTo(r host.Request, result card.Result, err error) host.Reply {
	var own *rpc.Error
	switch {
	case errors.As(err, &own):
		raw, _ := rpc.Raw(*own) // of what was read
		return host.Reply{Error: raw}
	case err != nil:
		return host.Failed(rpc.CodeInternal, err.Error())
	}
	raw := result.JSON()
	if o, err := rawjson.SplitObject(raw); r.Modern && err == nil && o.Get("resultType") == nil {
		raw = object(append(o, rawjson.Member{Key: "resultType", Value: json.RawMessage(`"complete"`)}))
	}
	return host.Reply{Result: raw}
}

// object puts members together again.
func object(o rawjson.Object) json.RawMessage {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, rawjson.Quote(m.Key)...), ':'), m.Value...)
	}
	return append(b, '}')
}
