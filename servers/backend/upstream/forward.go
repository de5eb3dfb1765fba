package upstream

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// Forward sends the server a request other than a tool call and returns the result. The
// error is the server's, an *[rpc.Error], that of ctx, or one whose text is meant for the
// agent.
func (c *Card) Forward(ctx context.Context, method string, params rawjson.Object, in Call) (json.RawMessage, error) {
	in.Args, in.More = nil, nil
	r := c.request(ctx, method, in)
	r.params = params
	if err := r.enter(isUsable); err != nil {
		return nil, err
	}
	answer, err := r.roundTrip(r.reply)
	return answer.Raw, err
}

// isUsable checks that anything is offered.
func isUsable(now *Published) error {
	_, err := now.usable()
	return err
}

// reply returns the result of a request other than a tool call.
func (c *call) reply(o Outcome) (Result, error) {
	text := c.trouble(o)
	switch own, ok := errors.AsType[*rpc.Error](o.Err); {
	case ok:
		return Result{}, own
	case text != "":
		return Result{}, &refusal{text}
	case o.Err != nil:
		return Result{}, &refusal{c.unreached(o.Err)}
	}
	return Result{Raw: o.Raw}, nil
}

// Watch subscribes to a resource, or unsubscribes. If several agents subscribe through one
// child, only the last to unsubscribe ends the subscription.
func (c *Card) Watch(ctx context.Context, uri string, on bool, params rawjson.Object, in Call) (json.RawMessage, error) {
	done := json.RawMessage("{}")
	w := &waiter{card: c, from: in.From}
	defer w.release()
	if err := w.reach(ctx, isUsable); err != nil {
		return nil, err
	}
	to, l := w.slot, w.child
	if l.Era() == child.Modern { // the host's call of Wants tells the child
		return done, nil
	}
	c.mu.Lock()
	others := c.watched(to, uri, in.From.Agent)
	c.mu.Unlock()
	if others {
		return done, nil
	}
	method := unsubscribe
	if on {
		method = subscribe
	}
	raw, err := c.Forward(ctx, method, params, in)
	if err == nil {
		l.heeded.mu.Lock()
		l.heeded.watch(uri, on)
		l.heeded.mu.Unlock()
	}
	return raw, err
}
