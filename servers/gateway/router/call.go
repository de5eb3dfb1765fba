package router

import (
	"context"
	"errors"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/calllog"
	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// call has a request served: it is logged if it calls a tool, waits for its turn, takes rounds if
// the server asks the client for something, and ends when the server goes. A panic is an error
// for the agent.
func (v *View) call(ctx context.Context, q *request, to route, r *backend.Request) (reply backend.Reply) {
	h, who, what, tool := v.host, q.agent.Caller(), r.Method, r.Method == toolsCall
	if tool {
		what = r.Key
		if h.Closing() {
			return refused("Error: mcpdeck is shutting down; try again in a moment")
		}
		q.call = h.calls.Begin(&q.agent.figures, who, calllog.Request{Server: to.module.id.Name, Tool: r.Key, Args: r.Args, Redact: to.tool.Redact})
	}
	during, life, done := to.module.withRemoval(ctx)
	defer done()
	var err error
	if q.slot, err = h.admission.Enter(during, who.Identity, to.load); err == nil {
		err = recovery.Call(what, func() (err error) {
			defer q.slot.Leave()
			served := backend.WithCall(during, backend.Call{Caller: who, Deck: q})
			reply, err = h.rounds.serve(served, life, r, to.by.Serve)
			return err
		})
	}
	if ctx.Err() == nil {
		reply = to.settled(reply, err, during, tool)
	}
	if tool {
		q.end(ctx, to, reply)
	}
	if on := r.Method == subscribe; (on || r.Method == unsubscribe) && reply.Result != nil {
		q.agent.watch(r.Key, on)
	}
	reply = compactJSON(reply)
	if r.Stateless() && reply.Result != nil {
		reply.Result = v.complete(r.Method, reply.Result, to.own())
	}
	return reply
}

// settled is the reply to a request whose server has answered, or failed, or gone meanwhile. Why a
// tool has failed, the model reads in its result.
func (to route) settled(reply backend.Reply, err error, during context.Context, tool bool) backend.Reply {
	failed := func(code int, text string) backend.Reply {
		if tool {
			return refused(text)
		}
		return backend.Failed(code, text)
	}
	status, _ := statusOf(reply)
	busy, _ := errors.AsType[*admission.Busy](err)
	switch gone := removalError(during); {
	case gone != "" && (err != nil || status != snapshot.OK):
		return failed(rpc.CodeInternal, gone)
	case busy != nil && !tool:
		return backend.Failed(rpc.CodeBusy, err.Error())
	case err != nil && tool:
		return refused("Error: " + err.Error())
	case err != nil:
		return backend.Failed(rpc.CodeInternal, err.Error())
	case reply.Result == nil && reply.Error == nil:
		return backend.Failed(rpc.CodeInternal, to.module.id.Title+" did not answer")
	}
	return reply
}

// end logs how a call of a tool has ended.
func (q *request) end(ctx context.Context, to route, reply backend.Reply) {
	if ctx.Err() != nil {
		q.call.End(snapshot.Cancelled, nil, "cancelled by the agent")
		return
	}
	status, why := statusOf(reply)
	q.call.End(status, to.logged(reply), why)
}
