package router

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/calllog"
	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// The requests that are for servers, and known here.
const (
	toolsCall    = "tools/call"
	readResource = "resources/read"
)

// route is who answers a request.
type route struct {
	module *registration
	by     answerer
	load   admission.Class
	tool   backend.ToolDefinition
}

// own reports whether the deck answers, or a server of its own.
func (to route) own() bool { return to.module != nil && !to.module.id.Foreign }

// Route decides at once who answers a request of an agent, and returns how. The requests of a
// connection are routed in the order in which they came.
func (v *View) Route(a *Agent, r *backend.Request) func(context.Context) backend.Reply {
	answer := func(reply backend.Reply) func(context.Context) backend.Reply {
		return func(context.Context) backend.Reply { return reply }
	}
	q := &request{agent: a, raw: r, client: r.Client}
	r.Client = q // what the server says to the client about the request comes past here
	if r.Stateless {
		r.Capabilities = r.Meta.Get(capabilitiesKey)
	} else {
		a.mu.Lock()
		r.Capabilities, r.Version = a.greeting.Capabilities, a.greeting.Version
		a.mu.Unlock()
	}
	if reply := unfit(r); reply != nil {
		return answer(*reply)
	}
	if r.Kind == "" {
		return v.own(q)
	}
	l := v.listing.Load()
	r.Passthrough = v.Spec.Passthrough
	if l.finder != nil && r.Kind == backend.Tool && r.Key == callName {
		return func(ctx context.Context) backend.Reply { return v.called(ctx, q, l) }
	}
	to, ok := l.routes[r.Kind][r.Key]
	if !ok {
		to, ok = v.owner(l, r)
	}
	r.Ordered = to.tool.Ordered
	switch {
	case ok:
		return func(ctx context.Context) backend.Reply { return v.call(ctx, q, to, r) }
	case r.Method == toolsCall:
		return func(context.Context) backend.Reply { return v.unlisted(q) }
	case r.Method == subscribe, r.Method == unsubscribe:
		return func(context.Context) backend.Reply { return a.watches(r) }
	}
	return answer(v.nobodys(r))
}

// unfit refuses a request that does not say of itself what its era wants, and one of the other
// era.
func unfit(r *backend.Request) *backend.Reply {
	failed := func(code int, text string) *backend.Reply {
		reply := backend.Failed(code, text)
		return &reply
	}
	switch {
	case r.Stateless && !slices.Contains(backend.Versions(), r.Version):
		raw, _ := rpc.Raw(rpc.Error{ // always encodes
			Code: codeVersion, Message: fmt.Sprintf("unsupported protocol version: %q (supported: %v)", r.Version, backend.Versions()),
			Data: struct {
				Supported []string `json:"supported"`
				Requested string   `json:"requested"`
			}{backend.Versions(), r.Version},
		})
		return &backend.Reply{Error: raw}
	case r.Stateless && !isObject(r.Meta.Get(capabilitiesKey)):
		return failed(rpc.CodeParams, "missing or invalid _meta field "+capabilitiesKey)
	case r.Stateless && r.Era == backend.BeforeNewest:
		return failed(rpc.CodeMethod, fmt.Sprintf("%q was removed in protocol version %s", r.Method, backend.Newest))
	case !r.Stateless && r.Era == backend.SinceNewest:
		return failed(rpc.CodeMethod, fmt.Sprintf("%q requires protocol version %s or later", r.Method, backend.Newest))
	}
	return nil
}

// own answers a request about the connection itself.
func (v *View) own(q *request) func(context.Context) backend.Reply {
	r := q.raw
	switch r.Method {
	case initialize:
		return func(context.Context) backend.Reply { return v.greet(q.agent, r) }
	case discover:
		return func(context.Context) backend.Reply { return backend.Reply{Result: v.discovered(q.agent)} }
	case ping:
		return func(context.Context) backend.Reply { return backend.Reply{Result: json.RawMessage("{}")} }
	case setLevel:
		return func(context.Context) backend.Reply { return q.agent.chooses(r.Params.Str("level")) }
	case listening:
		return v.listen(q.agent, r)
	case toolsList, promptsList, resourcesList, templatesList:
		return func(context.Context) backend.Reply { return v.list(q) }
	}
	return func(context.Context) backend.Reply { return v.nobodys(r) }
}

// nobodys answers a request for what no server has.
func (v *View) nobodys(r *backend.Request) backend.Reply {
	switch r.Method {
	case "prompts/get":
		return backend.Failed(rpc.CodeParams, fmt.Sprintf("prompt '%s' not found", r.Key))
	case readResource:
		e := rpc.Error{Code: codeResource, Message: fmt.Sprintf("resource '%s' not found", r.Key), Data: map[string]string{"uri": r.Key}}
		if r.Stateless {
			e.Code = rpc.CodeParams
		}
		raw, _ := rpc.Raw(e) // always encodes
		return backend.Reply{Error: raw}
	case "completion/complete":
		ref, _ := rawjson.SplitObject(r.Params.Get("ref")) // anything else is none
		if of := ref.Str("type"); of != "ref/prompt" && of != "ref/resource" {
			return backend.Failed(rpc.CodeInvalid, fmt.Sprintf("unknown reference type: %s", of))
		}
		result := json.RawMessage(`{"completion":{"values":[]}}`)
		if r.Stateless {
			result = v.complete(r.Method, result, false)
		}
		return backend.Reply{Result: result}
	}
	return backend.Failed(rpc.CodeMethod, fmt.Sprintf("method %s not found", r.Method))
}

// owner finds the server that answers for what no server lists.
func (v *View) owner(l *listing, r *backend.Request) (to route, ok bool) {
	if r.Kind == "" || r.Kind == backend.Method && len(v.all()) > 1 {
		return to, false
	}
	if r.Kind == backend.Tool {
		if text, _ := v.refusal(r.Key); text != "" {
			return to, false
		}
	}
	if to, ok = l.find(r.Kind, r.Key); !ok && (r.Kind == backend.Resource || r.Kind == backend.Task) && len(v.all()) == 1 {
		to, ok = l.find(backend.Method, r.Method) // there is nobody else to ask
	}
	return to, ok
}

// find finds the server that owns something.
func (l *listing) find(kind backend.Kind, key string) (to route, ok bool) {
	for _, to := range l.owners {
		owner, ok := to.by.(backend.Resolver)
		if !ok {
			continue
		}
		owns := false
		_ = recovery.Call("owner "+to.module.id.Name, func() error { owns = owner.Owns(kind, key); return nil })
		if owns {
			return to, true
		}
	}
	return to, false
}

// unlisted answers a call of a tool that is unknown or turned off.
func (v *View) unlisted(q *request) backend.Reply {
	r := q.raw
	c := calllog.Request{Tool: r.Key, Args: r.Args, Redact: v.host.redactOf(r.Key)}
	if text, module := v.refusal(r.Key); text != "" {
		c.Server = module
		return q.refuse(c, text)
	}
	why := v.unknown(r.Key)
	v.host.calls.Begin(&q.agent.figures, q.agent.Caller(), c).End(snapshot.Refused, nil, why)
	return backend.Failed(rpc.CodeParams, why)
}
