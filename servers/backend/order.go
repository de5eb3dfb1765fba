package backend

import (
	"context"
)

// Sequencer keeps the questions of one connection in the order in which they were
// sent, though each call runs by itself. The zero value is ready; it is for one
// goroutine.
type Sequencer struct{ last context.Context }

type turn struct {
	before context.Context // done when it is this one's turn; nil: at once
	done   context.CancelFunc
}

type turnKey struct{}

// Next gives the call of ctx its turn, behind those that got one before. A turn
// ends with its call at the latest.
func (t *Sequencer) Next(ctx context.Context) context.Context {
	mine, done := context.WithCancel(ctx)
	ctx = context.WithValue(ctx, turnKey{}, turn{before: t.last, done: done})
	t.last = mine
	return ctx
}

// InOrder waits until it is the turn of the call of ctx, or the call is over.
// The function it returns lets the next one go on.
func InOrder(ctx context.Context) (done func()) {
	t, ok := ctx.Value(turnKey{}).(turn)
	if !ok {
		return func() {}
	}
	if t.before != nil {
		select {
		case <-t.before.Done():
		case <-ctx.Done():
		}
	}
	return t.done
}
