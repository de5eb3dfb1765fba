package calllog

import (
	"slices"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Figures are what one agent called so far. The zero value is ready.
type Figures struct {
	mu      sync.Mutex
	calls   uint64
	errors  uint64
	flight  []*Record
	last    time.Time
	tool    string // called last
	waiting int
}

// Fill puts the figures into what the screen shows of the agent.
func (f *Figures) Fill(a *snapshot.Agent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a.Calls, a.Errors, a.LastCall, a.LastTool, a.Waiting = f.calls, f.errors, f.last, f.tool, f.waiting > 0
	for _, r := range f.flight {
		a.InFlight = append(a.InFlight, r.call.Tool)
	}
}

func (f *Figures) begin(r *Record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	f.flight = append(f.flight, r)
	f.last, f.tool = r.call.Started, r.call.Tool
}

func (f *Figures) end(r *Record, status snapshot.CallStatus) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flight = slices.DeleteFunc(f.flight, func(o *Record) bool { return o == r })
	if status.Failed() {
		f.errors++
	}
}

func (f *Figures) wait(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if on {
		f.waiting++
	} else {
		f.waiting--
	}
}
