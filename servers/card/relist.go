package card

import "time"

// relistEvery is how often the tools of a server are read that says without end that
// they have changed.
const relistEvery = time.Second

// relists returns what to do when the child says that its tools have changed: they are
// read, one time after the other, and once more after its last word.
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
		default: // it is due
		}
	}
}
