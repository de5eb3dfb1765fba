package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// Call is one request of an agent: a tool call unless stated otherwise.
type Call struct {
	Tool        string               // exposed name
	Passthrough bool                 // names are the server's own, without a prefix
	Args        json.RawMessage      // as received; nil if there are none
	More        rawjson.Object       // other members of the params
	Meta        json.RawMessage      // an object without the agent's progress token; nil if there is none
	Modern      bool                 // the agent speaks protocol version 2026-07-28
	Agent       string               // name of the agent, for the list of calls
	From        From                 // on whose behalf the request is made
	Progress    func(child.Progress) // nil if the agent wants no progress; must not block
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

// Result is the result of a call for the agent, as JSON: the child's own as received, unless
// mcpdeck made it.
type Result struct {
	Raw     json.RawMessage
	IsError bool
}

// Content returns the blocks of the result.
func (r Result) Content() []json.RawMessage {
	o, _ := rawjson.SplitObject(r.Raw) // anything else has no content
	all, _ := rawjson.SplitArray(o.Get("content"))
	return all
}

// Text is a result of mcpdeck's own.
func Text(s string) Result { return textResult(s, false) }

func textResult(s string, isError bool) Result {
	o := rawjson.Object{{Key: "content", Value: rawjson.Array(textBlock(s))}}
	if isError {
		o = append(o, rawjson.Member{Key: "isError", Value: json.RawMessage("true")})
	}
	return Result{o.JSON(), isError}
}

func textBlock(s string) json.RawMessage {
	return rawjson.Object{{Key: "type", Value: json.RawMessage(`"text"`)}, {Key: "text", Value: rawjson.Quote(s)}}.JSON()
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
	r := c.request(ctx, toolsCall, in)
	err := r.enter(func(now *Published) (err error) {
		r.tool, err = now.tool(in)
		return err
	})
	if err != nil {
		return refused(err)
	}
	return r.roundTrip(r.finish)
}

// request makes a request of an agent.
func (c *Card) request(ctx context.Context, method string, in Call) *call {
	return &call{waiter: waiter{card: c, from: in.From, told: child.NewSteps(in.Progress), arrived: time.Now()}, in: in, ctx: ctx, method: method}
}

// enter waits for the child that serves the request and for the request's turn, during which
// the child may be replaced. Unless there is an error, the caller must call leave when the
// request has ended.
func (c *call) enter(check func(*Published) error) error {
	err := c.reach(c.ctx, check)
	if err == nil {
		if c.queue = c.slot.queue; !c.queue.TryEnter() {
			err = c.queue.Enter(c.ctx, func(n int) { c.told.Note(c.card.opts.waiting(n)) })
			if err == nil {
				if err = c.reach(c.ctx, check); err != nil {
					c.queue.Leave()
				}
			}
		}
	}
	if err != nil {
		c.told.End()
		c.release()
		return err
	}
	c.child.Busy.Add(1)
	return nil
}

// leave ends what enter began.
func (c *call) leave() {
	c.told.End()
	c.child.Busy.Add(-1)
	c.queue.Leave()
	c.release()
}

// roundTrip sends a request and returns what finish makes of its outcome, or the error of ctx as
// soon as that ends. What has to wait for something else than the reply does so in a goroutine
// of its own.
func (c *call) roundTrip(finish func(Outcome) (Result, error)) (Result, error) {
	left := false
	defer func() {
		if !left {
			c.leave()
		}
	}()
	o := c.begin()
	if c.settled(o) {
		return finish(o)
	}
	left = true
	var answer Result
	var err error
	done := make(chan struct{})
	recovery.Go(c.card.opts.Name+" request", func() {
		defer close(done)
		defer c.leave() // before answering: the agent may make its next request as soon as it has the answer
		answer, err = finish(c.goOn(o))
	})
	select {
	case <-done:
		return answer, err
	case <-c.ctx.Done():
		return Result{}, c.ctx.Err()
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
	waiter
	ctx       context.Context //nolint:containedctx // the agent's wait for it
	in        Call
	method    string
	tool      *catalogue.Tool // nil if the request is not a tool call
	params    rawjson.Object  // of other requests, without _meta
	queue     *child.Queue
	asTask    bool   // the tool is to run as a task
	sent      *sent  // what waits for its reply; nil if nothing does
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

	parts rawjson.Object // of Raw; nil if that is no object
}

// begin sends the request and waits for the reply, or until the agent stops waiting.
func (c *call) begin() Outcome {
	c.asTask = !c.card.opts.ToolsOnly && c.tool != nil && c.tool.TaskOnly && c.child.Era() == child.Legacy && c.in.More.Get("task") == nil
	if c.asTask {
		c.in.More = append(slices.Clip(c.in.More), rawjson.Member{Key: "task", Value: json.RawMessage(`{"ttl":3600000}`)})
	}
	return c.try()
}

// settled reports whether an outcome is the answer, and nothing has to be waited for.
func (c *call) settled(o Outcome) bool {
	if c.withdrawn || o.Lost || c.asTask || c.asks(o) {
		return false
	}
	if c.tool == nil {
		return true
	}
	_, wait := c.card.opts.Hooks.Repeat(o)
	return wait == 0
}

// goOn returns the outcome of a request that is not settled.
func (c *call) goOn(o Outcome) Outcome {
	if c.sent != nil {
		o = c.wait()
	}
	if c.asTask {
		return c.task(o)
	}
	return c.exchange(o)
}

// finish returns what the agent gets of a tool call, and records the facts.
func (c *call) finish(o Outcome) (Result, error) {
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
	if c.card.opts.Hooks.Observe(o) {
		c.card.update(func() {})
	}
	c.record(o)
	return o.Result, err
}

// pause waits for d, and returns false if the agent withdraws or the child ends first.
func (c *call) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.child.Gone():
	case <-c.ctx.Done():
		c.withdrawn = true
	}
	return false
}

// sent is a request that waits for its reply.
type sent struct {
	*rpc.Request
	began  time.Time
	before time.Duration // that the child had waited for the user
	late   *time.Timer   // nil if it may take any time
	still  *time.Ticker  // between messages to the agent; nil if it wants none
	silent <-chan time.Time
}

// send sends the call and waits for its answer, its deadline or the end of the child. If
// the agent withdraws, its own wait ends elsewhere; the child keeps its place in the queue,
// because it is still working.
func (c *call) send() Outcome {
	o := c.try()
	if c.sent != nil {
		o = c.wait()
	}
	return o
}

// try sends the request, and waits. If it cannot be sent, that is the outcome.
func (c *call) try() Outcome {
	most := c.card.opts.Limits.Call
	s := &sent{began: time.Now(), before: c.child.person.join(c)}
	ctx := c.ctx
	if most > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, most)
		defer cancel()
		s.late = time.NewTimer(most)
	}
	c.sent = s
	meta := c.wantLog()
	var err error
	var step func(json.RawMessage)
	if c.told != nil {
		step = c.told.Step
	}
	s.Request, err = c.child.Start(ctx, c.method, func(id string) rawjson.Object { return c.passed(id, meta) }, step)
	if err != nil {
		c.withdrawn = c.withdrawn || c.ctx.Err() != nil
		gone := errors.Is(err, rpc.ErrGone)
		return c.over(Outcome{Lost: gone, Deadline: !gone})
	}
	if c.told != nil {
		s.still = time.NewTicker(stillEvery)
	}
	return c.wait()
}

// over ends the wait for a reply. Time that the user took to answer the child does not count.
func (c *call) over(o Outcome) Outcome {
	s := c.sent
	c.sent = nil
	waited := c.child.person.leave(c) - s.before
	if s.late != nil {
		s.late.Stop()
	}
	if s.still != nil {
		s.still.Stop()
	}
	o.Tool, o.For, o.Took, o.Age = c.tool, c.worksFor, time.Since(s.began)-waited, time.Since(c.child.Ready)
	return o
}

// wait waits for the reply. When the agent withdraws it returns, with the request still sent:
// waiting again waits for what the child still does.
func (c *call) wait() (o Outcome) {
	s, most := c.sent, c.card.opts.Limits.Call
	var late, still <-chan time.Time
	if s.late != nil {
		late = s.late.C
	}
	if s.still != nil {
		still = s.still.C
	}
	cancelled := c.ctx.Done()
	if c.withdrawn {
		cancelled = nil
	}
	for {
		select {
		case r := <-s.Reply:
			switch {
			case r.Err == nil:
				o.Raw = r.Result
				o.parts, _ = rawjson.SplitObject(r.Result) // nil with an error
			case errors.Is(r.Err, rpc.ErrGone), errors.Is(r.Err, child.ErrBroken):
				o.Lost = true
			default:
				o.Err = r.Err
			}
			return c.over(o)
		case <-late:
			if left := most - time.Since(s.began) + c.child.person.took() - s.before; left > 0 {
				s.late.Reset(max(left, time.Second)) // the clock may be stopped
				continue
			}
			s.Forget()
			c.child.Offer(s.Cancelled(""))
			o.Deadline = true
			return c.over(o)
		case <-still:
			c.told.Note(c.card.opts.Title + " " + c.child.person.stillText())
		case <-cancelled:
			c.withdrawn = true
			c.told.End()
			c.child.Offer(s.Cancelled(cancelReason))
			if most == 0 {
				s.silent = time.After(cancelGrace)
			}
			return o
		case <-s.silent: // no answer is expected any more
			s.Forget()
			return c.over(o)
		}
	}
}

// passed returns the params for the child: with its own name for the tool and mcpdeck's
// progress token, and otherwise as received.
func (c *call) passed(id string, meta json.RawMessage) rawjson.Object {
	const others = 3 // name, arguments, _meta
	o := append(make(rawjson.Object, 0, len(c.params)+len(c.in.More)+others), c.params...)
	if c.tool != nil {
		o = append(o, rawjson.Member{Key: "name", Value: rawjson.Quote(c.tool.Original)})
		if c.in.Args != nil {
			o = append(o, rawjson.Member{Key: "arguments", Value: c.in.Args})
		}
	}
	o = append(o, c.in.More...)
	if can := c.card.opts.passedWith(c.in.From); c.child.Era() == child.Modern && can.any() {
		meta = child.Declaring(meta, c.card.opts.capabilities(can, `{}`))
	}
	if c.told != nil {
		meta = withProgress(meta, id)
	}
	if meta != nil {
		o = append(o, rawjson.Member{Key: "_meta", Value: meta})
	}
	return o
}

// withProgress returns the _meta of a request, an object or nil, with mcpdeck's progress token.
func withProgress(meta json.RawMessage, id string) json.RawMessage {
	own, _ := rawjson.SplitObject(meta) // nil has no members
	token := rawjson.Member{Key: "progressToken", Value: rawjson.Quote(id)}
	return append(rawjson.Object{token}, own.Without(token.Key)...).JSON()
}

// Message returns the server's description of what went wrong, or "" if nothing did.
func (o Outcome) Message() string {
	if o.Err != nil {
		return o.Err.Error()
	}
	if !o.parts.Flag("isError") {
		return ""
	}
	list, _ := rawjson.SplitArray(o.parts.Get("content"))
	if len(list) == 0 {
		return ""
	}
	first, _ := rawjson.SplitObject(list[0]) // anything else says nothing
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
	raw := o.parts
	if raw == nil {
		_, err := rawjson.SplitObject(o.Raw)
		return textResult(c.card.opts.Title+" tool error: the answer is "+err.Error(), true), nil
	}
	return Result{o.Raw, raw.Flag("isError")}, nil
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
