package card

import "time"

// relistEvery is the minimum interval for reading the tools of a server that keeps reporting
// changes.
const relistEvery = time.Second

// relists returns the function to call when the child reports a change of its tools. It
// reads them, one read at a time, and once more after the last report.
func (c *Card) relists(child *link) (changed func()) {
	due := make(chan struct{}, 1)
	c.spawn("list", func() {
		for {
			select {
			case <-due:
				c.relist(child)
			case <-child.Gone():
				return
			}
			select {
			case <-time.After(relistEvery):
			case <-child.Gone():
				return
			}
		}
	})
	return func() {
		select {
		case due <- struct{}{}:
		default: // due
		}
	}
}
