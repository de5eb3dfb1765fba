package child

import (
	"context"
	"slices"
	"sync"
	"time"
)

// MaxWaiting is how many calls may wait in a queue; queueLimit is for how long.
const (
	MaxWaiting = 32
	queueLimit = 120 * time.Second
)

// Queue lets a few calls at a time reach the child, first come first served.
type Queue struct {
	full func(waiting int) error

	mu      sync.Mutex
	free    int
	waiting []*waiter
}

type waiter struct {
	turn  chan error // nil: go
	moved chan int   // number of calls before this one, the latest value only
}

// NewQueue returns a queue. full returns the error of a call that finds the queue full
// or has waited too long.
func NewQueue(slots int, full func(waiting int) error) *Queue {
	return &Queue{free: slots, full: full}
}

// TryEnter enters if that needs no waiting.
func (q *Queue) TryEnter() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.free == 0 {
		return false
	}
	q.free--
	return true
}

// Enter waits for a slot. It calls waits with the number of calls before this one, at
// first and whenever that changes. After Enter succeeds, the caller must call Leave.
func (q *Queue) Enter(ctx context.Context, waits func(before int)) error {
	q.mu.Lock()
	if q.free > 0 {
		q.free--
		q.mu.Unlock()
		return nil
	}
	if n := len(q.waiting); n >= MaxWaiting {
		q.mu.Unlock()
		return q.full(n)
	}
	w := &waiter{turn: make(chan error, 1), moved: make(chan int, 1)}
	w.moved <- len(q.waiting)
	q.waiting = append(q.waiting, w)
	q.mu.Unlock()
	limit := time.NewTimer(queueLimit)
	defer limit.Stop()
	for {
		select {
		case err := <-w.turn:
			if err == nil && ctx.Err() != nil { // nobody waits for it any more
				q.Leave()
				return ctx.Err()
			}
			return err
		case n := <-w.moved:
			waits(n)
		case <-ctx.Done():
			return q.give(w, ctx.Err())
		case <-limit.C:
			return q.give(w, q.full(q.Waiting()))
		}
	}
}

// give removes w from the queue. If it got its turn meanwhile, the next one gets it.
func (q *Queue) give(w *waiter, err error) error {
	q.mu.Lock()
	i := slices.Index(q.waiting, w)
	if i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		q.moved()
	}
	q.mu.Unlock()
	if i < 0 && <-w.turn == nil {
		q.Leave()
	}
	return err
}

// Leave gives the slot to the next.
func (q *Queue) Leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.free++
		return
	}
	q.waiting[0].turn <- nil
	q.waiting = slices.Delete(q.waiting, 0, 1)
	q.moved()
}

// moved notifies the waiting calls of their new positions.
func (q *Queue) moved() {
	for i, w := range q.waiting {
		select {
		case <-w.moved:
		default:
		}
		w.moved <- i
	}
}

// Clear ends the wait of all calls with an error.
func (q *Queue) Clear(why error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, w := range q.waiting {
		w.turn <- why
	}
	q.waiting = nil
}

// Waiting returns the number of waiting calls.
func (q *Queue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}
