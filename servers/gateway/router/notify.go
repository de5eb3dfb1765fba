package router

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// Outlet is a session that carries what a request says on the request's own stream.
type Outlet interface {
	Open(ctx context.Context) // before anything is said; ctx is that of the request
	Drain()                   // until everything that was said is written
}

// outletOf returns the outlet of the request of ctx, nil if its transport needs none.
func outletOf(ctx context.Context) Outlet {
	o, _ := server.ClientSessionFromContext(ctx).(Outlet)
	return o
}

// drained is a hook of the library, before a reply.
func drained(ctx context.Context) {
	if o := outletOf(ctx); o != nil {
		o.Drain()
	}
}

// progress shows how far the call of the request is, if a notification says so.
func (q *request) progress(method string, params map[string]any) {
	if method != "notifications/progress" {
		return
	}
	done, _ := params["progress"].(float64)
	total, _ := params["total"].(float64)
	if raw, ok := params[RawMember].(rawParams); ok {
		var p struct{ Progress, Total float64 }
		_ = json.Unmarshal(raw, &p) // what is no number is not shown
		done, total = p.Progress, p.Total
	}
	q.mu.Lock()
	r := q.call
	q.mu.Unlock()
	if r != nil && total > 0 {
		r.Progress(done, total)
	}
}

// Notify sends a notification about the request of ctx to its client, before the result of
// the request.
func Notify(ctx context.Context, method string, params map[string]any) error {
	var s *server.MCPServer
	if q := requestFrom(ctx); q != nil {
		q.progress(method, params)
		s = q.server
	}
	if s == nil {
		s = server.ServerFromContext(ctx)
	}
	if s == nil {
		return nil
	}
	if err := s.SendNotificationToClient(ctx, method, params); err != nil {
		return fmt.Errorf("notify the client: %w", err)
	}
	return nil
}

// NotifyRaw is [Notify] with params that go out as they are. A log message that the
// agent does not want is none that goes out.
func NotifyRaw(ctx context.Context, method string, params json.RawMessage) error {
	if q := requestFrom(ctx); q != nil && method == logMessage && !levelOf(params).ShouldSendTo(q.level()) {
		return nil
	}
	return Notify(ctx, method, wrapped(params))
}

// rawParams are params on their way through the library, which would sort and escape
// them. As JSON they are a string, which the transport replaces.
type rawParams []byte

// RawMember is where they lie among the params that the library encodes.
const RawMember = "mcpdeck/raw"

func (p rawParams) MarshalText() ([]byte, error) {
	return base64.StdEncoding.AppendEncode(nil, p), nil
}

func wrapped(params json.RawMessage) map[string]any {
	return map[string]any{RawMember: rawParams(oneLine(backend.Reply{Result: params}).Result)}
}

// RawParams are the params of a notification that go out as they are, nil if it has
// none such.
func RawParams(n mcp.JSONRPCNotification) json.RawMessage {
	p, _ := n.Params.AdditionalFields[RawMember].(rawParams)
	return json.RawMessage(p)
}

// Unwrap returns the params of an encoded notification as they go out. What the library
// has put into their _meta stays. Other params are returned as they are.
func Unwrap(params json.RawMessage) json.RawMessage {
	o, err := rawjson.SplitObject(params)
	if err != nil || o.Get(RawMember) == nil {
		return params
	}
	raw, err := base64.StdEncoding.DecodeString(o.Str(RawMember))
	if err != nil {
		return params
	}
	meta, _ := rawjson.SplitObject(o.Get("_meta")) // it may have none
	return WithMeta(raw, meta)
}

// WithMeta adds members to the _meta of params; all else stays as it is.
func WithMeta(params json.RawMessage, more rawjson.Object) json.RawMessage {
	if len(more) == 0 {
		return params
	}
	parts, open, err := rawjson.Split(params)
	if err != nil || open != '{' && len(params) > 0 {
		return params
	}
	for _, p := range parts {
		if p.Key == "_meta" && params[p.From] == '{' {
			return insert(params, p.From+1, more, params[p.From:p.To])
		}
	}
	meta := append(append(json.RawMessage(nil), `{"_meta":`...), insert(json.RawMessage("{}"), 1, more, json.RawMessage("{}"))...)
	if len(parts) == 0 {
		return append(meta, '}')
	}
	return append(append(meta, ','), params[1:]...)
}

// insert puts members at the beginning of the object within raw whose inside begins
// at a place.
func insert(raw json.RawMessage, at int, more rawjson.Object, object json.RawMessage) json.RawMessage {
	out := append(json.RawMessage(nil), raw[:at]...)
	for i, m := range more {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, rawjson.Quote(m.Key)...), ':'), m.Value...)
	}
	if inside, _, err := rawjson.Split(object); err == nil && len(inside) > 0 {
		out = append(out, ',')
	}
	return append(out, raw[at:]...)
}

// Asker is the session of a transport that carries requests to its client as they are.
type Asker interface {
	Ask(ctx context.Context, method string, params json.RawMessage) (result json.RawMessage, err error)
	GetClientCapabilities() mcp.ClientCapabilities // as declared
}

// Ask sends a request to the client whose request ctx is, as it is, and waits for the
// result. An error of the client's is an *[rpc.Error]. Clients of 2026-07-28 take none:
// they are asked by a result that requires input.
func Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	a := askerFrom(ctx)
	if a == nil {
		return nil, backend.ErrCannotAsk
	}
	return a.Ask(ctx, method, params)
}

// Answers returns what the client whose request ctx is has declared, none if it cannot be
// asked.
func Answers(ctx context.Context) mcp.ClientCapabilities {
	if a := askerFrom(ctx); a != nil {
		return a.GetClientCapabilities()
	}
	return mcp.ClientCapabilities{}
}

type askerKey struct{}

// WithAsker has [Ask] use an Asker in place of the session of ctx.
func WithAsker(ctx context.Context, a Asker) context.Context {
	return context.WithValue(ctx, askerKey{}, a)
}

func askerFrom(ctx context.Context) Asker {
	q := requestFrom(ctx)
	if q == nil || q.raw != nil && q.raw.Stateless() {
		return nil
	}
	if a, ok := ctx.Value(askerKey{}).(Asker); ok {
		return a
	}
	a, _ := server.ClientSessionFromContext(ctx).(Asker)
	return a
}
