package child

import (
	"context"
	"slices"
	"sync"
	"time"
)

// MaxWaiting is how many calls may wait in a queue, and queueLimit how long.
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
	moved chan int   // calls before this one, the newest number only
}

// NewQueue makes a queue; full is what a call is told for which there is no room, or
// which has waited for too long.
func NewQueue(slots int, full func(waiting int) error) *Queue {
	return &Queue{free: slots, full: full}
}

// Enter waits for a slot. waits is told how many calls are before this one,
// at first and whenever that changes. Who has entered must leave.
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

// give takes w out of the queue. A turn that came meanwhile is passed on.
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

// moved tells who waits their new places.
func (q *Queue) moved() {
	for i, w := range q.waiting {
		select {
		case <-w.moved:
		default:
		}
		w.moved <- i
	}
}

// Clear turns away all who wait.
func (q *Queue) Clear(why error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, w := range q.waiting {
		w.turn <- why
	}
	q.waiting = nil
}

// Waiting is how many wait.
func (q *Queue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}
