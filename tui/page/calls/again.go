package calls

import (
	"errors"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
)

func (p *Page) whyNoCancel() string {
	c := p.selected()
	if c != nil && c.Afar != nil {
		return "it was called on " + c.machine()
	}
	return tui.Because(c == nil || c.Status != snapshot.Running || p.opts.Cancel == nil, "the call is not running")
}

// cancel ends the running call under the cursor.
func (p *Page) cancel() tea.Cmd {
	id, name := p.selected().ID, sanitize.Line(p.selected().AgentName+" "+p.selected().Tool)
	return tui.Outcome(func() (string, error) {
		if p.opts.Cancel(id) {
			return "cancelled: " + name, nil
		}
		return "already ended: " + name, nil
	})
}

func (p *Page) whyNoRepeat() string {
	switch c := p.selected(); {
	case c == nil:
		return "no call selected"
	case c.Afar != nil:
		return "it was called on " + c.machine()
	case p.opts.Repeat == nil:
		return "calls cannot be repeated here"
	case c.Status == snapshot.Running:
		return "the call is still running"
	}
	return ""
}

// askRepeat asks whether to call the tool once more.
func (p *Page) askRepeat() tea.Cmd {
	c := *p.selected() // which may be another before the answer
	return tui.Open(&tui.Confirm{
		Name: "repeat", Title: "Call " + sanitize.Line(c.Tool) + " again?", Text: "With the same arguments, as your call, not " + sanitize.Line(c.AgentName) + "'s: " + sanitize.Line(c.Args),
		Choices: []tui.Choice{
			{Key: "y", Text: "Call it", Run: func() tea.Cmd { return p.repeat(&c) }},
			{Key: "n", Text: "Do not"},
		},
	})
}

func (p *Page) repeat(c *call) tea.Cmd {
	body := p.body(c)
	return tui.Outcome(func() (string, error) {
		b, _, err := body()
		if err != nil {
			return "", errors.New("not repeated: its arguments are no longer stored")
		}
		return "", p.opts.Repeat(c.Tool, b)
	})
}
