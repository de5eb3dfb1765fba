// Package reconnect recovers when a deck exits: it finds the next one and continues
// there with what is unfinished.
package reconnect

import (
	"context"
	"time"
)

// Pauses are those between two tries. They double from First to Most; once tries
// have gone on for SeldomAfter they are Seldom, unless that is 0.
type Pauses struct {
	First, Most         time.Duration
	SeldomAfter, Seldom time.Duration
}

// Forever is the patience that ends with its context alone.
const Forever time.Duration = -1

// Dial tries until it has a connection. When patience is over it tries once more
// and gives up with the error of that; when ctx ends, with the cause of it.
func Dial[T any](ctx context.Context, p Pauses, patience time.Duration, dial func(context.Context) (T, error)) (T, error) {
	began := time.Now()
	pause := p.First
	for {
		conn, err := dial(ctx)
		past := time.Since(began)
		if err == nil || patience != Forever && past >= patience {
			return conn, err
		}
		if p.Seldom > 0 && past > p.SeldomAfter {
			pause = p.Seldom
		}
		wait := pause
		if patience != Forever {
			wait = min(wait, patience-past)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return conn, context.Cause(ctx)
		}
		pause = min(2*pause, p.Most)
	}
}

// Keep uses one connection after the other: when use says that one was lost, it goes
// on with what dial returns. It ends when use is done, or with the error of dial.
func Keep[T any](conn T, use func(T) (lost bool), dial func() (T, error)) error {
	for use(conn) {
		var err error
		if conn, err = dial(); err != nil {
			return err
		}
	}
	return nil
}
