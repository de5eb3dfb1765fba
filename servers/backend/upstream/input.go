package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// inputRequired is the type of a result by which a server of the newer era asks its client.
const inputRequired = "input_required"

const (
	maxRounds  = 32                     // of input requests by the server for one request
	roundPause = time.Second            // before repeating a request for which the server was too busy
	lookLeast  = 100 * time.Millisecond // minimum interval for polling a task
)

// asks reports whether a server of the newer era asks for input.
func (c *call) asks(o Outcome) bool {
	return !c.card.opts.ToolsOnly && c.child.Era() == child.Modern && o.parts.Str("resultType") == inputRequired
}

// exchange answers the server's input requests: a server of the newer era returns them as a
// result, and the request is sent again with the answers.
func (c *call) exchange(o Outcome) Outcome {
	for range maxRounds {
		if c.withdrawn || !c.asks(o) {
			return o
		}
		r := o.parts
		if c.in.Modern && c.card.opts.passedWith(c.in.From).toAll(r.Get("inputRequests")) {
			return o // the agent answers with its next request
		}
		responses, err := c.provide(r.Get("inputRequests"))
		if err != nil {
			o.Raw, o.Err = nil, err
			return o
		}
		c.in.More = c.in.More.Without("inputResponses", "requestState")
		if responses != nil {
			c.in.More = append(c.in.More, rawjson.Member{Key: "inputResponses", Value: responses})
		} else if !c.pause(roundPause) {
			return o
		}
		if state := r.Get("requestState"); state != nil {
			c.in.More = append(c.in.More, rawjson.Member{Key: "requestState", Value: state})
		}
		c.tell()
		o = c.send()
	}
	return o
}

// provide answers input requests, keyed by the server's names for them; nil if there are none.
func (c *call) provide(requests json.RawMessage) (json.RawMessage, error) {
	all, err := rawjson.SplitObject(requests)
	if err != nil || len(all) == 0 {
		return nil, nil //nolint:nilerr // it asks for nothing that can be read
	}
	var out rawjson.Object
	for _, r := range all {
		about, err := rawjson.SplitObject(r.Value)
		if err != nil {
			return nil, fmt.Errorf("it asks for something that is %w", err)
		}
		result, err := c.input(r.Key, about.Str("method"), about.Get("params"))
		if err != nil {
			return nil, err
		}
		out = append(out, rawjson.Member{Key: r.Key, Value: result})
	}
	return out.JSON(), nil
}

// input answers one input request of a server of the newer era.
func (c *call) input(name, method string, params json.RawMessage) (json.RawMessage, error) {
	l, o := c.child, &c.card.opts
	switch {
	case method == listRoots && !o.NoRoots:
		return l.roots(), nil
	case method == elicit && o.Elicit != nil:
		e, why := elicitation(params, true)
		if why != "" {
			return nil, errors.New(why)
		}
		e.PID, e.Calls = l.PID, []Call{c.in}
		return c.answer(name, func(ctx context.Context) (json.RawMessage, told, error) { return l.fill(ctx, e) })
	case method == elicit && o.ElicitAgent, method == sample && o.SampleAgent:
		can := o.passedWith(c.in.From)
		return c.answer(name, func(ctx context.Context) (json.RawMessage, told, error) {
			raw, err := l.passOn(ctx, can, method, params, []Call{c.in})
			return raw, nil, err
		})
	}
	return nil, fmt.Errorf("it asks for %s, which mcpdeck does not answer", method)
}

// answer waits for the answer to an input request of a server of the newer era.
func (c *call) answer(name string, ask func(context.Context) (json.RawMessage, told, error)) (json.RawMessage, error) {
	l := c.child
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	id := fmt.Sprintf("%p %s", c, name)
	l.person.mu.Lock()
	l.person.begin(id, cancel)
	l.person.mu.Unlock()
	defer l.person.end(id)
	l.person.join(c)
	defer l.person.leave(c)
	type answer struct {
		raw  json.RawMessage
		told told
		err  error
	}
	done := make(chan answer, 1)
	recovery.Go("form of a child", func() {
		var a answer
		a.err = recovery.Call("form of a child", func() (err error) {
			a.raw, a.told, err = ask(ctx)
			return err
		})
		done <- a
	})
	still := time.NewTicker(stillEvery)
	defer still.Stop()
	for {
		select {
		case a := <-done:
			if a.told != nil {
				c.filled = append(c.filled, a.told)
			}
			return a.raw, a.err
		case <-still.C:
			c.told.Note(c.card.opts.Title + " " + l.person.stillText())
		case <-c.ctx.Done():
			c.withdrawn = true
			return nil, context.Canceled
		case <-l.Gone():
			return nil, rpc.ErrGone
		}
	}
}

// tell has those told who filled in the forms whose answers are being sent.
func (c *call) tell() {
	all, l := c.filled, c.child
	c.filled = nil
	if len(all) == 0 {
		return
	}
	recovery.Go("delivery of a form", func() {
		reached := l.Arrives(aliveFor)
		for _, told := range all {
			told(reached)
		}
	})
}

// task follows the task as which a tool runs, and returns its result as if the tool had been
// called directly.
func (c *call) task(o Outcome) Outcome {
	task, err := rawjson.SplitObject(o.parts.Get("task")) // an error has no result
	if err != nil {
		return o // the server answered at once
	}
	id := rawjson.Object{{Key: "taskId", Value: task.Get("taskId")}}
	for {
		switch task.Str("status") {
		case "completed", "failed", "cancelled", "input_required": // input_required: asks meanwhile
			return c.aside("tasks/result", id)
		}
		if text := task.Str("statusMessage"); text != "" {
			c.told.Note(text)
		}
		if !c.pause(max(milliseconds(task.Get("pollInterval")), lookLeast)) {
			if c.withdrawn {
				c.child.ask("tasks/cancel", id)
			}
			return Outcome{Tool: c.tool, Lost: !c.withdrawn}
		}
		o = c.aside("tasks/get", id)
		if task = o.parts; task == nil {
			return o
		}
	}
}

// aside sends another request on behalf of a call.
func (c *call) aside(method string, params rawjson.Object) Outcome {
	other := &call{waiter: c.waiter, in: Call{From: c.in.From, Agent: c.in.Agent, Tool: c.in.Tool, WaitForUser: c.in.WaitForUser}, method: method, params: params, ctx: c.ctx}
	o := other.send()
	o.Tool, c.withdrawn = c.tool, other.withdrawn
	return o
}

// milliseconds parses a number of milliseconds, limited to one minute.
func milliseconds(raw json.RawMessage) time.Duration {
	var n float64
	if json.Unmarshal(raw, &n) != nil {
		return 0
	}
	return time.Duration(min(max(n, 0), 60000)) * time.Millisecond
}
