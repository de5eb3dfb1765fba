package calllog

import (
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// tallied is of how many calls of a tool the durations are kept, and tools of how many
// tools of a server there are figures: agents call by any name.
const (
	tallied = 512
	tools   = 1000
)

// tally is what calls of one tool came to.
type tally struct {
	calls, failed uint64
	took          []time.Duration // of the newest, in no order
}

// count adds a call that has ended. The caller holds mu.
func (l *Log) count(c *snapshot.Call) {
	of := l.tallies[c.Server]
	if of == nil {
		of = map[string]*tally{}
		l.tallies[c.Server] = of
	}
	t := of[c.Tool]
	switch {
	case t == nil && len(of) >= tools:
		return
	case t == nil:
		t = &tally{}
		of[c.Tool] = t
	}
	if len(t.took) < tallied {
		t.took = append(t.took, c.Duration)
	} else {
		t.took[t.calls%tallied] = c.Duration
	}
	t.calls++
	if c.Status.Failed() {
		t.failed++
	}
}

// Figures are what the calls of a server came to, by tool, and under "" all of them.
func (l *Log) Figures(server string) map[string]snapshot.Figures {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string]snapshot.Figures{}
	var sum tally
	for tool, t := range l.tallies[server] {
		out[tool] = t.figures()
		sum.calls, sum.failed, sum.took = sum.calls+t.calls, sum.failed+t.failed, append(sum.took, t.took...)
	}
	out[""] = sum.figures()
	return out
}

func (t *tally) figures() snapshot.Figures {
	f := snapshot.Figures{Calls: t.calls, Failed: t.failed}
	took := slices.Sorted(slices.Values(t.took))
	if n := len(took); n > 0 {
		f.P50, f.P95 = took[(n-1)/2], took[(n*95+99)/100-1]
	}
	return f
}
