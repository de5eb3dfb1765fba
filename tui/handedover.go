package tui

import (
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Questions is where the questions wait; *ask.Queue is one.
type Questions interface {
	Pending() *ask.Snapshot
}

// HandedOver are the questions that still wait although the call that asked them
// has ended: its client would have given up, and the agent comes for the answer.
// q may be nil.
func HandedOver(q Questions) []ask.Item {
	if q == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(q.Pending().Items), func(it ask.Item) bool {
		return it.Absent != ask.HandedOver || !it.Waits() || it.Request.Peer.Key == ""
	})
}

// Standing is a call as it stands for the user: one that asked and ended in time
// waits for as long as its question does.
func Standing(c *snapshot.Call, left []ask.Item) *snapshot.Call {
	if c.Server != "ask" || c.Status != snapshot.OK || c.Afar != nil {
		return c
	}
	asked := Question(c)
	for i := range left {
		r := &left[i].Request
		if asked != "" && r.Peer.Key == c.Agent && asks(r, asked) {
			again := *c
			again.Status, again.Waiting = snapshot.Running, true
			return &again
		}
	}
	return c
}

// asks reports whether a request begins with a question that a call's row shows,
// which may be cut, or followed by how many more there are.
func asks(r *ask.Request, row string) bool {
	whole := sanitize.Line(r.Questions[0].Question)
	return strings.HasPrefix(whole, row) || strings.HasPrefix(row, whole)
}
