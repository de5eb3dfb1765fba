package card

import (
	"fmt"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// column is one of the figures of a tool.
type column struct {
	title string
	w     int
	by    string // that it is sorted by; "" is by nothing
	text  func(*snapshot.Tool) string
}

// columns are as many as fit into w cells beside a name and a verdict. The least
// important goes first.
func (p *Page) columns(w int) []column {
	figure := func(n uint64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatUint(n, 10)
	}
	took := func(t *snapshot.Tool, d func(*snapshot.Figures) string) string {
		if t.Figures.Calls == 0 {
			return ""
		}
		return d(&t.Figures)
	}
	all := []column{
		{"≈ tokens", 9, byContext, func(t *snapshot.Tool) string {
			if t.Verdict != snapshot.Allow {
				return "0"
			}
			return snapshot.AboutTokens(t.Context)
		}},
		{"calls", 7, byCalls, func(t *snapshot.Tool) string { return figure(t.Figures.Calls) }},
		{"p95", 9, byP95, func(t *snapshot.Tool) string {
			return took(t, func(f *snapshot.Figures) string { return humanize.Took(f.P95) })
		}},
		{"failed", 8, "", func(t *snapshot.Tool) string { return figure(t.Figures.Failed) }},
		{"p50", 9, "", func(t *snapshot.Tool) string {
			return took(t, func(f *snapshot.Figures) string { return humanize.Took(f.P50) })
		}},
		{"context", 10, byContext, func(t *snapshot.Tool) string {
			if t.Verdict != snapshot.Allow {
				return "0 B"
			}
			return tui.Bytes(t.Context)
		}},
	}
	places := []string{"context", "≈ tokens", "calls", "failed", "p50", "p95"}
	left := w - leastName(w) - verdictW
	fits := map[string]column{}
	for _, c := range all {
		if left < c.w {
			break
		}
		left -= c.w
		fits[c.title] = c
	}
	var out []column
	for _, name := range places {
		if c, ok := fits[name]; ok {
			out = append(out, c)
		}
	}
	return out
}

const verdictW = 8

// leastName is how wide names are at least in rows of w cells.
func leastName(w int) int {
	switch {
	case w < 40:
		return 14
	case w < 60:
		return 20
	}
	return 28
}

// toolHead names the columns, w cells wide at x, y; an arrow marks the one that rows are
// sorted by. A click on one sorts by it.
func (p *Page) toolHead(th *theme.Theme, x, y, w int) string {
	cells, marked := "", false
	for _, c := range p.columns(w) {
		name := c.title
		if c.by != "" && c.by == p.order.By && !marked {
			name, marked = p.order.Arrow(th, true)+name, true
		}
		cells += rightly(name, c.w)
	}
	nameW := p.toolNameWidth(w)
	row := widget.Fit("  name", nameW) + "agents" + widget.Blank(max(w-nameW-6-widget.Width(cells), 0)) + cells
	for _, c := range append(p.columns(w), column{title: "name"}) {
		if c.by != "" || c.title == "name" {
			p.areas.Head(row, x, y, c.title, func() tea.Cmd { return p.sortBy(c.by) })
		}
	}
	return th.Faint.Render(row)
}

func (p *Page) toolNameWidth(w int) int {
	cells := 0
	for _, c := range p.columns(w) {
		cells += c.w
	}
	return max(w-cells-verdictW, 8)
}

func (p *Page) toolRow(th *theme.Theme, r *row, w int) string {
	nameW := p.toolNameWidth(w)
	switch {
	case r.tool == nil && r.held == nil:
		return th.Faint.Render("  " + widget.Cut(r.note, w-2))
	case r.held != nil:
		h := r.held
		text := fmt.Sprintf("held  changed %+d B", h.Now-h.Was)
		if h.New {
			text = "held  new, " + tui.Bytes(h.Now)
		}
		left := th.Warn.Render("! " + widget.Fit(sanitize.Line(heldName(h)), nameW-3) + " " + text)
		if w < 60 {
			return widget.Fit(left, w)
		}
		return widget.Ends(left, th.Key.Render("a")+th.Faint.Render(" accept"), w)
	}
	t := r.tool
	name, style := th.Text, th.Good
	if t.Verdict != snapshot.Allow {
		name, style = th.Faint, th.Faint
	}
	cells := ""
	for _, c := range p.columns(w) {
		text := rightly(c.text(t), c.w)
		switch {
		case t.Verdict == snapshot.Hidden:
			text = ""
		case c.title == "failed" && t.Figures.Failed > 0:
			text = th.Bad.Render(text)
		default:
			text = th.Muted.Render(text)
		}
		cells += text
	}
	left := name.Render("  "+widget.Fit(sanitize.Line(t.Original), nameW-3)+" ") + style.Render(string(t.Verdict))
	if t.Verdict == snapshot.Hidden {
		return widget.Fit(left+"  "+th.Faint.Render(t.Why), w)
	}
	return widget.Ends(left, cells, w)
}
