package logicstamp

import (
	"context"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
)

// lifetime ties work to the life of the service: nothing outlives it.
type lifetime struct {
	mu      sync.Mutex
	stop    context.Context
	stopNow context.CancelFunc
	running sync.WaitGroup
}

func newLifetime() *lifetime {
	l := &lifetime{}
	l.stop, l.stopNow = context.WithCancel(context.Background())
	return l
}

// begin starts work that stops when ctx or the service ends. end must be called.
func (l *lifetime) begin(ctx context.Context) (bound context.Context, end func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stop.Err() != nil {
		return nil, nil, problem.New(problem.Cancelled, "try again in a moment", "the server is shutting down")
	}
	l.running.Add(1)
	bound, cancel := context.WithCancel(ctx)
	off := context.AfterFunc(l.stop, cancel)
	return bound, func() {
		off()
		cancel()
		l.running.Done()
	}, nil
}

// end stops all work and waits for it.
func (l *lifetime) end() {
	l.mu.Lock()
	l.stopNow()
	l.mu.Unlock()
	l.running.Wait()
}
