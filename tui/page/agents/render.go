package agents

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/browser"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Render draws the list, and what is known of one session beside or below it, or instead
// of it in a small terminal.
func (p *Page) Render(f *tui.Frame) []string {
	p.Areas = p.Areas[:0]
	const gap = 2
	some := len(p.rows) > 0 || !p.Filter.Empty()
	aired := func(pane []string, w int) []string { return widget.Rows(pane, w+gap, f.H) }
	switch {
	case f.W >= 180 && some:
		third := min(f.W/4, 60)
		w := p.listWidth(f, f.W-third-gap)
		detail := f.W - third - w - 2*gap
		return widget.Beside(f.Theme, aired(p.listPane(f, w, f.H), w), aired(p.detailPane(f, w+gap, 0, detail, f.H), detail), p.besidePane(f, third, f.H))
	case f.W >= 120 && some:
		w := p.listWidth(f, f.W)
		return widget.Beside(f.Theme, aired(p.listPane(f, w, f.H), w), p.detailPane(f, w+gap, 0, f.W-w-gap, f.H))
	case f.W >= 80 && f.H >= 20 && some:
		h := min(max(len(p.rows)+3, 6), f.H/2)
		return append(p.listPane(f, f.W, h), p.detailPane(f, 0, h, f.W, f.H-h)...)
	case p.Focus == browser.PartDetail:
		return p.detailPane(f, 0, 0, f.W, f.H)
	}
	return p.listPane(f, f.W, f.H)
}

// listWidth is how wide the list is beside the detail: what its columns need, before the
// detail gets more than it needs to be read, of the width that both have.
func (p *Page) listWidth(f *tui.Frame, both int) int {
	const least, most = 44, 80 // of the detail
	need := 4
	for _, c := range p.columns(f, 1<<20) {
		need += c.w + gapW
	}
	return min(max(need, both-most), both-least)
}

func (p *Page) listPane(f *tui.Frame, w, h int) []string {
	th := f.Theme
	focus := f.Focus && p.Focus != browser.PartDetail
	rows := []string{widget.PaneRule(f.Theme, "Sessions", p.verdict(th, w), focus, w)}
	for _, c := range p.counts() {
		p.Areas.Count(rows[0], 0, c.text, func() tea.Cmd { return p.Update(tui.FilterSessionsMsg{Text: c.query}) })
	}
	for _, row := range p.Filter.Rows(f, 2, len(rows), w-2, p.Typing()) {
		rows = append(rows, "  "+row)
	}
	if len(p.rows) == 0 && !p.Filter.Empty() {
		return widget.Rows(append(rows, "  "+th.Faint.Render("No matching sessions. Esc clears the filter.")), w, h)
	}
	if len(p.rows) == 0 {
		return widget.Rows(append(rows, append(p.nothing(th, w), f.Example()...)...), w, h)
	}
	cols := p.columns(f, w-4)
	if h >= 6 {
		rows = append(rows, "  "+p.heads(th, cols, 2, len(rows), w-4))
	}
	left := h - len(rows)
	p.Areas = append(p.Areas, tui.Area{Part: browser.PartList, Y: len(rows), W: w, H: left})
	rows = append(rows, p.List.Render(th, w, left, focus, func(i, w int) string {
		r := &p.rows[i]
		if r.Session == nil {
			return widget.Rule(th.Border, th.Strong, th.Glyph.Frame.Top, r.head, th.Faint.Render(r.note), w)
		}
		return line(cols, r.Session, w)
	})...)
	return widget.Rows(rows, w, h)
}

func (p *Page) nothing(th *theme.Theme, w int) []string {
	var rows []string
	for _, text := range []string{
		"",
		"Sessions of coding agents on this machine appear here: what each does, what it waits for, and what it costs.",
		"Claude Code and Codex are found by themselves. OpenCode and Gemini CLI tell more once they are set up: mcpdeck setup --prompts.",
	} {
		rows = append(rows, widget.Paragraph(th.Faint, "  ", text, max(min(w-4, 88), 10))...)
	}
	return rows
}

// count is how many sessions are in a state, in words, and the query for them.
type count struct{ text, query string }

// counts are those that wait, are at work and are idle, what matters most first.
func (p *Page) counts() []count {
	waits, works, idle := 0, 0, 0
	for i := range p.all {
		switch s := p.all[i].State; {
		case s.Waits():
			waits++
		case s == snapshot.Working:
			works++
		case s == snapshot.Idle:
			idle++
		}
	}
	var out []count
	add := func(n int, words, status string) {
		if n > 0 {
			out = append(out, count{fmt.Sprintf("%d %s", n, words), "status:" + status})
		}
	}
	if waits == 1 {
		add(1, "waits for you", "waiting")
	} else {
		add(waits, "wait for you", "waiting")
	}
	add(works, "at work", string(snapshot.Working))
	add(idle, "idle", string(snapshot.Idle))
	return out
}

// verdict is how many sessions are in which state.
func (p *Page) verdict(th *theme.Theme, w int) string {
	if p.asked.err != nil {
		return th.Warn.Render(sanitize.Line(p.asked.err.Error()))
	}
	if !p.Filter.Empty() {
		n := 0
		for i := range p.rows {
			if p.rows[i].Session != nil {
				n++
			}
		}
		return th.Muted.Render(fmt.Sprintf("%d of %d", n, len(p.all)))
	}
	var parts []string
	for _, c := range p.counts() {
		style := th.Faint
		if c.query == "status:waiting" {
			style = th.Warn
		}
		parts = append(parts, style.Render(c.text))
	}
	dot := th.Faint.Render(" " + th.Glyph.Dot + " ")
	const title = 16 // cells of the rule's title, and the air around both
	for len(parts) > 1 && widget.Width(strings.Join(parts, dot)) > w-title {
		parts = parts[:len(parts)-1]
	}
	return strings.Join(parts, dot)
}

// gapW is the air between two columns.
const gapW = 2

// column is a column of the list.
type column struct {
	name, head string
	w          int
	right      bool
	cell       func(s *snapshot.Session) (string, theme.Style)
}

// The subject is cut to wholeSubject before what repeats or is a figure goes, and to
// leastSubject before anything else does.
const (
	wholeSubject = 48
	leastSubject = 24
)

// columns are those that fit into w cells, as wide as what is in them. The first of those
// that go are least missed, and the one that the list is sorted by is missed more; the subject
// takes what is left.
func (p *Page) columns(f *tui.Frame, w int) []column {
	cols := p.allColumns(f)
	for i := range cols {
		c := &cols[i]
		if c.name == p.Order.By {
			arrow := p.Order.Arrow(f.Theme, tui.SortingBy(sorts(), c.name).Down)
			if c.right {
				c.head = arrow + c.head
			} else {
				c.head += arrow
			}
		}
		used := false
		for j := range p.all {
			text, _ := c.cell(&p.all[j])
			n := widget.Width(text)
			used = used || n > 0
			c.w = max(c.w, n)
		}
		switch most := map[string]int{"state": 12, "agent": 10, "project": 18, "title": 30, "mode": 12, "model": 18, "place": 14, "subject": 1 << 20}[c.name]; {
		case !used && c.name != "subject":
			c.w = 0
		case most > 0:
			c.w = min(c.w, most)
		}
		if c.w > 0 {
			c.w = max(c.w, widget.Width(c.head))
		}
	}
	drop := func(name string) {
		for i := range cols {
			if cols[i].name == name {
				cols = append(cols[:i:i], cols[i+1:]...)
				return
			}
		}
	}
	for i := len(cols) - 1; i >= 0; i-- {
		if cols[i].w == 0 {
			drop(cols[i].name)
		}
	}
	subject := func() (free, wants int) {
		free = w
		for _, c := range cols {
			if c.name == "subject" {
				wants = c.w
				continue
			}
			free -= c.w + gapW
		}
		return free, wants
	}
	missed := []string{"title", "place", "mode", "model", "subs", "tokens", "context", "cost", "age", "project"}
	missed = append(slices.DeleteFunc(missed, func(name string) bool { return name == p.Order.By }), p.Order.By, "agent")
	for i, name := range missed {
		least := wholeSubject
		if i > 4 {
			least = min(leastSubject, w/2)
		}
		if free, wants := subject(); free < min(wants, least) {
			drop(name)
		}
	}
	free, wants := subject()
	for i := range cols {
		if cols[i].name == "subject" {
			cols[i].w = max(free, 0)
			if w >= 1<<19 { // what the list would like
				cols[i].w = min(wants, 60)
			}
		}
	}
	return cols
}

func (p *Page) allColumns(f *tui.Frame) []column {
	th := f.Theme
	text := func(style theme.Style, of func(s *snapshot.Session) string) func(*snapshot.Session) (string, theme.Style) {
		return func(s *snapshot.Session) (string, theme.Style) { return of(s), style }
	}
	narrow, head := f.W < 50, "State"
	if narrow {
		head = ""
	}
	return []column{
		{name: "state", head: head, cell: func(s *snapshot.Session) (string, theme.Style) {
			mark, style, word := tui.SessionMark(f, s)
			if narrow { // so that the agent has room
				return mark, style
			}
			return mark + " " + word, style
		}},
		{name: "agent", head: "Agent", cell: func(s *snapshot.Session) (string, theme.Style) { return sanitize.Line(s.Agent), th.Text }},
		{name: "project", head: "Project", cell: text(th.Muted, project)},
		{name: "title", head: "Title", cell: text(th.Muted, func(s *snapshot.Session) string {
			if s.State.Waits() || s.State == snapshot.Working { // else it is the subject
				return sanitize.Line(s.Title)
			}
			return ""
		})},
		{name: "subject", head: "What", cell: func(s *snapshot.Session) (string, theme.Style) {
			if s.State == snapshot.Working || s.State.Waits() {
				return tui.SessionSubject(s), th.Text
			}
			return tui.SessionSubject(s), th.Muted
		}},
		{name: "subs", head: "Subs", right: true, cell: text(th.Muted, func(s *snapshot.Session) string {
			if s.Subagents == 0 {
				return ""
			}
			return fmt.Sprintf("+%d", s.Subagents)
		})},
		{name: "mode", head: "Mode", cell: text(th.Faint, func(s *snapshot.Session) string { return sanitize.Line(s.Mode) })},
		{name: "model", head: "Model", cell: text(th.Faint, func(s *snapshot.Session) string { return sanitize.Line(s.Model) })},
		{name: "place", head: "Place", cell: text(th.Faint, where)},
		{name: "tokens", head: "Tokens", right: true, cell: text(th.Muted, tokens)},
		{name: "cost", head: "Cost", right: true, cell: text(th.Muted, tui.Dollars)},
		{name: "context", head: "Full", right: true, cell: func(s *snapshot.Session) (string, theme.Style) {
			if s.Context.Window > 0 && s.Context.Used*10 >= s.Context.Window*8 {
				return tui.Filled(s), th.Warn
			}
			return tui.Filled(s), th.Muted
		}},
		{name: "age", head: "For", right: true, cell: func(s *snapshot.Session) (string, theme.Style) {
			if s.Since.IsZero() {
				return "", th.Faint
			}
			if s.State.Waits() {
				return f.Ago(s.Since), th.Warn
			}
			return f.Ago(s.Since), th.Faint
		}},
	}
}

func tokens(s *snapshot.Session) string {
	n := tui.AllTokens(s)
	switch {
	case n == 0:
		return ""
	case s.Usage.Partial:
		return "≥ " + snapshot.CountTokens(n)
	}
	return snapshot.CountTokens(n)
}

// where is the terminal of a session.
func where(s *snapshot.Session) string {
	p := &s.Place
	for _, text := range []string{p.Tmux, p.TmuxPane, p.Other, strings.TrimPrefix(p.TTY, "/dev/")} {
		if text != "" {
			return sanitize.Line(text)
		}
	}
	if s.Headless {
		return "headless"
	}
	return ""
}

func line(cols []column, s *snapshot.Session, w int) string {
	return join(cols, w, func(c *column) (string, theme.Style) { return c.cell(s) })
}

func join(cols []column, w int, cell func(*column) (string, theme.Style)) string {
	var b strings.Builder
	for i := range cols {
		c := &cols[i]
		if i > 0 {
			b.WriteString(widget.Blank(gapW))
		}
		text, style := cell(c)
		text = widget.Cut(text, c.w)
		pad := widget.Blank(max(c.w-widget.Width(text), 0))
		if c.right {
			b.WriteString(pad)
			pad = ""
		}
		b.WriteString(style.Render(text) + pad)
	}
	return widget.Fit(b.String(), w)
}

// detailPane draws all that is known of the session under the cursor.
func (p *Page) detailPane(f *tui.Frame, x, y, w, h int) []string {
	s := p.selected()
	focus := f.Focus && p.Focus == browser.PartDetail
	if s == nil {
		return widget.Rows([]string{widget.PaneRule(f.Theme, "Session", "", focus, w)}, w, h)
	}
	p.Areas = append(p.Areas, tui.Area{Part: browser.PartDetail, X: x, Y: y, W: w, H: h})
	title := sanitize.Line(s.Agent)
	if name := project(s); name != "" {
		title += " " + f.Theme.Glyph.Dot + " " + name
	}
	rows := []string{widget.PaneRule(f.Theme, title, "", focus, w)}
	inner := min(w-3, 88)
	body := p.detail(f, s, inner)
	for _, l := range p.Search.Render(f, &p.Detail, body, x+1, y+1, w-1, h-1) {
		rows = append(rows, " "+l)
	}
	return widget.Rows(rows, w, h)
}

// detail is the text of the detail, w cells wide.
func (p *Page) detail(f *tui.Frame, s *snapshot.Session, w int) []string {
	th := f.Theme
	var rows []string
	para := func(style theme.Style, text string) {
		for l := range strings.SplitSeq(sanitize.Text(text), "\n") {
			rows = append(rows, widget.Paragraph(style, "", l, w)...)
		}
	}
	fact := func(name, value string) { rows = append(rows, factRows(th, name, value, w)...) }
	mark, style, word := tui.SessionMark(f, s)
	state := style.Render(mark + " " + word)
	if !s.Since.IsZero() {
		how := " for " + f.Ago(s.Since)
		if how == " for now" { // which means something else
			how = " just now"
		}
		state += th.Muted.Render(how)
	}
	rows = append(rows, state)
	if s.Title != "" {
		para(th.Strong, s.Title)
	}
	if note := explain(s); note != "" {
		para(th.Faint, note)
	}
	if s.State.Waits() && s.WaitingFor != "" {
		rows = append(rows, "")
		para(th.Text, tui.SessionAsks(s))
	} else if s.LastTool != "" {
		rows = append(rows, "", th.Faint.Render("last: ")+th.Strong.Render(sanitize.Line(s.LastTool)))
		para(th.Text, s.LastSubject)
	}
	rows = append(rows, "")
	fact("folder", sanitize.Line(s.Folder))
	fact("model", sanitize.Line(s.Model))
	fact("mode", sanitize.Line(s.Mode))
	if s.Subagents > 0 {
		fact("agents", humanize.Count(s.Subagents, "sub-agent")+" at work")
	}
	fact("context", contextLine(th, s, w-12))
	fact("tokens", usageLine(s))
	fact("cost", costLine(s))
	fact("place", placeLine(s))
	version := sanitize.Line(s.Agent)
	if s.Version != "" {
		version += " " + sanitize.Line(s.Version)
	}
	if s.PID > 0 {
		version += fmt.Sprintf(", process %d", s.PID)
	}
	fact("program", version)
	fact("session", sanitize.Line(s.ID))
	if a := p.connection(s); a != nil && f.W < 180 { // else it stands beside
		rows = append(append(rows, "", widget.Section(th, "Connection to the deck", "", w)), p.connectionFacts(f, a, w)...)
	}
	return rows
}

// factRows draws a name and its value, w cells wide; none if there is no value.
func factRows(th *theme.Theme, name, value string, w int) []string {
	const nameW = 12
	if value == "" {
		return nil
	}
	var rows []string
	for i, l := range widget.Wrap(value, max(w-nameW, 8)) {
		if i > 0 {
			name = ""
		}
		rows = append(rows, th.Faint.Render(widget.Fit(name, nameW))+l)
	}
	return rows
}
