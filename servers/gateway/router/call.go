package router

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/calllog"
	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// request is one in flight. It is the client that its server sees, and the server's deck.
type request struct {
	agent  *Agent
	raw    *backend.Request
	client backend.Client // as the transport reaches it

	// These are set before the request is served.
	call *calllog.Record // nil: it calls no tool
	slot *admission.Slot // among the deck's work
}

// Notify implements [backend.Client]. A log message that the agent does not want is none that
// goes out.
func (q *request) Notify(method string, params json.RawMessage) {
	switch method {
	case progressMessage:
		q.progress(params)
	case logMessage:
		p, _ := rawjson.SplitObject(params) // something else has no level
		if !reaches(p.Str("level"), q.level()) {
			return
		}
	}
	q.client.Notify(method, rawjson.OneLine(params))
}

// Ask implements [backend.Client].
func (q *request) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if q.raw.Stateless {
		return nil, backend.ErrCannotAsk
	}
	return q.client.Ask(ctx, method, rawjson.OneLine(params))
}

// level is the least level of log messages that the request's agent wants.
func (q *request) level() string {
	if q.raw.Stateless {
		return q.raw.Meta.Str(logLevelKey)
	}
	q.agent.mu.Lock()
	defer q.agent.mu.Unlock()
	return q.agent.level
}

// progress shows how far the call of the request is.
func (q *request) progress(params json.RawMessage) {
	var p struct{ Progress, Total float64 }
	_ = json.Unmarshal(params, &p) // what is no number is not shown
	if q.call != nil && p.Total > 0 {
		q.call.Progress(p.Progress, p.Total)
	}
}

// WaitForUser implements [backend.Deck].
func (q *request) WaitForUser() (done func()) {
	if q.call == nil {
		return func() {}
	}
	return q.call.Wait()
}

// Yield implements [backend.Deck].
func (q *request) Yield() (back func(context.Context) error) { return q.slot.Yield() }

// Need implements [backend.Deck].
func (q *request) Need(ctx context.Context, bytes int64) error { return q.slot.Grow(ctx, bytes) }

// OnDelivery implements [backend.Deck].
func (q *request) OnDelivery(told func(reached bool)) bool {
	c, ok := q.client.(interface{ OnDelivery(told func(reached bool)) })
	if ok {
		c.OnDelivery(told)
	}
	return ok
}

// call has a request served: it is logged if it calls a tool, waits for its turn, takes rounds if
// the server asks the client for something, and ends when the server goes. A panic is an error
// for the agent.
func (v *View) call(ctx context.Context, q *request, to route, r *backend.Request) (reply backend.Reply) {
	h, what, tool := v.host, r.Method, r.Method == toolsCall
	if tool {
		q.agent.names(r.Meta)
	}
	who := q.agent.Caller()
	if tool {
		what = r.Key
		if h.closing.Load() {
			return refused("Error: mcpdeck is shutting down; try again in a moment")
		}
		kind := to.tool.Redact
		kind.Bare = to.own()
		q.call = h.calls.Begin(&q.agent.figures, who, calllog.Request{Server: to.module.id.Name, Tool: r.Key, Args: r.Args, Redact: kind})
	}
	during, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	life := h.ctx // of the server
	if to.module.gone != nil {
		life = to.module.gone.ctx
		defer context.AfterFunc(life, func() { stop(context.Cause(life)) })()
	}
	if tool {
		h.stops.Store(q.call.ID(), stop)
		defer h.stops.Delete(q.call.ID())
	}
	var err error
	refusal := h.approve(during, q, to, r, who)
	if refusal != nil {
		reply = refusal.reply()
	} else if q.slot, err = h.admission.Enter(during, who.Identity, to.load); err == nil {
		err = recovery.Call(what, func() (err error) {
			defer q.slot.Leave()
			served := backend.WithCall(during, backend.Call{Caller: who, Deck: q})
			if r.Stateless {
				reply, err = h.rounds.serve(served, life, r, to.by.Serve)
			} else {
				reply = to.by.Serve(served, r)
			}
			return err
		})
	}
	status, why := statusOf(reply)
	gone := "" // what the agent reads of a call whose server has gone, or that the user has cancelled
	if e, ok := errors.AsType[*goneError](context.Cause(during)); ok {
		gone = e.text
	}
	if ctx.Err() == nil && (err != nil || gone != "" && status != snapshot.OK || reply.Result == nil && reply.Error == nil) {
		reply = to.failed(gone, err, tool)
		status, why = statusOf(reply)
	}
	switch {
	case tool && ctx.Err() != nil:
		q.call.End(snapshot.Cancelled, nil, "cancelled by the agent")
	case tool && status != snapshot.OK && gone == cancelled:
		q.call.End(snapshot.Cancelled, nil, "cancelled by you")
	case tool:
		q.call.End(status, reply.Result, why)
	}
	if on := r.Method == subscribe; (on || r.Method == unsubscribe) && reply.Result != nil {
		q.agent.watch(r.Key, on)
	}
	reply.Result, reply.Error = rawjson.OneLine(reply.Result), rawjson.OneLine(reply.Error)
	if r.Stateless && reply.Result != nil {
		reply.Result = v.complete(r.Method, reply.Result, to.own())
	}
	return reply
}

// failed is the reply to a request whose server has gone, or failed, or not answered. Why a tool
// has failed, the model reads in its result.
func (to route) failed(gone string, err error, tool bool) backend.Reply {
	busy, _ := errors.AsType[*admission.Busy](err)
	switch {
	case gone != "" && tool:
		return refused(gone)
	case gone != "":
		return backend.Failed(rpc.CodeInternal, gone)
	case busy != nil && !tool:
		return backend.Failed(rpc.CodeBusy, err.Error())
	case err != nil && tool:
		return refused("Error: " + err.Error())
	case err != nil:
		return backend.Failed(rpc.CodeInternal, err.Error())
	}
	return backend.Failed(rpc.CodeInternal, to.module.id.Title+" did not answer")
}

// cancelled is what the agent reads of a call that the user has cancelled.
const cancelled = "The user cancelled this call. It may have taken effect: check before you call again"

// Cancel ends a running call, and reports whether it ran.
func (h *Host) Cancel(call uint64) bool {
	stop, runs := h.stops.Load(call)
	if runs {
		stop.(context.CancelCauseFunc)(&goneError{cancelled})
	}
	return runs
}

// statusOf is what a reply to a call of a tool means for the log; why is said of a request
// that was refused with an error.
func statusOf(r backend.Reply) (status snapshot.CallStatus, why string) {
	if r.Error == nil && r.Result == nil {
		return snapshot.Refused, "no answer"
	}
	if r.Error != nil {
		o, _ := rawjson.SplitObject(r.Error) // something else says nothing
		return snapshot.Refused, o.Str("message")
	}
	o, _ := rawjson.SplitObject(r.Result)
	if o.Flag("isError") {
		return snapshot.ToolError, ""
	}
	return snapshot.OK, ""
}

// said is a reply with a text.
func said(text string) backend.Reply {
	return backend.Reply{Result: json.RawMessage(`{"content":[{"type":"text","text":` + string(rawjson.Quote(text)) + `}]}`)}
}

// refused is a reply in whose result the model reads why there is no other. It has the member
// that newer clients want; older ones do not mind.
func refused(text string) backend.Reply {
	return backend.Reply{Result: json.RawMessage(`{"resultType":"complete","content":[{"type":"text","text":` + string(rawjson.Quote(text)) + `}],"isError":true}`)}
}
