package inbox

import (
	"time"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/tui"
)

// openLater asks when a request is to come back.
func (p *Page) openLater() tea.Cmd {
	id := p.id
	it, ok := p.current()
	if !ok {
		return nil
	}
	c := &tui.Confirm{Name: "later", Title: "Later…", Text: "It comes back; its agent keeps waiting."}
	if it.Absent != questions.Present {
		c.Text = "It comes back."
	}
	now := time.Now()
	add := func(d time.Duration, until string) {
		c.Choices = append(c.Choices, tui.Choice{Text: until, Run: func() tea.Cmd {
			if err := p.queue.Snooze(id, d); err != nil {
				p.message = err.Error()
				return nil
			}
			p.refresh()
			p.next()
			return tui.Toast(tui.Info, "back "+until)
		}})
	}
	soon := p.queue.SnoozeFor()
	add(soon, "in "+humanize.Words(soon))
	add(time.Hour, "in "+humanize.Words(time.Hour))
	add(morning(now).Sub(now), "tomorrow morning")
	return tui.Open(c)
}

// morning is when the next day begins for somebody who was up late.
func morning(now time.Time) time.Time {
	y, m, d := now.Date()
	return time.Date(y, m, d+1, 9, 0, 0, 0, now.Location())
}
