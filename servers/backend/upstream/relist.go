package upstream

import (
	"context"
	"time"
)

// relistEvery is the minimum interval for reading the tools of a server that keeps reporting
// changes.
const relistEvery = time.Second

// watchChild reads the lists of a child again when it reports a change, one read at a time, and
// notices its end.
func (c *Card) watchChild(s *slot, l *link) {
	var calm <-chan time.Time // until when no change counts
	for {
		changed := l.Changed()
		if calm != nil {
			changed = nil
		}
		select {
		case <-changed:
			(&attempt{card: c, child: l}).relist()
			calm = time.After(relistEvery)
		case <-calm:
			calm = nil
		case <-l.Gone():
			c.update(func() { c.childGone(s, l) })
			return
		}
	}
}

// relist reads the lists of the child again.
func (a *attempt) relist() {
	c := a.card
	c.mu.Lock()
	life := c.life
	if s := c.slotOf(a.child); s != nil {
		a.found = s.found
	}
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(life, c.opts.Limits.Start)
	defer cancel()
	list, err := a.child.ListTools(ctx)
	if err == nil {
		a.inspect(list)
		err = a.err
	}
	if err != nil {
		a.child.log.Note("list tools again: " + err.Error())
		return
	}
	c.update(func() {
		if c.slotOf(a.child) != nil {
			c.adopt(*a)
		}
	})
}
