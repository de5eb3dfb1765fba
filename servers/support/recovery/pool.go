package recovery

import (
	"sync/atomic"
	"time"
)

const (
	poolIdle = 16                     // goroutines kept waiting, at most
	poolWait = 500 * time.Millisecond // and for how long
)

// Pool runs short jobs like Go, on goroutines that wait a moment for the next
// job: decoding a message needs a deep stack, and a new goroutine would grow
// one each time. The zero value is ready to use.
type Pool struct {
	jobs atomic.Pointer[chan func()]
	idle atomic.Int32
}

// Go runs fn soon. It never waits for other jobs.
func (p *Pool) Go(name string, fn func()) {
	jobs := p.queue()
	select {
	case jobs <- fn:
	default:
		Go(name, func() { p.work(name, jobs, fn) })
	}
}

// queue returns the channel that idle goroutines receive from.
func (p *Pool) queue() chan func() {
	if c := p.jobs.Load(); c != nil {
		return *c
	}
	c := make(chan func())
	if p.jobs.CompareAndSwap(nil, &c) {
		return c
	}
	return *p.jobs.Load()
}

func (p *Pool) work(name string, jobs chan func(), fn func()) {
	timer := time.NewTimer(poolWait)
	defer timer.Stop()
	for {
		run(name, fn)
		if p.idle.Add(1) > poolIdle {
			p.idle.Add(-1)
			return
		}
		timer.Reset(poolWait)
		select {
		case fn = <-jobs:
			p.idle.Add(-1)
		case <-timer.C:
			p.idle.Add(-1)
			return
		}
	}
}

func run(name string, fn func()) {
	defer Recover(name)
	fn()
}
