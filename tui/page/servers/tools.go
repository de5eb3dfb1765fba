package servers

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// What the tools are sorted by.
const (
	byName   = "" // as the server lists them
	byTokens = "tokens"
	byCalls  = "calls"
	byP95    = "p95"
)

// toolSorts are those in the order in which a key goes through them.
func toolSorts() []string { return []string{byName, byTokens, byCalls, byP95} }

// toolTable is the tools of the server in the reading pane.
type toolTable struct {
	order  tui.Order
	filter tui.Filter
	rows   []toolRow
}

// toolRow is a tool, or a note about what is not one.
type toolRow struct {
	*snapshot.Tool
	note string
}

func (r *toolRow) name() string {
	if r.Tool == nil {
		return "note " + r.note
	}
	return r.Original
}

// arrange makes the rows of those that the filter lets through.
func (t *toolTable) arrange(d *snapshot.Details) {
	t.rows = nil
	words := strings.Fields(strings.ToLower(t.filter.Text()))
	for i := range d.Tools {
		if one := &d.Tools[i]; fits(words, one.Original, one.Description, string(one.Verdict)) {
			t.rows = append(t.rows, toolRow{Tool: one})
		}
	}
	slices.SortStableFunc(t.rows, t.compare)
	for _, n := range d.Notes {
		if fits(words, n) {
			t.rows = append(t.rows, toolRow{note: n})
		}
	}
}

func (t *toolTable) compare(a, b toolRow) int {
	if t.order.Turned {
		a, b = b, a
	}
	switch t.order.By {
	case byTokens:
		return cmp.Compare(b.Context, a.Context)
	case byCalls:
		return cmp.Compare(b.Figures.Calls, a.Figures.Calls)
	case byP95:
		return cmp.Compare(b.Figures.P95, a.Figures.P95)
	default:
		return 0
	}
}

// sortBy sorts the tools by a column, the second time the other way around.
func (t *toolTable) sortBy(column string, d *snapshot.Details) {
	t.order.Sort(column)
	t.arrange(d)
}

// filtered are the tools that the filter lets through and whose verdict is the user's.
func (t *toolTable) filtered() (tools []string) {
	for _, r := range t.rows {
		if r.Tool != nil && (r.Verdict == snapshot.Allow || r.Verdict == snapshot.Denied) {
			tools = append(tools, r.Original)
		}
	}
	return tools
}

// column is one of the figures of a tool.
type column struct {
	title string
	w     int
	by    string // that it is sorted by; "" is by nothing
	at    int    // where it stands among the others
	text  func(*snapshot.Tool) string
}

// columns are as many as fit into w cells beside names of nameW cells, the most important first.
func (t *toolTable) columns(w int) (out []column, nameW int) {
	for _, r := range t.rows {
		if r.Tool != nil {
			nameW = max(nameW, widget.Width(sanitize.Line(r.Original)))
		}
	}
	nameW = min(nameW+3, max(w-10, 12))
	took := func(d func(*snapshot.Figures) string) func(*snapshot.Tool) string {
		return func(t *snapshot.Tool) string {
			if t.Figures.Calls == 0 {
				return ""
			}
			return d(&t.Figures)
		}
	}
	count := func(of func(*snapshot.Figures) uint64) func(*snapshot.Tool) string {
		return took(func(f *snapshot.Figures) string {
			if of(f) == 0 {
				return ""
			}
			return strconv.FormatUint(of(f), 10)
		})
	}
	left := w - nameW
	called := slices.ContainsFunc(t.rows, func(r toolRow) bool { return r.Tool != nil && r.Figures.Calls > 0 })
	for i, c := range []column{
		{"≈ tokens", 9, byTokens, 0, func(t *snapshot.Tool) string { return "≈ " + snapshot.AboutTokens(t.Context) }},
		{"calls", 7, byCalls, 1, count(func(f *snapshot.Figures) uint64 { return f.Calls })},
		{"p95", 9, byP95, 4, took(func(f *snapshot.Figures) string { return humanize.Took(f.P95) })},
		{"failed", 8, "", 2, count(func(f *snapshot.Figures) uint64 { return f.Failed })},
		{"p50", 9, "", 3, took(func(f *snapshot.Figures) string { return humanize.Took(f.P50) })},
	} {
		if left -= c.w; left < 0 || i > 0 && !called {
			break
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b column) int { return a.at - b.at })
	return out, nameW
}

// heads names the columns beside how many tools there are.
func (t *toolTable) heads(th *theme.Theme, n, w int) string {
	columns, nameW := t.columns(w)
	name := "Tools " + strconv.Itoa(n)
	if !t.filter.Empty() {
		name = "Tools " + strconv.Itoa(len(t.rows)) + " of " + strconv.Itoa(n)
	}
	if len(t.rows) == 0 {
		columns = nil
	}
	row := ""
	for _, c := range columns {
		head := c.title
		if c.by != "" && c.by == t.order.By {
			head = t.order.Arrow(th, true) + head
		}
		row += widget.PadLeft(head, c.w)
	}
	return th.Strong.Render(widget.Fit(name, max(nameW+1, widget.Width(name)))) + th.Faint.Render(row)
}

// row draws a tool of a server that is on or off.
func (t *toolTable) row(th *theme.Theme, r *toolRow, on bool, w int) string {
	if r.Tool == nil {
		return th.Faint.Render("  " + widget.Cut(r.note, w-2))
	}
	columns, nameW := t.columns(w)
	sign, style, ink := " ", th.Muted, th.Text
	switch r.Verdict {
	case snapshot.Denied:
		sign, style, ink = th.Glyph.Off, th.Faint, th.Faint
	case snapshot.OnHold, snapshot.Hidden:
		sign, style, ink = "!", th.Warn, th.Muted
	default:
		if on {
			sign, style = th.Glyph.On, th.Good
		}
	}
	row := style.Render(sign) + " " + ink.Render(widget.Fit(sanitize.Line(r.Original), nameW-2))
	switch r.Verdict {
	case snapshot.Hidden:
		return row + th.Faint.Render(" "+cmp.Or(r.Why, "cannot be offered"))
	case snapshot.OnHold:
		return row + th.Warn.Render(" hidden until you accept it")
	case snapshot.Denied:
		return row + th.Faint.Render(" off")
	case snapshot.Allow:
	}
	for _, c := range columns {
		text, style := widget.PadLeft(c.text(r.Tool), c.w), th.Muted
		if c.title == "failed" {
			style = th.Bad
		}
		row += style.Render(text)
	}
	if left := w - widget.Width(row) - 3; left >= leastAbout {
		row += "   " + th.Faint.Render(widget.Cut(sanitize.Line(r.Description), left))
	}
	return row
}

// leastAbout is how many cells of a description say anything.
const leastAbout = 20
