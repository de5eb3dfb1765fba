package inbox

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/tui"
)

// snooze puts a request off, for 0 as long as is configured.
func (p *Page) snooze(id int, d time.Duration) tea.Cmd {
	if err := p.queue.Snooze(id, d); err != nil {
		p.message = err.Error()
		return nil
	}
	p.refresh()
	it, _ := p.snap.Item(id)
	p.next()
	return tui.Toast(tui.Info, "back in "+humanize.Words(time.Until(it.Snoozed)))
}

// openSnooze asks for how long.
func (p *Page) openSnooze() tea.Cmd {
	id := p.id
	it, ok := p.current()
	if !ok {
		return nil
	}
	c := &tui.Confirm{Name: "snooze", Title: "Snooze until…", Text: "The question comes back; its agent keeps waiting.\nBack in:"}
	if it.Absent != questions.Present {
		c.Text = "The question comes back.\nBack in:"
	}
	for i, d := range []time.Duration{5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour} {
		c.Choices = append(c.Choices, tui.Choice{Key: fmt.Sprint(i + 1), Text: humanize.Words(d), Run: func() tea.Cmd { return p.snooze(id, d) }})
	}
	return tui.Open(c)
}
