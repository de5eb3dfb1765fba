package logicstamp

import (
	"context"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
)

// Limits on analyses: two at a time, one per project, and a queue.
const (
	maxRuns    = 2
	maxWaiting = 16
)

// gate lets one analysis per project and two in all through, in order. One that
// nobody waits for gives way to one that somebody does.
type gate struct {
	mu       sync.Mutex
	projects map[string]chan struct{}
	all      chan struct{}
	waiting  int
	wanted   map[string]int // those waiting, by project

	// quiet is the one analysis in the background, yield ends that of the named
	// project.
	quiet   chan struct{}
	project string
	yield   context.CancelFunc
}

func newGate() *gate {
	return &gate{projects: map[string]chan struct{}{}, wanted: map[string]int{}, all: make(chan struct{}, maxRuns), quiet: make(chan struct{}, 1)}
}

// turn is the slot of a project; the caller holds mu.
func (g *gate) turn(project string) chan struct{} {
	own, ok := g.projects[project]
	if !ok {
		own = make(chan struct{}, 1)
		g.projects[project] = own
	}
	return own
}

// enter waits for a project's turn; leave must be called once.
func (g *gate) enter(ctx context.Context, project string) (leave func(), err error) {
	g.mu.Lock()
	if g.waiting >= maxWaiting {
		g.mu.Unlock()
		return nil, problem.New(problem.Busy, "try again in a minute", "%d calls are already waiting for an analysis", maxWaiting)
	}
	g.waiting++
	g.wanted[project]++
	own := g.turn(project)
	if g.yield != nil && g.project == project {
		g.yield()
	}
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		g.waiting--
		if g.wanted[project]--; g.wanted[project] == 0 {
			delete(g.wanted, project)
		}
		g.mu.Unlock()
	}()
	select {
	case own <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return func() { <-own }, nil
}

// enterBackground waits for a project's turn until nobody else wants it, one
// caller at a time. The context ends when somebody does.
func (g *gate) enterBackground(ctx context.Context, project string) (bound context.Context, leave func(), err error) {
	select {
	case g.quiet <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	g.mu.Lock()
	own := g.turn(project)
	g.mu.Unlock()
	bound, cancel := context.WithCancel(ctx)
	for mine := false; !mine; {
		select {
		case own <- struct{}{}:
		case <-ctx.Done():
			cancel()
			<-g.quiet
			return nil, nil, ctx.Err()
		}
		g.mu.Lock()
		if mine = g.wanted[project] == 0; mine {
			g.project, g.yield = project, cancel
		}
		g.mu.Unlock()
		if !mine {
			<-own // for one that came while this one waited
		}
	}
	return bound, func() {
		g.mu.Lock()
		g.yield = nil
		g.mu.Unlock()
		cancel()
		<-own
		<-g.quiet
	}, nil
}

// run waits until fewer than the allowed number of analyses run.
func (g *gate) run(ctx context.Context) (done func(), err error) {
	select {
	case g.all <- struct{}{}:
		return func() { <-g.all }, nil
	default:
	}
	g.mu.Lock()
	if g.yield != nil {
		g.yield()
	}
	g.mu.Unlock()
	select {
	case g.all <- struct{}{}:
		return func() { <-g.all }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
