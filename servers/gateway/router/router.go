package router

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/inproc"
	"github.com/mcpdeck/mcpdeck/servers/gateway/calllog"
	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Router is the part of a module that answers requests as they came, for a server that
// takes them as they are: params and results stay the bytes that came.
//
// The host asks it for what the [Offer] lists as a definition without a handler, and
// for what Owns. It records the calls, has them wait for their turn and refuses them,
// as those of any other module. Serve must return once its context ends.
type Router interface {
	// Owns tells whether the module answers for something that it does not list: an
	// address that fits one of its templates, a task it has begun, a tool that is called
	// by a name from elsewhere. It must not wait.
	Owns(kind backend.Kind, key string) bool
	// Serve answers a request. What it wants to say meanwhile goes through its Client.
	Serve(ctx context.Context, r *backend.Request) backend.Reply
}

// failedWith is the reply to a request whose handler returned an error.
func failedWith(err error) backend.Reply {
	if chosen, ok := errors.AsType[*rpc.Error](err); ok {
		if raw, err := rpc.Raw(chosen); err == nil {
			return backend.Reply{Error: raw}
		}
	}
	return backend.Failed(rpc.CodeInternal, err.Error())
}

// The requests that are for servers, and known here.
const (
	toolsCall    = "tools/call"
	readResource = "resources/read"
)

// route is who answers a request.
type route struct {
	module *registration
	router Router
	work   admission.Class
	tool   Tool
}

// own reports whether a server of the deck's own answers.
func (to route) own() bool {
	if s, ok := to.router.(*served); ok {
		return !s.Info().Foreign
	}
	_, own := to.router.(*inproc.Server)
	return own
}

// Route decides at once who answers a request, and returns how. A connection has its requests
// routed in the order in which they came.
func (v *View) Route(ctx context.Context, r *backend.Request) func(context.Context) backend.Reply {
	answer := func(reply backend.Reply) func(context.Context) backend.Reply {
		return func(context.Context) backend.Reply { return reply }
	}
	q := requestFrom(ctx)
	if q == nil {
		return answer(backend.Failed(rpc.CodeInternal, "the request belongs to no connection"))
	}
	q.takes(r)
	if reply := unfit(r); reply != nil {
		return answer(*reply)
	}
	if own := v.own(q, r); own != nil {
		return own
	}
	l := v.listing.Load()
	r.Passthrough = v.Spec.AsIs
	if l.finder != nil && r.Kind == backend.Tool && r.Key == callName {
		return func(ctx context.Context) backend.Reply { return v.called(ctx, l, r) }
	}
	to, ok := l.routes[r.Kind][r.Key]
	if !ok {
		to, ok = v.owner(l, r)
	}
	switch {
	case ok && to.router != nil:
		return func(ctx context.Context) backend.Reply { return to.serve(ctx, v, r) }
	case r.Method == toolsCall:
		return func(ctx context.Context) backend.Reply { return v.unlisted(ctx, r) }
	case r.Method == subscribe, r.Method == unsubscribe:
		return func(context.Context) backend.Reply { return q.agent.watches(r) }
	}
	return answer(v.nobodys(r))
}

// nobodys answers a request for what no server has.
func (v *View) nobodys(r *backend.Request) backend.Reply {
	switch r.Method {
	case "prompts/get":
		return backend.Failed(rpc.CodeParams, fmt.Sprintf("prompt '%s' not found", r.Key))
	case readResource:
		e := rpc.Error{Code: codeResource, Message: fmt.Sprintf("resource '%s' not found", r.Key), Data: map[string]string{"uri": r.Key}}
		if r.Stateless() {
			e.Code = rpc.CodeParams
		}
		return failedWith(&e)
	case "completion/complete":
		ref, _ := rawjson.SplitObject(r.Params.Get("ref")) // anything else is none
		if of := ref.Str("type"); of != "ref/prompt" && of != "ref/resource" {
			return backend.Failed(rpc.CodeInvalid, fmt.Sprintf("unknown reference type: %s", of))
		}
		result := json.RawMessage(`{"completion":{"values":[]}}`)
		if r.Stateless() {
			result = v.complete(r.Method, result, false)
		}
		return backend.Reply{Result: result}
	}
	return backend.Failed(rpc.CodeMethod, fmt.Sprintf("method %s not found", r.Method))
}

// owner finds the module that answers for what no module lists.
func (v *View) owner(l *listing, r *backend.Request) (to route, ok bool) {
	if r.Kind == "" || r.Kind == backend.Method && len(v.all()) > 1 {
		return to, false
	}
	if r.Kind == backend.Tool {
		if text, _ := v.refusal(r.Key); text != "" {
			return to, false
		}
	}
	if to, ok = l.whose(r.Kind, r.Key); !ok && (r.Kind == backend.Resource || r.Kind == backend.Task) && len(v.all()) == 1 {
		to, ok = l.whose(backend.Method, r.Method) // there is nobody else to ask
	}
	return to, ok
}

// whose finds the module that owns something.
func (l *listing) whose(kind backend.Kind, key string) (to route, ok bool) {
	for _, to := range l.routers {
		owns := false
		_ = recovery.Call("router of "+to.module.id.Name, func() error { owns = to.router.Owns(kind, key); return nil })
		if owns {
			return to, true
		}
	}
	return to, false
}

// unlisted answers a call of a tool that is unknown or turned off.
func (v *View) unlisted(ctx context.Context, r *backend.Request) backend.Reply {
	c := calllog.Request{Tool: r.Key, Args: r.Args, Redact: v.host.redactOf(r.Key)}
	if text, module := v.refusal(r.Key); text != "" {
		c.Server = module
		return v.refuse(ctx, c, text)
	}
	why := v.unknown(r.Key)
	if q := requestFrom(ctx); q != nil {
		v.host.calls.Begin(&q.agent.figures, q.agent.Caller(), c).End(snapshot.Refused, nil, why)
	}
	return backend.Failed(rpc.CodeParams, why)
}

// serve answers a request in its turn.
func (to route) serve(ctx context.Context, v *View, r *backend.Request) backend.Reply {
	q := requestFrom(ctx)
	if q == nil {
		return backend.Failed(rpc.CodeInternal, "the request belongs to no connection")
	}
	var reply backend.Reply
	var err error
	if r.Method == toolsCall {
		c := calllog.Request{Server: to.module.id.Name, Tool: r.Key, Args: r.Args, Redact: to.tool.Redact}
		reply, err = record(ctx, q, to, c, r)
	} else {
		during, done := to.module.withRemoval(ctx)
		defer done()
		reply, err = admitted(during, q.agent.host, to.work, func() (reply backend.Reply, err error) {
			err = recovery.Call(r.Method, func() (err error) { reply, err = to.answer(during, q, r); return err })
			return reply, err
		})
		if text := removalError(during); text != "" && reply.Result == nil {
			return backend.Failed(rpc.CodeInternal, text)
		}
	}
	switch {
	case err != nil:
		return failedWith(err)
	case reply.Result == nil && reply.Error == nil:
		return backend.Failed(rpc.CodeInternal, to.module.id.Title+" did not answer")
	}
	if on := r.Method == subscribe; (on || r.Method == unsubscribe) && reply.Error == nil {
		q.agent.watch(r.Key, on)
	}
	if r.Stateless() && reply.Result != nil {
		reply.Result = v.complete(r.Method, reply.Result, to.own())
	}
	return compactJSON(reply)
}

// answer has the server answer a request.
func (to route) answer(ctx context.Context, q *request, r *backend.Request) (backend.Reply, error) {
	call := backend.Call{Caller: q.agent.Caller(), Deck: q}
	life := q.agent.host.ctx
	if to.module.gone != nil {
		life = to.module.gone.ctx
	}
	return q.agent.host.rounds.serve(backend.WithCall(ctx, call), life, r, to.router.Serve)
}

// complete gives a result what every client of 2026-07-28 must find in it, and what a
// server of an earlier protocol did not give. A server of the deck's own has said who it is,
// but the view's is another name.
func (v *View) complete(method string, result json.RawMessage, own bool) json.RawMessage {
	o, err := rawjson.SplitObject(result)
	if err != nil {
		return result
	}
	n := len(o)
	o = setDefault(o, "resultType", `"complete"`)
	if method == readResource {
		o = setDefault(setDefault(o, "ttlMs", "0"), "cacheScope", `"private"`)
	}
	meta, err := rawjson.SplitObject(o.Get("_meta"))
	if own {
		replace(meta, serverInfoKey, json.RawMessage(v.serverInfo()))
		replace(o, "_meta", meta.JSON())
		n = -1 // changed
	}
	whose := setDefault(meta, serverInfoKey, v.serverInfo())
	switch {
	case o.Get("_meta") == nil:
		o = setDefault(o, "_meta", string(whose.JSON()))
	case err == nil && len(whose) > len(meta):
		o = slices.Clone(o)
		o[slices.IndexFunc(o, func(m rawjson.Member) bool { return m.Key == "_meta" })].Value = whose.JSON()
	case len(o) == n:
		return result
	}
	return o.JSON()
}

// setDefault is an object with a member more, unless it has one of that name. It is put before
// those behind it in the alphabet.
func setDefault(o rawjson.Object, key, value string) rawjson.Object {
	if o.Get(key) != nil {
		return o
	}
	at := slices.IndexFunc(o, func(m rawjson.Member) bool { return m.Key > key })
	if at < 0 {
		at = len(o)
	}
	return slices.Insert(slices.Clone(o), at, rawjson.Member{Key: key, Value: json.RawMessage(value)})
}

// compactJSON makes a reply fit a line, which those of other servers need not be.
func compactJSON(r backend.Reply) backend.Reply {
	for _, raw := range []*json.RawMessage{&r.Result, &r.Error} {
		if bytes.ContainsAny(*raw, "\r\n") {
			var b bytes.Buffer
			if json.Compact(&b, *raw) == nil {
				*raw = b.Bytes()
			}
		}
	}
	return r
}
