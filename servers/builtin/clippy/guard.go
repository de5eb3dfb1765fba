package clippy

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

const (
	diskWait    = 5 * time.Second // for one call
	maxStranded = 8
)

// guard keeps a call from waiting for a file system that does not answer. Such
// a call cannot be stopped, so its goroutine is left behind, and once many are,
// no more are started.
type guard struct {
	mu       sync.Mutex
	stranded int
}

// within runs fn for at most diskWait, or until ctx ends.
func within[T any](ctx context.Context, g *guard, writes bool, fn func(context.Context) (T, error)) (T, error) {
	var none T
	g.mu.Lock()
	full := g.stranded >= maxStranded
	g.mu.Unlock()
	if full {
		return none, say("the file system is not responding; try again later")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, diskWait, errSlow)
	defer cancel()
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome) // unbuffered: a send means that the caller took it
	gone := make(chan struct{})
	recovery.Go("clippy call", func() {
		o := outcome{err: say("internal error")}
		_ = recovery.Call("clippy call", func() error { // a panic leaves o as it is
			o.value, o.err = fn(ctx)
			return nil
		})
		select {
		case done <- o:
		case <-gone:
			g.add(-1)
		}
	})
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
	}
	// Work that heeds ctx ends now; it must not be counted as stuck.
	select {
	case o := <-done:
		if o.err == nil {
			return o.value, nil
		}
	case <-time.After(50 * time.Millisecond):
		g.add(1)
		close(gone)
	}
	if !errors.Is(context.Cause(ctx), errSlow) {
		return none, blame(ctx.Err(), "the call was cancelled")
	}
	if writes {
		return none, say("the file system did not respond within 5 s; the file may still appear")
	}
	return none, say("the file system did not respond within 5 s")
}

var errSlow = errors.New("too slow")

func (g *guard) add(n int) {
	g.mu.Lock()
	g.stranded += n
	g.mu.Unlock()
}

// rate lets at most max calls through in a minute; 0: any number.
type rate struct {
	max int

	mu    sync.Mutex
	taken []time.Time // within the last minute, oldest first
}

// take counts a call. It returns how long to wait when there were too many.
func (r *rate) take(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.max == 0 {
		return 0
	}
	for len(r.taken) > 0 && now.Sub(r.taken[0]) >= time.Minute {
		r.taken = r.taken[1:]
	}
	if len(r.taken) >= r.max {
		return time.Minute - now.Sub(r.taken[0])
	}
	r.taken = append(r.taken, now)
	return 0
}
