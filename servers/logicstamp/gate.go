package logicstamp

import (
	"context"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/logicstamp/problem"
)

// Limits on analyses: two at a time, one per project, and a queue.
const (
	maxRuns    = 2
	maxWaiting = 16
)

// gate lets one analysis per project and two in all through, in order.
type gate struct {
	mu       sync.Mutex
	projects map[string]chan struct{}
	all      chan struct{}
	waiting  int
}

func newGate() *gate {
	return &gate{projects: map[string]chan struct{}{}, all: make(chan struct{}, maxRuns)}
}

// enter waits for a project's turn; leave must be called once.
func (g *gate) enter(ctx context.Context, project string) (leave func(), err error) {
	g.mu.Lock()
	if g.waiting >= maxWaiting {
		g.mu.Unlock()
		return nil, problem.New(problem.Busy, "try again in a minute", "%d calls already wait for an analysis", maxWaiting)
	}
	g.waiting++
	own, ok := g.projects[project]
	if !ok {
		own = make(chan struct{}, 1)
		g.projects[project] = own
	}
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		g.waiting--
		g.mu.Unlock()
	}()
	select {
	case own <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return func() { <-own }, nil
}

// run waits until fewer than the allowed number of analyses run.
func (g *gate) run(ctx context.Context) (done func(), err error) {
	select {
	case g.all <- struct{}{}:
		return func() { <-g.all }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
