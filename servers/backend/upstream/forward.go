package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// Forward sends the server a request other than a tool call and returns the result. The
// error is the server's, an *[rpc.Error], that of ctx, or one whose text is meant for the
// agent.
func (c *Card) Forward(ctx context.Context, method string, params rawjson.Object, in Call) (json.RawMessage, error) {
	told := child.NewSteps(in.Progress)
	defer told.End()
	to, l, leave, err := c.enter(ctx, in.From, told, isUsable)
	if err != nil {
		return nil, err
	}
	in.Args, in.More = nil, nil
	made := &call{card: c, in: in, method: method, params: params, slot: to, child: l, told: told, arrived: time.Now(), cancelled: ctx.Done()}
	return await(ctx, c.opts.Name+" request", func(answer func(json.RawMessage, error)) {
		defer leave()
		o := made.exchange()
		told.End()
		raw, err := made.reply(o)
		leave()
		answer(raw, err)
	})
}

// isUsable checks that anything is offered.
func isUsable(now *Published) error {
	_, err := now.usable()
	return err
}

// reply returns the result of a request other than a tool call.
func (c *call) reply(o Outcome) (json.RawMessage, error) {
	text := c.trouble(o)
	switch own, ok := errors.AsType[*rpc.Error](o.Err); {
	case ok:
		return nil, own
	case text != "":
		return nil, &refusal{text}
	case o.Err != nil:
		return nil, &refusal{c.unreached(o.Err)}
	}
	return o.Raw, nil
}

// Watch subscribes to a resource, or unsubscribes. If several agents subscribe through one
// child, only the last to unsubscribe ends the subscription.
func (c *Card) Watch(ctx context.Context, uri string, on bool, params rawjson.Object, in Call) (json.RawMessage, error) {
	done := json.RawMessage("{}")
	to, l, leave, err := c.enter(ctx, in.From, nil, isUsable)
	if err != nil {
		return nil, err
	}
	leave()
	if l.Era() == child.Modern { // the host's call of Wants tells the child
		return done, nil
	}
	c.mu.Lock()
	others := c.watched(to, uri, in.From.Agent)
	c.mu.Unlock()
	if others {
		return done, nil
	}
	method := "resources/unsubscribe"
	if on {
		method = "resources/subscribe"
	}
	raw, err := c.Forward(ctx, method, params, in)
	if err == nil {
		l.heeded.mu.Lock()
		l.heeded.watch(uri, on)
		l.heeded.mu.Unlock()
	}
	return raw, err
}
