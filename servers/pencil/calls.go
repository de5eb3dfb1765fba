package pencil

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/card/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/card/child"
	"github.com/mcpdeck/mcpdeck/servers/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/rpc"
	"github.com/mcpdeck/mcpdeck/servers/safe"
)

// Invocation is one call of a tool by an agent.
type Invocation struct {
	Tool     string               // exposed name
	Args     json.RawMessage      // as received; nil when there were none
	Meta     json.RawMessage      // an object without the agent's progress token; nil when there was none
	Agent    string               // who calls, for the list of calls
	Progress func(child.Progress) // nil when the agent wants none; must not wait
	// WaitForUser notes that the call waits for a user until done is called; may
	// be nil.
	WaitForUser func() (done func())
}

// Result is what the agent gets. Its JSON is the child's own.
type Result struct {
	Content    []json.RawMessage
	Structured json.RawMessage // nil when there is none
	Meta       json.RawMessage // nil when there is none
	IsError    bool
}

func textResult(s string, isError bool) Result {
	block := append([]byte(`{"type":"text","text":`), rawjson.Quote(s)...)
	return Result{Content: []json.RawMessage{append(block, '}')}, IsError: isError}
}

const (
	stillEvery   = 15 * time.Second // between signs of life to the agent
	slowBlame    = 60 * time.Second // a "wrong file" answer that took so long means that the app is silent
	firstUse     = 10 * time.Second // of a fresh link, while the app may refuse a first read
	quickBlame   = 5 * time.Second
	repeatWait   = 3 * time.Second
	silentAfter  = 2 // unanswered calls in a row
	cancelReason = "the agent withdrew the call"
)

// Call makes a call and returns what the agent gets. The error is that of ctx:
// when it ends, Call returns at once, while the child may still be working on
// what cannot be taken back.
func (p *Pencil) Call(ctx context.Context, in Invocation) (Result, error) {
	told := child.NewSteps(in.Progress)
	defer told.End()
	arrived := time.Now()
	_, _, err := p.admit(ctx, in.Tool)
	if err != nil {
		return refused(err)
	}
	if err := p.queue.Enter(ctx, func(n int) { told.Note(waitingText(n)) }); err != nil {
		return refused(err)
	}
	// The child may be another one by now.
	child, tool, err := p.admit(ctx, in.Tool)
	if err != nil {
		p.queue.Leave()
		return refused(err)
	}
	c := &call{p: p, in: in, tool: tool, child: child, told: told, arrived: arrived, cancelled: ctx.Done()}
	done := make(chan Result, 1)
	child.Busy.Add(1)
	leave := sync.OnceFunc(func() {
		child.Busy.Add(-1)
		p.queue.Leave()
	})
	safe.Go("pencil call", func() {
		defer leave()
		c.run(func(r Result) {
			leave() // first: whoever has the answer may call again, and is alone
			done <- r
		})
	})
	select {
	case r := <-done:
		return r, nil
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
}

// refused is the result of a call that was not made.
func refused(err error) (Result, error) {
	var r *refusal
	if errors.As(err, &r) {
		return textResult(r.text, true), nil
	}
	return Result{}, err
}

// admit finds the tool and the child for a call, waiting a little for a child
// that is being started again.
func (p *Pencil) admit(ctx context.Context, name string) (*link, *catalogue.Tool, error) {
	var patience <-chan time.Time
	for {
		now := p.now.Load()
		switch {
		case now.mode != On:
			return nil, nil, &refusal{now.refusal}
		case now.listed == nil:
			return nil, nil, &refusal{lostText}
		}
		tool := now.listed.Exposed(name)
		if tool == nil {
			return nil, nil, &refusal{noToolText(name)}
		}
		if now.child != nil {
			return now.child, tool, nil
		}
		if patience == nil {
			t := time.NewTimer(linkPatience)
			defer t.Stop()
			patience = t.C
		}
		select {
		case <-now.changed:
		case <-patience:
			return nil, nil, &refusal{lostText}
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

// call is one call on its way to the child and back.
type call struct {
	p         *Pencil
	in        Invocation
	tool      *catalogue.Tool
	child     *link
	told      *child.Steps
	arrived   time.Time
	cancelled <-chan struct{}
	withdrawn bool // the agent no longer waits
}

// answer is what came of sending a call to the child once.
type answer struct {
	raw      []byte // of a result
	sentence string // of an error
	lost     bool
	deadline bool
	took     time.Duration
}

// run makes the call, hands the result to answer, and keeps the facts.
func (c *call) run(answer func(Result)) {
	began := time.Now()
	a := c.send()
	if c.repeatable(a) {
		c.told.Note("Pencil was just started; trying once more")
		if c.pause(repeatWait) {
			a = c.send()
		}
	}
	result, class := c.result(a)
	c.told.End()
	c.p.observe(c, a, class, result)
	answer(result)
	c.p.record(c, a, result, began)
}

// pause waits, unless the agent withdraws or the child ends meanwhile.
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

// repeatable tells whether the answer is the one that the first read on a
// fresh connection often gets, which goes away by itself.
func (c *call) repeatable(a answer) bool {
	return c.tool.ReadOnly && !c.withdrawn && a.took < quickBlame && time.Since(c.child.Ready) < firstUse &&
		classify(a.words()) == classConfused
}

// send sends the call and waits for its answer, its deadline or the end of the
// child. An agent that withdraws is freed by others; the child keeps its slot,
// because it goes on working.
func (c *call) send() answer {
	began, before := time.Now(), c.child.person.took()
	// What a user takes to answer the child is not the child's.
	ran := func() time.Duration { return time.Since(began) - (c.child.person.took() - before) }
	defer c.child.person.join(c)()
	limit := time.NewTimer(c.p.opts.CallTimeout)
	defer limit.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), c.p.opts.CallTimeout)
	defer cancel()
	req, err := c.child.Start(ctx, "tools/call", c.params, c.told.Step)
	if err != nil {
		return answer{lost: errors.Is(err, rpc.ErrGone), deadline: !errors.Is(err, rpc.ErrGone), took: ran()}
	}
	var still <-chan time.Time
	if c.told != nil {
		t := time.NewTicker(stillEvery)
		defer t.Stop()
		still = t.C
	}
	cancelled := c.cancelled
	for {
		select {
		case r := <-req.Reply:
			return newAnswer(r, ran())
		case <-limit.C:
			if left := c.p.opts.CallTimeout - ran(); left > 0 {
				limit.Reset(max(left, time.Second)) // the clock may stand still
				continue
			}
			req.Forget()
			c.child.Offer(req.Cancelled(""))
			return answer{deadline: true, took: ran()}
		case <-still:
			c.told.Note(c.child.person.stillText())
		case <-cancelled:
			cancelled, c.withdrawn = nil, true
			c.told.End()
			c.child.Offer(req.Cancelled(cancelReason))
		}
	}
}

func newAnswer(r rpc.Reply, took time.Duration) answer {
	if r.Err == nil {
		return answer{raw: r.Result, took: took}
	}
	if errors.Is(r.Err, rpc.ErrGone) {
		return answer{lost: true, took: took}
	}
	return answer{sentence: r.Err.Error(), took: took}
}

// params is the call as the child gets it: its own name for the tool, the
// arguments as they came, and the deck's token for progress.
func (c *call) params(id string) []byte {
	b := append([]byte(`{"name":`), rawjson.Quote(c.tool.Original)...)
	if c.in.Args != nil {
		b = append(b, `,"arguments":`...)
		b = append(b, c.in.Args...)
	}
	if meta := callMeta(c.in.Meta, id, c.told != nil); meta != nil {
		b = append(b, `,"_meta":`...)
		b = append(b, meta...)
	}
	return append(b, '}')
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

// words are what the child says went wrong, "" when nothing did.
func (a answer) words() string {
	if a.raw == nil {
		return a.sentence
	}
	o, err := rawjson.SplitObject(a.raw)
	if err != nil || !o.Flag("isError") {
		return ""
	}
	list, ok := rawjson.SplitArray(o.Get("content"))
	if !ok || len(list) == 0 {
		return ""
	}
	first, err := rawjson.SplitObject(list[0])
	if err != nil {
		return ""
	}
	return first.Str("text")
}

// result is what the agent gets, and what it says about the app.
func (c *call) result(a answer) (Result, class) {
	switch {
	case a.lost && c.p.stopped():
		return textResult(closedText, true), classOther
	case a.lost:
		return textResult(lostText, true), classOther
	case a.deadline:
		return textResult(deadlineText(c.p.opts.CallTimeout), true), classOther
	}
	words := a.words()
	cl := classOther
	if words != "" {
		cl = classify(words)
	}
	if a.raw == nil || cl != classOther {
		return textResult(mapped(cl, words, c.p.appName()), true), cl
	}
	o, err := rawjson.SplitObject(a.raw)
	if err != nil {
		return textResult(mapped(classOther, "the answer is "+err.Error(), ""), true), cl
	}
	r := Result{Structured: o.Some("structuredContent"), Meta: o.Some("_meta"), IsError: o.Flag("isError")}
	if list, ok := rawjson.SplitArray(o.Get("content")); ok {
		r.Content = list
	}
	return r, cl
}

func (p *Pencil) stopped() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.life.Err() != nil
}

func (p *Pencil) appName() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.found.App
}
