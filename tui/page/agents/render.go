package agents

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/browser"
	"github.com/mcpdeck/mcpdeck/tui/conversation"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Widths, in cells, from which on there is more on the screen.
const (
	besideFrom = browser.Wide // list and conversation stand beside each other
	costFrom   = 100
	wordsFrom  = 72           // states are in words
	belowFrom  = browser.Over // the conversation stands below the list
)

// Render draws the list, and the conversation of one session beside or below it, or instead
// of it where there is little room or it is open.
func (p *Page) Render(f *tui.Frame) []string {
	return tui.AboveAway(f, p.away, func() []string { return p.render(f) })
}

func (p *Page) render(f *tui.Frame) []string {
	p.reading.covered = !f.Focus
	v := browser.View{Title: p.title(), W: min(f.W*2/5, 72), Beside: besideFrom}
	w, _ := p.ListWidth(v, f.W, f.H)
	cols := p.columns(f, w)
	v.Note = p.verdict(f, w)
	v.Row = func(i, w int) string {
		if r := &p.rows[i]; r.Session != nil {
			return cols.row(f, r, w)
		}
		return " " + f.Theme.Title.Render(sanitize.Line(p.rows[i].head))
	}
	v.Detail = func(x, y, w, h int) []string {
		if !p.apart(f) {
			return p.detailPane(f, x, y, w, h)
		}
		detail := min((w-1)*55/100, browser.Prose)
		return widget.Panes(f.Theme, p.detailPane(f, x, y, detail, h), p.stepsPane(f, w-detail-1, h))
	}
	var rows []string
	switch {
	case len(p.rows) > 0:
		v.Below = func(left int) []string { return p.below(f, w, left) }
		rows = p.Panes(f, v)
	case !p.Filter.Empty():
		v.Empty = []string{" " + f.Theme.Faint.Render("No matching sessions. Esc clears the filter.")}
		rows = p.Panes(f, v)
	default:
		p.Areas = p.Areas[:0]
		v.Empty = append(nothing(f.Theme, f.W), f.Example()...)
		rows = p.ListPane(f, v, f.W, f.H)
	}
	for _, c := range p.counts() {
		p.Areas.Count(rows[0], 0, c.text(f), func() tea.Cmd { return p.ask("status:" + c.query) })
	}
	return rows
}

// apart reports whether the steps of the session under the cursor have a pane of their own:
// where they fill it, and the session is not open, which has all of them.
func (p *Page) apart(f *tui.Frame) bool {
	s := p.selected()
	return f.W >= besideFrom && p.Focus != browser.PartDetail && s != nil && s.Record != nil && 3*len(s.Record.Steps) >= 2*f.H
}

// below draws what was answered today and the latest calls in the rows that the list leaves,
// where it stands beside the conversation.
func (p *Page) below(f *tui.Frame, w, h int) []string {
	if f.W < besideFrom {
		return nil
	}
	var rows []string
	if p.opts.Answered != nil && p.opts.Questions != nil {
		rows = p.opts.Answered(f, p.opts.Questions.Pending(), p.all, w, h)
	}
	return append(rows, tui.LatestCalls(f, p.snap, w, max(h-len(rows), 0))...)
}

func nothing(th *theme.Theme, w int) []string {
	var rows []string
	for _, text := range []string{
		"",
		"Start an agent as always: it appears here, with what you asked it and what it says.",
		"Claude Code and Codex are found automatically. Others tell more once they are set up: mcpdeck setup.",
	} {
		rows = append(rows, widget.Paragraph(th.Faint, " ", text, max(min(w-2, conversation.Prose), 10))...)
	}
	return rows
}

// title is how many sessions there are, and how they are sorted.
func (p *Page) title() string {
	n := 0
	for i := range p.rows {
		if p.rows[i].Session != nil {
			n++
		}
	}
	title := fmt.Sprintf("Agents %d", n)
	if !p.Filter.Empty() {
		title += fmt.Sprintf(" of %d", len(p.all))
	}
	if p.Order.By != "" {
		title += ", by " + p.Order.By
	}
	return title
}

// count is how many sessions are in a state.
type count struct {
	n            int
	words, query string
}

// counts are those of all states.
func (p *Page) counts() [states]count {
	out := [states]count{
		{query: "waiting", words: "needs you"},
		{query: "done", words: "done"},
		{query: "working", words: "working"},
		{query: "idle", words: "idle"},
		{query: "unknown", words: "unseen"},
		{query: "ended", words: "ended"},
	}
	for i := range p.all {
		out[state(&p.all[i])].n++
	}
	return out
}

// text is a count as a screen has room for it; "" if there is nothing to count.
func (c *count) text(f *tui.Frame) string {
	g := &f.Theme.Glyph
	sign := map[string]string{"waiting": g.Wait, "done": g.OK, "working": g.On, "idle": g.Off, "unknown": "?"}[c.query]
	switch {
	case c.n == 0:
		return ""
	case f.W >= wordsFrom:
		return fmt.Sprintf("%s %d", c.words, c.n)
	case sign == "":
		return ""
	}
	return fmt.Sprintf("%s%d", sign, c.n)
}

// verdict is how many sessions are in which state, or what is wrong with the filter.
func (p *Page) verdict(f *tui.Frame, w int) string {
	th := f.Theme
	if p.asked.err != nil {
		return th.Warn.Render(sanitize.Line(p.asked.err.Error()))
	}
	var parts []string
	for i, c := range p.counts() {
		style := th.Muted
		switch i {
		case waits:
			style = th.Warn
		case done:
			style = th.Good
		}
		if text := c.text(f); text != "" {
			parts = append(parts, style.Render(text))
		}
	}
	dot := th.Faint.Render(" " + th.Glyph.Dot + " ")
	if f.W < wordsFrom {
		dot = " "
	}
	for len(parts) > 1 && widget.Width(strings.Join(parts, dot))+widget.Width(p.title())+8 > w {
		parts = parts[:len(parts)-1]
	}
	return strings.Join(parts, dot)
}

// columns are how wide the columns of the list are; 0 where there is no room for one.
type columns struct {
	agent, project, word, figure, age int
	by                                string // what the figure is
}

func (p *Page) columns(f *tui.Frame, w int) columns {
	c := columns{by: "cost"}
	if p.Order.By == "tokens" || p.Order.By == "context" {
		c.by = p.Order.By
	}
	for i := range p.rows {
		r := &p.rows[i]
		if r.Session == nil {
			continue
		}
		_, _, word := tui.SessionMark(f, r.Session)
		c.agent = max(c.agent, widget.Width(sanitize.Line(r.Agent)))
		c.project = max(c.project, widget.Width(r.project))
		c.word = max(c.word, widget.Width(word))
		c.figure = max(c.figure, widget.Width(c.figureOf(r.Session)))
		c.age = max(c.age, widget.Width(age(f, r.Session)))
	}
	c.agent, c.project, c.age = min(c.agent, 12), min(c.project, max(w/5, 8)), max(c.age, 5)
	if f.W < wordsFrom {
		c.word, c.age = 0, max(c.age-1, 4)
	}
	if w < costFrom && c.by != p.Order.By {
		c.figure = 0
	}
	return c
}

func (c *columns) figureOf(s *snapshot.Session) string {
	switch c.by {
	case "tokens":
		return snapshot.CountTokens(tui.AllTokens(s))
	case "context":
		return tui.Filled(s)
	}
	return tui.Dollars(s)
}

func age(f *tui.Frame, s *snapshot.Session) string {
	if s.Since.IsZero() {
		return ""
	}
	return f.Ago(s.Since)
}

// row draws a session as a row of w cells.
func (c *columns) row(f *tui.Frame, r *row, w int) string {
	th, s := f.Theme, r.Session
	mark, style, word := tui.SessionMark(f, s)
	left := style.Render(mark) + " " + th.Text.Render(widget.Fit(sanitize.Line(s.Agent), c.agent)) + " " + th.Muted.Render(widget.Fit(r.project, c.project)) + " "
	if w >= belowFrom-2 {
		left += " "
	}
	if c.word > 0 {
		left += style.Render(widget.Fit(word, c.word)) + "  "
	}
	right := th.Faint.Render(widget.PadLeft(age(f, s), c.age)) + " "
	if c.figure > 0 {
		right = th.Muted.Render(widget.PadLeft(c.figureOf(s), c.figure)) + "  " + right
	}
	room := max(w-widget.Width(left)-widget.Width(right)-1, 0)
	name := th.Text
	if st := state(s); st == idle || st >= unseen {
		name = th.Muted
	}
	return left + name.Render(widget.Fit(tui.SessionText(s), room)) + " " + right
}

// detailPane draws the conversation of the session under the cursor.
func (p *Page) detailPane(f *tui.Frame, x, y, w, h int) []string {
	s := p.selected()
	focus := f.Focus && p.Focus == browser.PartDetail
	if s == nil {
		return widget.Rows([]string{widget.Heading(f.Theme, "", "", focus, w)}, w, h)
	}
	p.Areas = append(p.Areas, tui.Area{Part: browser.PartDetail, X: x, Y: y, W: w, H: h})
	_, _, word := tui.SessionMark(f, s)
	rows := []string{conversation.Heading(f, s, p.rows[p.List.Cursor].project, word, focus, w)}
	line := p.opts.Reply.Render(f, s, x+1, y+h, w-2, h)
	h -= len(line)
	body := p.detail(f, s, w-2, h-1)
	others := p.others(f, w, h-1-len(body))
	h -= len(others)
	for _, l := range p.Search.Render(f, &p.Detail, body, x+1, y+1, w-1, h-1) {
		rows = append(rows, " "+l)
	}
	rows = append(widget.Rows(rows, w, h), others...)
	for _, l := range line {
		rows = append(rows, widget.Fit(" "+l, w))
	}
	return rows
}

// others draws what other agents say and do, in the rows that the conversation leaves where
// it stands beside the list.
func (p *Page) others(f *tui.Frame, w, h int) []string {
	if f.W < besideFrom || p.Focus == browser.PartDetail || p.details {
		return nil
	}
	var all []*snapshot.Session
	var projects []string
	for i := range p.rows {
		if r := &p.rows[i]; r.Session != nil && r.Session != p.selected() && state(r.Session) == works {
			all, projects = append(all, r.Session), append(projects, r.project)
		}
	}
	return conversation.Panes(f, all, projects, w, h-1)
}

// detail is the text of the detail, in a pane of w × h cells; one that is open has all
// steps.
func (p *Page) detail(f *tui.Frame, s *snapshot.Session, w, h int) []string {
	th := f.Theme
	var rows []string
	para := func(style theme.Style, lead, text string) {
		for l := range strings.SplitSeq(sanitize.Text(text), "\n") {
			rows = append(rows, widget.Paragraph(style, lead, l, min(w, conversation.Prose)-len(lead))...)
		}
	}
	if s.State.Waits() && s.WaitingFor != "" {
		how := "; answer it in its terminal: J"
		if p.whyNoAnswer() == "" {
			how = "; answer it in the Inbox: I"
		}
		rows = append(rows, th.Warn.Render("Needs you")+th.Faint.Render(how))
		para(th.Text, "  ", tui.SessionAsks(s))
		const airy = 16 // rows
		if h >= airy {
			rows = append(rows, "")
		}
	}
	if note := conversation.Note(s); note != "" {
		para(th.Faint, "", note)
	}
	if p.details {
		rows = append(append(rows, conversation.Details(f, s, p.snap, min(w, conversation.Prose))...), "")
	}
	open := p.Focus == browser.PartDetail
	room := conversation.Room{W: w, H: max(h-len(rows), 1), Apart: p.apart(f), Wide: f.W >= besideFrom, File: p.file}
	if open || p.details {
		room.H = 0
	}
	return append(rows, conversation.Rows(f, s, room)...)
}

// stepsPane draws the last steps of the session under the cursor.
func (p *Page) stepsPane(f *tui.Frame, w, h int) []string {
	rows := []string{widget.Heading(f.Theme, "Steps", "", false, w)}
	if s := p.selected(); s != nil {
		for _, l := range conversation.Steps(f, s, w-2, h-1) {
			rows = append(rows, " "+l)
		}
	}
	return widget.Rows(rows, w, h)
}
