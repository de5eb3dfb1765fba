package logicstamp

import (
	"context"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// flights is work that several callers may wait for.
type flights struct {
	life *lifetime

	mu   sync.Mutex
	list map[string]*flight
}

// flight is one piece of such work. It belongs to none of those who wait, and
// ends early only when the last of them has left.
type flight struct {
	cancel context.CancelFunc
	done   chan struct{}
	out    any
	err    error

	mu       sync.Mutex
	calls    map[int]Call
	next     int
	stage    string
	expected time.Duration
}

// told passes a stage on to all who wait.
func (f *flight) told(stage string, expected time.Duration) {
	f.mu.Lock()
	f.stage, f.expected = stage, expected
	calls := make([]Call, 0, len(f.calls))
	for _, c := range f.calls {
		calls = append(calls, c)
	}
	f.mu.Unlock()
	for _, c := range calls {
		c.stage(stage, expected)
	}
}

// join adds one who waits, and tells how far the work is.
func (f *flight) join(call Call) (id int) {
	f.mu.Lock()
	id = f.next
	f.next++
	f.calls[id] = call
	stage, expected := f.stage, f.expected
	f.mu.Unlock()
	if stage != "" {
		call.stage(stage, expected)
	}
	return id
}

// leave takes one who waits away, and reports whether any is left.
func (f *flight) leave(id int) (left int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.calls, id)
	return len(f.calls)
}

// share does work once for all callers that want it at the same time under the
// same key. joined tells that it had begun before this caller came. Work that a
// caller leaves goes on for the others.
func share[T any](ctx context.Context, fs *flights, key string, call Call, work func(context.Context, Call) (T, error)) (out T, joined bool, err error) {
	fs.mu.Lock()
	f, joined := fs.list[key]
	if !joined {
		bound, end, err := fs.life.begin(context.WithoutCancel(ctx))
		if err != nil {
			fs.mu.Unlock()
			return out, false, err
		}
		bound, cancel := context.WithCancel(bound)
		f = &flight{cancel: cancel, done: make(chan struct{}), calls: map[int]Call{}}
		fs.list[key] = f
		recovery.Go("shared analysis", func() {
			defer end()
			defer cancel()
			f.err = recovery.Call("shared analysis", func() error {
				out, err := work(bound, Call{Root: call.Root, Refused: call.Refused, Hint: call.Hint, Progress: f.told})
				f.out = out
				return err
			})
			fs.mu.Lock()
			if fs.list[key] == f {
				delete(fs.list, key)
			}
			fs.mu.Unlock()
			close(f.done)
		})
	}
	id := f.join(call)
	fs.mu.Unlock()
	back := call.pause()
	select {
	case <-f.done:
		f.leave(id)
		if f.err == nil {
			if err := back(ctx); err != nil {
				return out, joined, err
			}
		}
		out, _ = f.out.(T)
		return out, joined, f.err
	case <-ctx.Done():
		fs.mu.Lock()
		if f.leave(id) == 0 {
			f.cancel()
			if fs.list[key] == f {
				delete(fs.list, key) // who comes now begins anew
			}
		}
		fs.mu.Unlock()
		return out, joined, ctx.Err()
	}
}
