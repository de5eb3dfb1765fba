package upstream

import (
	"context"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/notify"
)

// relistEvery is the minimum interval for reading the tools of a server that keeps reporting
// changes.
const relistEvery = time.Second

// relists returns the function to call when the child reports a change of its tools. It has
// them read, one read at a time, and once more after the last report.
func (l *link) relists(read func()) (changed func()) {
	due := make(chan struct{}, 1)
	l.work.spawn("list", func() {
		for {
			select {
			case <-due:
				read()
			case <-l.Gone():
				return
			}
			select {
			case <-time.After(relistEvery):
			case <-l.Gone():
				return
			}
		}
	})
	return func() { notify.Poke(due) }
}

// relist reads the tools again after the child reported a change.
func (c *Card) relist(child *link) {
	a := attempt{card: c, child: child}
	c.mu.Lock()
	life := c.life
	if s := c.slotOf(child); s != nil {
		a.found = s.found
	}
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(life, c.opts.Limits.Start)
	defer cancel()
	list, err := child.ListTools(ctx)
	if err == nil {
		a.inspect(list)
		err = a.err
	}
	if err != nil {
		child.log.Note("list tools again: " + err.Error())
		return
	}
	c.update(func() {
		if c.slotOf(child) != nil {
			c.adopt(a)
			c.relisted()
		}
	})
}
