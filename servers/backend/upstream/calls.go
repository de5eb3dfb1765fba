package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// Call is one request of an agent: a tool call unless stated otherwise.
type Call struct {
	Tool     string               // exposed name
	AsIs     bool                 // names are the server's own, without a prefix
	Args     json.RawMessage      // as received; nil if there are none
	More     rawjson.Object       // other members of the params
	Meta     json.RawMessage      // an object without the agent's progress token; nil if there is none
	Modern   bool                 // the agent speaks protocol version 2026-07-28
	Agent    string               // name of the agent, for the list of calls
	From     From                 // on whose behalf the request is made
	Progress func(child.Progress) // nil if the agent wants no progress; must not block
	// Said passes the server's notifications about the request to the agent. It may be nil
	// and must not block.
	Said func(method string, params json.RawMessage)
	// Ask forwards a request of the server to the agent unchanged. An error that the agent
	// returns is an *[rpc.Error]. Ask may be nil if From says that the agent answers no
	// requests. It may also be called after the request has ended.
	Ask func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
	// WaitForUser records that the call is waiting for the user until done is called. It
	// may be nil.
	WaitForUser func() (done func())
}

// Result is the result of a call for the agent. Its content is the child's own JSON.
type Result struct {
	Raw        json.RawMessage   `json:"-"` // the child's result as received; nil if mcpdeck made the result
	Content    []json.RawMessage `json:"content"`
	Structured json.RawMessage   `json:"structuredContent,omitempty"` // nil if there is none
	Meta       json.RawMessage   `json:"_meta,omitempty"`             // nil if there is none
	IsError    bool              `json:"isError,omitempty"`
}

// JSON returns the result in the protocol's encoding.
func (r Result) JSON() json.RawMessage {
	if r.Raw != nil {
		return r.Raw
	}
	raw, _ := rpc.Raw(r) // cannot fail: all parts are valid JSON
	return raw
}

// Text is a result of mcpdeck's own.
func Text(s string) Result { return textResult(s, false) }

func textResult(s string, isError bool) Result {
	block := append([]byte(`{"type":"text","text":`), rawjson.Quote(s)...)
	return Result{Content: []json.RawMessage{append(block, '}')}, IsError: isError}
}

const (
	stillEvery    = 15 * time.Second // between progress messages to the agent while nothing else happens
	causePatience = time.Second      // how long to wait for the exit of a child whose pipe has closed
	cancelReason  = "the agent cancelled the call"
	cancelGrace   = 10 * time.Second // how long a cancelled request keeps its place while its answer is due
)

// Call makes a tool call. The error is the server's, an *[rpc.Error], or that of ctx. If
// ctx ends, Call returns at once, although the child may still be working on the call.
func (c *Card) Call(ctx context.Context, in Call) (Result, error) {
	told := child.NewSteps(in.Progress)
	defer told.End()
	arrived := time.Now()
	var tool *catalogue.Tool
	offered := func(now *Published) (err error) {
		tool, err = now.tool(in)
		return err
	}
	to, child, leave, err := c.enter(ctx, in.From, told, offered)
	if err != nil {
		return refused(err)
	}
	made := &call{card: c, in: in, method: "tools/call", tool: tool, slot: to, child: child, told: told, arrived: arrived, cancelled: ctx.Done()}
	return await(ctx, c.opts.Name+" call", func(answer func(Result, error)) {
		defer leave()
		made.run(func(r Result, err error) {
			leave() // before answering: the agent may make its next call as soon as it has the answer
			answer(r, err)
		})
	})
}

// enter waits for the child that serves f and for the request's turn. The caller must call
// leave when the request has ended.
func (c *Card) enter(ctx context.Context, f From, told *child.Steps, check func(*Published) error) (to *slot, l *link, leave func(), err error) {
	first, _, err := c.reach(ctx, f, told, check)
	if err != nil {
		return nil, nil, nil, err
	}
	queue := first.queue
	err = queue.Enter(ctx, func(n int) { told.Note(c.opts.waiting(n)) })
	if err != nil {
		c.leave(first)
		return nil, nil, nil, err
	}
	// The child may have been replaced while the request waited.
	to, l, err = c.reach(ctx, f, told, check)
	c.leave(first)
	if err != nil {
		queue.Leave()
		return nil, nil, nil, err
	}
	l.Busy.Add(1)
	c.leave(to)
	return to, l, sync.OnceFunc(func() {
		l.Busy.Add(-1)
		queue.Leave()
		c.mu.Lock()
		to.used = time.Now()
		c.mu.Unlock()
	}), nil
}

// await runs work and returns its answer, or returns when ctx ends; work then continues.
func await[T any](ctx context.Context, name string, work func(answer func(T, error))) (T, error) {
	type ended struct {
		result T
		err    error
	}
	done := make(chan ended, 1)
	recovery.Go(name, func() { work(func(r T, err error) { done <- ended{r, err} }) })
	select {
	case e := <-done:
		return e.result, e.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// refused returns the result of a call that was not made.
func refused(err error) (Result, error) {
	var r *refusal
	if errors.As(err, &r) {
		return textResult(r.text, true), nil
	}
	return Result{}, err
}

// patience returns how long a call waits for the child.
func (o *Options) patience() time.Duration {
	if o.OnDemand {
		return o.Limits.Start + linkPatience // the start of the child has its own time limit
	}
	return linkPatience
}

// call is one request on its way to the child and back.
type call struct {
	card      *Card
	in        Call
	method    string
	tool      *catalogue.Tool // nil if the request is not a tool call
	params    rawjson.Object  // of other requests, without _meta
	slot      *slot
	child     *link
	told      *child.Steps
	arrived   time.Time
	cancelled <-chan struct{}
	withdrawn bool   // the agent stopped waiting
	filled    []told // of forms whose answers go with the next request
}

// Outcome is the outcome of sending a call to the server once.
type Outcome struct {
	Tool     *catalogue.Tool
	Raw      json.RawMessage // the result; nil if there is none
	Err      error           // the server's error, if it returned one
	Lost     bool            // the server has ended
	Deadline bool            // the server did not answer in time
	Took     time.Duration   // excluding time spent waiting for the user
	Age      time.Duration   // of the connection
	For      string          // what the server was started to work with
	Result   Result          // what the agent gets; set for Observe only
}

// run makes the call, passes the result to answer, and records the facts.
func (c *call) run(answer func(Result, error)) {
	began := time.Now()
	o := c.exchange()
	if !c.withdrawn {
		if note, wait := c.card.opts.Hooks.Repeat(o); wait > 0 {
			c.told.Note(note)
			if c.pause(wait) {
				o = c.send()
			}
		}
	}
	var err error
	o.Result, err = c.result(o)
	c.told.End()
	if c.card.opts.Hooks.Observe(o) {
		c.card.update(func() {})
	}
	answer(o.Result, err)
	c.record(o, began)
}

// pause waits for d, and returns false if the agent withdraws or the child ends first.
func (c *call) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.child.Gone():
	case <-c.cancelled:
		c.withdrawn = true
	}
	return false
}

// send sends the call and waits for its answer, its deadline or the end of the child. If
// the agent withdraws, its own wait ends elsewhere; the child keeps its place in the queue,
// because it is still working.
func (c *call) send() (o Outcome) {
	began, before := time.Now(), c.child.person.took()
	// Time that the user takes to answer the child does not count.
	ran := func() time.Duration { return time.Since(began) - (c.child.person.took() - before) }
	defer c.child.person.join(c)()
	o.Tool, o.For = c.tool, c.worksWith()
	defer func() { o.Took, o.Age = ran(), time.Since(c.child.Ready) }()
	ctx, most := context.Background(), c.card.opts.Limits.Call
	var late <-chan time.Time
	if most > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, most)
		defer cancel()
		limit := time.NewTimer(most)
		defer limit.Stop()
		late = limit.C
	}
	meta := c.wantLog()
	req, err := c.child.Start(ctx, c.method, func(id string) []byte { return c.sent(id, meta) }, c.told.Step)
	if err != nil {
		o.Lost = errors.Is(err, rpc.ErrGone)
		o.Deadline = !o.Lost
		return o
	}
	var still <-chan time.Time
	if c.told != nil {
		t := time.NewTicker(stillEvery)
		defer t.Stop()
		still = t.C
	}
	cancelled, silent := c.cancelled, (<-chan time.Time)(nil)
	for {
		select {
		case r := <-req.Reply:
			switch {
			case r.Err == nil:
				o.Raw = r.Result
			case errors.Is(r.Err, rpc.ErrGone), errors.Is(r.Err, child.ErrBroken):
				o.Lost = true
			default:
				o.Err = r.Err
			}
			return o
		case <-late:
			if left := most - ran(); left > 0 {
				late = time.After(max(left, time.Second)) // the clock may be stopped
				continue
			}
			req.Forget()
			c.child.Offer(req.Cancelled(""))
			o.Deadline = true
			return o
		case <-still:
			c.told.Note(c.card.opts.Title + " " + c.child.person.stillText())
		case <-cancelled:
			cancelled, c.withdrawn = nil, true
			c.told.End()
			c.child.Offer(req.Cancelled(cancelReason))
			if most == 0 {
				silent = time.After(cancelGrace)
			}
		case <-silent: // no answer is expected any more
			req.Forget()
			return o
		}
	}
}

// sent returns the params for the child: with its own name for the tool and mcpdeck's
// progress token, and otherwise as received.
func (c *call) sent(id string, meta json.RawMessage) []byte {
	o := c.params
	if c.tool != nil {
		o = rawjson.Object{{Key: "name", Value: rawjson.Quote(c.tool.Original)}}
		if c.in.Args != nil {
			o = append(o, rawjson.Member{Key: "arguments", Value: c.in.Args})
		}
	}
	o = slices.Concat(o, c.in.More)
	if can := c.card.opts.passedWith(c.in.From); c.child.Era() == child.Modern && can.any() {
		meta = child.Declaring(meta, c.card.opts.capabilities(can, `{}`))
	}
	if meta := callMeta(meta, id, c.told != nil); meta != nil {
		o = append(o, rawjson.Member{Key: "_meta", Value: meta})
	}
	return o.JSON()
}

func callMeta(meta json.RawMessage, id string, progress bool) []byte {
	if !progress {
		return meta
	}
	b := []byte(`{"progressToken":"` + id + `"`)
	if o, err := rawjson.Parse(meta); err == nil {
		for _, m := range o {
			if m.Key != "progressToken" {
				b = append(b, ',')
				b = append(b, rawjson.Quote(m.Key)...)
				b = append(b, ':')
				b = append(b, m.Value...)
			}
		}
	}
	return append(b, '}')
}

// Message returns the server's description of what went wrong, or "" if nothing did.
func (o Outcome) Message() string {
	if o.Err != nil {
		return o.Err.Error()
	}
	r, err := rawjson.SplitObject(o.Raw)
	if err != nil || !r.Flag("isError") {
		return ""
	}
	list, ok := rawjson.SplitArray(r.Get("content"))
	if !ok || len(list) == 0 {
		return ""
	}
	first, err := rawjson.SplitObject(list[0])
	if err != nil {
		return ""
	}
	return first.Str("text")
}

// result returns what the agent gets.
func (c *call) result(o Outcome) (Result, error) {
	if text := c.trouble(o); text != "" {
		return textResult(text, true), nil
	}
	if o.Message() != "" || o.Err != nil {
		if text := c.card.opts.Hooks.Explain(o); text != "" {
			return textResult(text, true), nil
		}
	}
	if own := (*rpc.Error)(nil); errors.As(o.Err, &own) {
		return Result{IsError: true}, own
	} else if o.Err != nil {
		return textResult(c.unreached(o.Err), true), nil
	}
	raw, err := rawjson.SplitObject(o.Raw)
	if err != nil {
		return textResult(c.card.opts.Title+" tool error: the answer is "+err.Error(), true), nil
	}
	r := Result{Raw: o.Raw, Structured: raw.Some("structuredContent"), Meta: raw.Some("_meta"), IsError: raw.Flag("isError")}
	if list, ok := rawjson.SplitArray(raw.Get("content")); ok {
		r.Content = list
	}
	return r, nil
}

// trouble describes why the server did not answer; "" if it did.
func (c *call) trouble(o Outcome) string {
	switch {
	case o.Lost && c.closed():
		return closedText
	case o.Lost:
		return c.card.opts.lost(c.cause())
	case o.Deadline:
		return c.card.opts.Texts.Deadline
	}
	return ""
}

func (c *call) unreached(err error) string {
	return c.card.opts.Title + " cannot be " + barred(err) + ": " + err.Error() + "."
}

// cause describes why the child ended; "" if it has not.
func (c *call) cause() string {
	t := time.NewTimer(causePatience)
	defer t.Stop()
	select {
	case <-c.child.Gone():
		return c.child.Cause()
	case <-t.C:
		return ""
	}
}

// closed reports whether the card has been stopped.
func (c *call) closed() bool {
	c.card.mu.Lock()
	defer c.card.mu.Unlock()
	return c.card.life.Err() != nil
}

func (c *call) worksWith() string {
	c.card.mu.Lock()
	defer c.card.mu.Unlock()
	return c.slot.found.For
}
