package agents

import (
	"cmp"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
)

// sorts are the ways to sort the sessions; as the list comes is by need.
func sorts() []tui.Sorting[*snapshot.Session] {
	full := func(s *snapshot.Session) float64 { return float64(s.Context.Used) / float64(max(s.Context.Window, 1)) }
	return []tui.Sorting[*snapshot.Session]{
		{Means: "need: what waits for you first", Down: true},
		{Column: "agent", Means: "agent", Compare: func(a, b *snapshot.Session) int { return cmp.Compare(a.Agent, b.Agent) }},
		{Column: "project", Means: "project", Compare: func(a, b *snapshot.Session) int { return cmp.Compare(project(a), project(b)) }},
		{Column: "tokens", Means: "tokens", Compare: func(a, b *snapshot.Session) int { return cmp.Compare(tui.AllTokens(b), tui.AllTokens(a)) }, Down: true},
		{Column: "cost", Means: "cost", Compare: func(a, b *snapshot.Session) int { return cmp.Compare(b.Cost.USD, a.Cost.USD) }, Down: true},
		{Column: "context", Means: "how full the context is", Compare: func(a, b *snapshot.Session) int { return cmp.Compare(full(b), full(a)) }, Down: true},
	}
}

// sortBy sorts the sessions by a column, the second time the other way around.
func (p *Page) sortBy(column string) tea.Cmd {
	p.Order.Sort(column)
	p.arrange()
	return nil
}

// heads are the names of the columns, w cells wide at x, y; the one that is sorted by stands
// out. A click on one does what its key does.
func (p *Page) heads(th *theme.Theme, cols []column, x, y, w int) string {
	by := cmp.Or(p.Order.By, "state")
	row := join(cols, w, func(c *column) (string, theme.Style) {
		if c.name == by {
			return c.head, th.Accent
		}
		return c.head, th.Faint
	})
	for _, c := range cols {
		name := c.name
		if name == "state" {
			name = ""
		}
		if c.head != "" && tui.SortingBy(sorts(), name) != nil {
			p.Areas.Head(row, x, y, c.head, func() tea.Cmd { return p.sortBy(name) })
		}
	}
	return row
}
