package agents

import (
	"cmp"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
)

// sorting is a way to sort the sessions.
type sorting struct {
	key     string // the letter of its head
	column  string // "" is by need
	means   string
	compare func(a, b *deck.Session) int // nil: as the list comes
	down    bool                         // the largest first
}

func sorts() []sorting {
	full := func(s *deck.Session) float64 { return float64(s.Context.Used) / float64(max(s.Context.Window, 1)) }
	return []sorting{
		{"S", "", "need: what waits for you first", nil, true},
		{"A", "agent", "agent", func(a, b *deck.Session) int { return cmp.Compare(a.Agent, b.Agent) }, false},
		{"P", "project", "project", func(a, b *deck.Session) int { return cmp.Compare(project(a), project(b)) }, false},
		{"T", "tokens", "tokens", func(a, b *deck.Session) int { return cmp.Compare(tui.AllTokens(b), tui.AllTokens(a)) }, true},
		{"C", "cost", "cost", func(a, b *deck.Session) int { return cmp.Compare(b.Cost.USD, a.Cost.USD) }, true},
		{"F", "context", "how full the context is", func(a, b *deck.Session) int { return cmp.Compare(full(b), full(a)) }, true},
	}
}

// sortOf is the way to sort by a column; nil when there is none.
func sortOf(column string) *sorting {
	all := sorts()
	if i := slices.IndexFunc(all, func(s sorting) bool { return s.column == column }); i >= 0 {
		return &all[i]
	}
	return nil
}

// sortBy sorts the sessions by a column, the second time the other way around.
func (p *Page) sortBy(column string) tea.Cmd {
	p.sort.Sort(column)
	p.arrange()
	return nil
}

// heads are the names of the columns, w cells wide at x, y; the one that is sorted by stands
// out. A click on one does what its key does.
func (p *Page) heads(th *theme.Theme, cols []column, x, y, w int) string {
	by := cmp.Or(p.sort.By, "state")
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
		if c.head != "" && sortOf(name) != nil {
			p.areas.Head(row, x, y, c.head, func() tea.Cmd { return p.sortBy(name) })
		}
	}
	return row
}
