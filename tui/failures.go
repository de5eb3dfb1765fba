package tui

import (
	"maps"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Failures are the failed calls of this run of the deck, and which of them the user has
// seen. Only the update loop may use it.
type Failures struct {
	calls  map[uint64]failure // by ID
	fresh  int                // of them not seen
	at     uint64             // the call that the user looks at; 0 if there is none
	since  time.Time
	absent bool // the terminal window does not have the focus
}

type failure struct {
	started time.Time // tells it from one of an earlier run
	seen    bool
	text    string // what failed, and why
}

// FailuresMsg hands pages, once, the count of failed calls.
type FailuresMsg struct{ Failures *Failures }

const (
	// lookFor is how long the user has to look at a row to have seen it.
	lookFor = time.Second
	// failuresMost bounds how many failures are known.
	failuresMost = 1000
)

// take notes which of some calls of agents have failed.
func (l *Failures) take(calls []snapshot.Call) {
	for i := range calls {
		c := &calls[i]
		if _, known := l.calls[c.ID]; known || !c.Status.Failed() || c.ByUser {
			continue
		}
		if len(l.calls) >= failuresMost {
			maps.DeleteFunc(l.calls, func(_ uint64, f failure) bool { return f.seen })
		}
		if len(l.calls) < failuresMost {
			l.calls[c.ID] = failure{started: c.Started, text: sanitize.Line(c.AgentName + " " + c.Tool + ": " + c.Result)}
			l.fresh++
		}
	}
}

// Fresh is how many the user has not seen.
func (l *Failures) Fresh() int {
	if l == nil {
		return 0
	}
	return l.fresh
}

// fresh reports whether a call is one of those.
func (f *Frame) fresh(c *snapshot.Call) bool {
	if f.failures == nil {
		return c.Status.Failed()
	}
	one, known := f.failures.calls[c.ID]
	return known && !one.seen && one.started.Equal(c.Started)
}

// Opened says that the user reads a call.
func (f *Frame) Opened(c *snapshot.Call) {
	if l := f.failures; l != nil && !l.absent && f.Focus && f.fresh(c) {
		one := l.calls[c.ID]
		one.seen = true
		l.calls[c.ID] = one
		l.fresh--
	}
}

// Looks says that a call is under the cursor of the pane with the focus; nil says that
// none is. One that failed is seen in a second.
func (f *Frame) Looks(c *snapshot.Call) {
	l := f.failures
	switch {
	case l == nil:
	case c == nil || !f.Focus || l.absent || !f.fresh(c):
		l.at = 0
	case l.at != c.ID:
		l.at, l.since = c.ID, f.Now
		f.RedrawAfter(lookFor)
	case f.Now.Sub(l.since) < lookFor:
		f.RedrawAfter(lookFor - f.Now.Sub(l.since))
	default:
		f.Opened(c)
	}
}

// all marks all failed calls as seen.
func (l *Failures) all() {
	for id, f := range l.calls {
		f.seen = true
		l.calls[id] = f
	}
	l.fresh = 0
}

// Newest is the last failed call that the user has not seen; 0 if there is none.
func (l *Failures) Newest() (id uint64) {
	if l == nil {
		return 0
	}
	for i, f := range l.calls {
		if !f.seen {
			id = max(id, i)
		}
	}
	return id
}
