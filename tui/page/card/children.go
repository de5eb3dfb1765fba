package card

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// childRow draws a program of the server that runs, or a connection to it, and for whom
// it is there.
func (p *Page) childRow(f *tui.Frame, c *snapshot.Child, w int) string {
	th := f.Theme
	whose := make([]string, 0, len(c.Agents))
	for _, id := range c.Agents {
		if a := p.snap.Agent(id); a != nil {
			whose = append(whose, sanitize.Line(a.Name()))
		}
	}
	slices.Sort(whose)
	left := sanitize.Line(c.Name) + "  " + th.Muted.Render(cmp.Or(strings.Join(whose, ", "), "no agent"))
	if c.Root != "" {
		left += th.Faint.Render(" " + th.Glyph.Dot + " " + sanitize.Line(filepath.Base(c.Root)))
	}
	var facts []string
	if c.Running > 0 {
		facts = append(facts, humanize.Count(c.Running, "call"))
	}
	if c.PID != 0 {
		facts = append(facts, fmt.Sprintf("process %d", c.PID))
	}
	facts = append(facts, humanize.Took(f.Now.Sub(c.Since)))
	right := func() string { return strings.Join(facts, " "+th.Glyph.Dot+" ") }
	for len(facts) > 0 && widget.Width(left)+2+widget.Width(right()) > w { // for whom it runs comes first
		facts = facts[:len(facts)-1]
	}
	return widget.Ends(left, th.Faint.Render(right()), w)
}

// openChildLog shows the log of the program under the cursor.
func (p *Page) openChildLog() tea.Cmd {
	if c := widget.Selected(p.lists[partChildren], p.details.Children); c != nil {
		p.logOf, p.end = c.Name, true
		p.focus(partLog)
	}
	return nil
}

// logged are the programs that the log has lines of, those that are gone among them.
func (p *Page) logged() (names []string) {
	for _, l := range p.details.Log {
		if l.Child != "" && !slices.Contains(names, l.Child) {
			names = append(names, l.Child)
		}
	}
	slices.Sort(names)
	return names
}

func (p *Page) whyOneLog() string {
	return tui.Because(len(p.logged()) < 2 && p.logOf == "", "there is one log")
}

// nextLog leads from the log of all to that of each.
func (p *Page) nextLog() tea.Cmd {
	all := append([]string{""}, p.logged()...)
	p.logOf, p.end = all[(slices.Index(all, p.logOf)+1)%len(all)], true
	return nil
}

// logRows draws the log: of all programs, each line with whose it is.
func (p *Page) logRows(f *tui.Frame, w, h int) []string {
	th := f.Theme
	wide := 7
	several := p.logOf == "" && len(p.logged()) > 1
	var rows []string
	for _, l := range p.details.Log {
		if several {
			wide = max(wide, min(widget.Width(sanitize.Line(l.Child))+1, 16))
		}
	}
	for _, l := range p.details.Log {
		if p.logOf != "" && l.Child != p.logOf {
			continue
		}
		from, style := l.From, th.Faint
		if from == "link" {
			style = th.Info
		}
		if several {
			from = cmp.Or(l.Child, from)
		}
		rows = append(rows, th.Faint.Render(l.Time.Format("15:04:05"))+" "+style.Render(widget.Fit(sanitize.Line(from), wide))+sanitize.Line(l.Text))
	}
	if len(rows) == 0 {
		return empty(th, w, h, "Messages between mcpdeck and the server appear here.")
	}
	if p.end {
		p.log.Top = len(rows)
	}
	at := p.areas.Of(partLog)
	return p.search.Render(f, &p.log, rows, at.X, at.Y, w, h)
}
