package card

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// What the tools are sorted by.
const (
	byName    = "" // as the server lists them
	byContext = "context"
	byCalls   = "calls"
	byP95     = "p95"
)

// sorts are those in the order in which a key goes through them.
func sorts() []string { return []string{byName, byContext, byCalls, byP95} }

// sortBy sorts the tools by a column, the second time the other way around.
func (p *Page) sortBy(column string) tea.Cmd {
	p.order.Sort(column)
	p.arrange()
	p.lists[partTools].MoveTo(0)
	return nil
}

// sortNext sorts the tools by the next column.
func (p *Page) sortNext() tea.Cmd { return p.sortBy(tui.Next(sorts(), p.order.By, 1)) }

// arrange makes the rows of the tools: what is held first. The cursor stays on its row.
func (p *Page) arrange() {
	at := p.rowName(p.row())
	d := &p.details
	p.rows = nil
	words := strings.Fields(strings.ToLower(p.filter.Text()))
	fits := func(texts ...string) bool {
		text := strings.ToLower(strings.Join(texts, "\n"))
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
	}
	for i := range d.Held {
		if h := &d.Held[i]; (h.Tool == "" || h.Kind != "") && fits(heldName(h)) {
			p.rows = append(p.rows, row{held: h})
		}
	}
	for i := range d.Tools {
		t := &d.Tools[i]
		if !fits(t.Original, t.Description, string(t.Verdict)) {
			continue
		}
		r := row{tool: t}
		if j := slices.IndexFunc(d.Held, func(h snapshot.Held) bool { return h.Kind == "" && h.Tool == t.Original }); j >= 0 && t.Verdict == snapshot.OnHold {
			r.held = &d.Held[j]
		}
		p.rows = append(p.rows, r)
	}
	slices.SortStableFunc(p.rows, p.compare)
	for _, n := range d.Notes {
		if fits(n) {
			p.rows = append(p.rows, row{note: n})
		}
	}
	l := p.lists[partTools]
	l.SetLen(len(p.rows))
	if i := slices.IndexFunc(p.rows, func(r row) bool { return p.rowName(&r) == at }); i >= 0 {
		l.MoveTo(i)
	}
}

func (p *Page) compare(a, b row) int {
	if (a.held == nil) != (b.held == nil) {
		if a.held != nil {
			return -1
		}
		return 1
	}
	if a.tool == nil || b.tool == nil {
		return 0
	}
	if p.order.Turned {
		a, b = b, a
	}
	switch p.order.By {
	case byContext:
		return cmp.Compare(b.tool.Context, a.tool.Context)
	case byCalls:
		return cmp.Compare(b.tool.Figures.Calls, a.tool.Figures.Calls)
	case byP95:
		return cmp.Compare(b.tool.Figures.P95, a.tool.Figures.P95)
	default:
		return 0
	}
}

// row is the one under the cursor.
func (p *Page) row() *row { return widget.Selected(p.lists[partTools], p.rows) }

// rowName tells rows apart.
func (p *Page) rowName(r *row) string {
	switch {
	case r == nil:
		return ""
	case r.tool != nil:
		return "tool " + r.tool.Original
	case r.held != nil:
		return "held " + heldName(r.held)
	}
	return "note " + r.note
}

// look is what the page keeps between runs.
type look struct{ tui.Order }

// SaveState implements tui.StateSaver.
func (p *Page) SaveState() string { return tui.EncodeState(look{p.order}) }

// LoadState implements tui.StateSaver.
func (p *Page) LoadState(kept string) {
	var l look
	if tui.DecodeState(kept, &l) && slices.Contains(sorts(), l.By) {
		p.order = l.Order
	}
}
