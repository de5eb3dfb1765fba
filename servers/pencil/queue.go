package pencil

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	maxWaiting = 32
	queueLimit = 120 * time.Second
)

// refusal is why a call was not made, in the words the agent reads.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

// queue lets a few calls at a time reach the child, first come first served.
type queue struct {
	mu      sync.Mutex
	free    int
	waiting []*waiter
}

type waiter struct {
	turn  chan error // nil: go
	moved chan int   // calls before this one, the newest number only
}

func newQueue(slots int) *queue { return &queue{free: slots} }

// enter waits for a slot. waits is told how many calls are before this one,
// at first and whenever that changes. Who has entered must leave.
func (q *queue) enter(ctx context.Context, waits func(before int)) error {
	q.mu.Lock()
	if q.free > 0 {
		q.free--
		q.mu.Unlock()
		return nil
	}
	if n := len(q.waiting); n >= maxWaiting {
		q.mu.Unlock()
		return &refusal{busyText(n)}
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
			return err
		case n := <-w.moved:
			waits(n)
		case <-ctx.Done():
			return q.give(w, ctx.Err())
		case <-limit.C:
			return q.give(w, &refusal{busyText(q.length())})
		}
	}
}

// give takes w out of the queue. A turn that came meanwhile is passed on.
func (q *queue) give(w *waiter, err error) error {
	q.mu.Lock()
	i := slices.Index(q.waiting, w)
	if i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		q.moved()
	}
	q.mu.Unlock()
	if i < 0 && <-w.turn == nil {
		q.leave()
	}
	return err
}

// leave gives the slot to the next.
func (q *queue) leave() {
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
func (q *queue) moved() {
	for i, w := range q.waiting {
		select {
		case <-w.moved:
		default:
		}
		w.moved <- i
	}
}

// clear turns away all who wait.
func (q *queue) clear(text string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, w := range q.waiting {
		w.turn <- &refusal{text}
	}
	q.waiting = nil
}

func (q *queue) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

func waitingText(before int) string {
	if before == 0 {
		return "waiting for Pencil, you are next"
	}
	return fmt.Sprintf("waiting for Pencil, %d before you", before)
}
