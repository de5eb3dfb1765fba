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
// one each time.
type Pool struct {
	name string // in the record of a panic
	jobs chan func()
	idle atomic.Int32
}

// NewPool makes a pool without goroutines.
func NewPool(name string) *Pool { return &Pool{name: name, jobs: make(chan func())} }

// Go runs fn soon. It never waits for other jobs.
func (p *Pool) Go(fn func()) {
	select {
	case p.jobs <- fn:
	default:
		Go(p.name, func() { p.work(fn) })
	}
}

func (p *Pool) work(fn func()) {
	timer := time.NewTimer(poolWait)
	defer timer.Stop()
	for {
		p.run(fn)
		if p.idle.Add(1) > poolIdle {
			p.idle.Add(-1)
			return
		}
		timer.Reset(poolWait)
		select {
		case fn = <-p.jobs:
			p.idle.Add(-1)
		case <-timer.C:
			p.idle.Add(-1)
			return
		}
	}
}

func (p *Pool) run(fn func()) {
	defer Recover(p.name)
	fn()
}
