package ask

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Call waits for the answer to a request. Its methods are safe for concurrent use.
type Call struct {
	q    *Queue
	id   int // of the item; guarded by the queue
	key  ownedKey
	once sync.Once
	done chan struct{}

	release  sync.Once
	released chan struct{}

	reply Reply
	err   error

	still func() bool // of an answer by a rule: it holds; nil of any other
}

// Done returns a channel that is closed when there is a reply or an error.
func (c *Call) Done() <-chan struct{} { return c.done }

// Reply returns the outcome of the request once Done is closed. The error is an
// [*Error].
func (c *Call) Reply() (Reply, error) { return c.reply, c.err }

// Delivered tells the queue what was seen of the reply: [Sent], [Delivered] or [NotTaken], of which
// each may be followed by the second. A reply that did not arrive is kept.
func (c *Call) Delivered(d Delivery) { c.q.delivered(c, d) }

// Leave withdraws the request, because the asker is gone or for the reason it gives.
// The user's draft is kept.
func (c *Call) Leave(why string) { c.q.leave(c, Gone, why) }

// HandOver ends the call but not the request, which the asker resumes with
// [Queue.Resume].
func (c *Call) HandOver() { c.q.leave(c, HandedOver, "") }

// Place returns the state of the request, how many requests come before it, and how
// many there are.
func (c *Call) Place() (state State, ahead, pending int) { return c.q.place(c) }

// Unreached returns the zero time, because the queue has the request.
func (c *Call) Unreached() time.Time { return time.Time{} }

// with runs do on the request of the call, if that is still open, while the queue is locked.
func (c *Call) with(do func(it *item)) {
	c.q.mu.Lock()
	defer c.q.mu.Unlock()
	if it := c.q.find(c.id); it != nil {
		do(it)
	}
}

func (c *Call) finish(r Reply, err error) {
	c.once.Do(func() {
		c.reply, c.err = r, err
		close(c.done)
	})
}

// Ask asks the user req and waits for the reply. Cancelling ctx withdraws the request.
// The error is an [*Error] or that of ctx.
func (q *Queue) Ask(ctx context.Context, req Request) (Reply, error) {
	c, r, err := q.put(ctx, req)
	if err == nil {
		c.Delivered(Delivered)
	}
	return r, err
}

// put is [Queue.Ask] for those who do not have the reply yet when it returns.
func (q *Queue) put(ctx context.Context, req Request) (*Call, Reply, error) {
	c, err := q.Open(req)
	if err != nil {
		return nil, Reply{}, err
	}
	select {
	case <-c.Done():
	case <-ctx.Done():
		c.Leave(context.Cause(ctx).Error())
		return nil, Reply{}, ctx.Err()
	}
	r, err := c.Reply()
	return c, r, err
}

func (q *Queue) leave(c *Call, how Absence, why string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	it := q.find(c.id)
	if it == nil || !slices.Contains(it.calls, c) {
		return
	}
	it.calls = slices.DeleteFunc(it.calls, func(o *Call) bool { return o == c })
	c.finish(Reply{}, ErrWithdrawn)
	if len(it.calls) > 0 { // another call of the same agent waits for this answer
		q.changed(true)
		return
	}
	if it.req.permission() != nil && !(how == HandedOver && it.req.here()) { // nobody comes back for one
		q.history.record(it, Withdrawn, Reply{}, why)
		q.keepDraft(it)
		q.remove(it)
		q.changed(true)
		return
	}
	it.absent, it.why, it.left = how, why, time.Now()
	if how == HandedOver {
		it.client = time.Time{}
		q.changed(true)
		return
	}
	if it.state == Sending {
		q.finish(it, q.answer(it))
	} else {
		q.history.record(it, Withdrawn, Reply{}, why)
	}
	q.trim()
	q.changed(true)
}

// trim drops the oldest requests that nobody is waiting for when there are too many.
func (q *Queue) trim() {
	n := 0
	for i := len(q.items) - 1; i >= 0; i-- {
		it := q.items[i]
		if it.absent != Gone {
			continue
		}
		if n++; n > maxAbandoned && it.id != q.onScreen {
			q.keepDraft(it)
			q.remove(it)
		}
	}
}

func (q *Queue) delivered(c *Call, d Delivery) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.became(c.id, d, "") {
		q.changed(true)
	}
}

func (q *Queue) place(c *Call) (State, int, int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	state, ahead, pending, found := Queued, 0, 0, false
	for _, it := range q.ordered() {
		if it.absent == Gone {
			continue
		}
		pending++
		if it.id == c.id {
			state, found = it.state, true
		}
		if !found {
			ahead++
		}
	}
	if !found {
		ahead = 0
	}
	return state, ahead, pending
}

// stateWord returns the state of a request as its client sees it: "editing" once the
// user has entered something.
func (q *Queue) stateWord(c *Call, state State) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	it := q.find(c.id)
	switch {
	case state == Sending, it != nil && state == Shown && !it.draft.Empty():
		return "editing"
	case it != nil && state == Shown && q.onScreen != c.id:
		return string(Queued)
	}
	return string(state)
}
