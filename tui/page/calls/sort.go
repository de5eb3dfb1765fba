package calls

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/browser"
)

// order compares calls. Those that are alike stand from the newest to the oldest.
type order func(a, b *call) int

// orderOf is how the calls are sorted; nil is as they began.
func orderOf(o tui.Order) order {
	compare := tui.SortingBy(sorts(), o.By).Compare
	switch {
	case !o.Turned:
		return compare
	case compare == nil:
		return func(a, b *call) int { return b.key.compare(a.key) }
	}
	return func(a, b *call) int { return compare(b, a) }
}

// byStart is the column of the order in which calls come.
const byStart = "start"

// sorts are the ways to sort the calls. A column's name is its head in lower case.
func sorts() []tui.Sorting[*call] {
	return []tui.Sorting[*call]{
		{Column: byStart, Means: "start time"},
		{Column: "agent", Means: "agent", Compare: func(a, b *call) int { return cmp.Compare(a.AgentName, b.AgentName) }},
		{Column: "tool", Means: "tool", Compare: func(a, b *call) int { return cmp.Compare(a.Tool, b.Tool) }},
		{Column: "duration", Means: "duration, running calls first", Compare: longest, Down: true},
	}
}

// longest compares by duration. What runs comes first: nobody knows how long it will take.
func longest(a, b *call) int {
	switch runs := a.Status == snapshot.Running; {
	case runs && b.Status == snapshot.Running:
		return a.Started.Compare(b.Started)
	case runs:
		return -1
	case b.Status == snapshot.Running:
		return 1
	}
	return cmp.Compare(b.Duration, a.Duration)
}

// sortBy sorts the calls by a column, the second time the other way around, and shows the
// first of them. As they began, the cursor stays on its call, or the newest.
func (p *Page) sortBy(column string) tea.Cmd {
	p.Order.Sort(column)
	return p.reorder()
}

// reorder puts the calls into their order.
func (p *Page) reorder() tea.Cmd {
	p.Focus = browser.PartList
	load := p.change(func() {
		p.log.order = orderOf(p.Order)
		p.log.sort()
	})
	if p.log.order == nil {
		return load
	}
	p.List.MoveTo(0)
	return tea.Batch(load, p.load())
}

// follows reports whether the cursor stays on the newest call.
func (p *Page) follows() bool { return p.follow && p.log.order == nil }

// arrow says which way the calls are sorted.
func (p *Page) arrow(th *theme.Theme) string {
	return p.Order.Arrow(th, tui.SortingBy(sorts(), p.Order.By).Down)
}

// heads are the names of the columns, w cells wide at x, y. A click on one does what its key
// does.
func (p *Page) heads(th *theme.Theme, x, y, w int) string {
	row := tui.CallHeads(th, tui.CallHead(p.Order.By), p.arrow(th), w)
	for _, s := range sorts() {
		p.Areas.Head(row, x, y, strings.ToUpper(s.Column[:1])+s.Column[1:], func() tea.Cmd { return p.sortBy(s.Column) })
	}
	return row
}

// sort puts the calls that the filter lets through in their order.
func (l *log) sort() {
	l.sorted = nil
	if l.order == nil {
		return
	}
	var list []*call
	for i := range l.calls {
		if c := &l.calls[i]; l.filter.empty() || l.lets(c) {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b *call) int { return cmp.Or(l.order(a, b), b.key.compare(a.key)) })
	for _, c := range list {
		l.sorted = append(l.sorted, c.key)
	}
}

// lets reports whether the filter has let a call through.
func (l *log) lets(c *call) bool {
	_, found := slices.BinarySearchFunc(l.found, c.key, key.compare)
	return found
}
