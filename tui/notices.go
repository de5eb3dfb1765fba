package tui

import (
	"cmp"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Widget is what a server has on every page: a word beside the money, and actions.
type Widget interface {
	// Status stands in the row above the footer; "" says nothing.
	Status(f *Frame) string
	// Actions act on every page.
	Actions() []Action
	// Update gets all messages that pages get, but no keys.
	Update(msg tea.Msg) tea.Cmd
}

// Historian is a page that shows what was answered.
type Historian interface{ History() tea.Cmd }

// history is the page of the answers; below 0 where there is none.
func (s *stage) history() int {
	return slices.IndexFunc(s.pages, func(p Page) bool { _, ok := p.(Historian); return ok })
}

// notice is a line of the notices.
type notice struct {
	at         time.Time
	mark, text string
	style      theme.Style
}

// notices is what went wrong, the newest first.
func notices(s *stage, failed *Failures) *Reader {
	var all []notice
	th := s.theme
	if s.snap != nil {
		for _, w := range s.snap.Warnings {
			all = append(all, notice{w.Time, "!", sanitize.Line(w.From + ": " + w.Text), th.Warn})
		}
	}
	for _, f := range failed.calls {
		all = append(all, notice{f.started, th.Glyph.Fail, f.text, th.Muted})
	}
	slices.SortFunc(all, func(a, b notice) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.text, b.text)) })
	return &Reader{Name: "notices", Title: "Notices", Rows: func(f *Frame, w int) []string {
		if len(all) == 0 {
			return []string{f.Theme.Faint.Render("Nothing went wrong.")}
		}
		var rows []string
		for _, n := range all {
			age := f.Theme.Faint.Render(f.Ago(n.at))
			lines := widget.Wrap(n.text, w-10)
			for i, line := range lines {
				mark, end := " ", ""
				if i == 0 {
					mark, end = n.style.Render(n.mark), age
				}
				rows = append(rows, widget.Ends(mark+" "+f.Theme.Text.Render(line), end, w))
			}
		}
		return rows
	}}
}
