package card

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/card/child"
	"github.com/mcpdeck/mcpdeck/servers/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/rpc"
)

// Forward sends the server a request that calls no tool, with these params, and returns
// the result. The error is the server's own, an *[rpc.Error], that of ctx, or a sentence
// for the agent.
func (c *Card) Forward(ctx context.Context, method string, params rawjson.Object, in Invocation) (json.RawMessage, error) {
	told := child.NewSteps(in.Progress)
	defer told.End()
	to, l, leave, err := c.enter(ctx, in.From, told, func(now *moment) error {
		_, err := c.offers(now)
		return err
	})
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

// Passes tells whether a request of a method is passed on now, of which nothing else says
// whose it is.
func (c *Card) Passes(method string) bool {
	off := c.opts.ToolsOnly || c.opts.Catalogue.NoResources && strings.HasPrefix(method, "resources/")
	return !off && c.Listed() != nil
}

// reply is what came of a request that calls no tool.
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

// Watch asks the server to tell of a resource, or not to any more. What several
// agents want of one child ends with the last.
func (c *Card) Watch(ctx context.Context, uri string, on bool, params rawjson.Object, in Invocation) (json.RawMessage, error) {
	done := json.RawMessage("{}")
	to, l, leave, err := c.enter(ctx, in.From, nil, func(now *moment) error {
		_, err := c.offers(now)
		return err
	})
	if err != nil {
		return nil, err
	}
	leave()
	if l.Era() == child.Modern { // it is told when the host says what the agent wants
		return done, nil
	}
	if c.watchedBy(to, uri, in.From.Agent) {
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

// watchedBy tells whether agents that a slot serves, but for one, want to be told of a
// resource.
func (c *Card) watchedBy(s *slot, uri, but string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for agent, w := range c.wanted {
		if agent != but && c.isFor(s, agent) && slices.Contains(w.Resources, uri) {
			return true
		}
	}
	return false
}
