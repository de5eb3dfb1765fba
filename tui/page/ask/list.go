package ask

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// layRows makes a heading for each asker and a row for each of its requests,
// the askers in the order in which their first request is to be answered.
func (p *Page) layRows() {
	id := p.rowID()
	p.rows = p.rows[:0]
	var askers []string
	byAsker := map[string][]int{}
	for _, it := range p.snap.Items {
		who := it.Request.Asker()
		if byAsker[who] == nil {
			askers = append(askers, who)
		}
		byAsker[who] = append(byAsker[who], it.ID)
	}
	for _, who := range askers {
		p.rows = append(p.rows, -byAsker[who][0]) // a heading, drawn from the group's first request
		p.rows = append(p.rows, byAsker[who]...)
	}
	if len(p.snap.Kept) > 0 {
		p.rows = append(p.rows, 0) // the heading of what is not delivered
	}
	for _, r := range p.snap.Kept {
		p.rows = append(p.rows, r.ID)
	}
	p.list.SetLen(len(p.rows))
	if i := slices.Index(p.rows, id); id > 0 && i >= 0 {
		p.list.MoveTo(i)
	} else {
		p.skipHeading(1)
	}
}

// rowID is the request under the cursor, 0 for none.
func (p *Page) rowID() int {
	if i := p.list.Cursor; i >= 0 && i < len(p.rows) {
		return max(p.rows[i], 0)
	}
	return 0
}

func (p *Page) moveRow(d int) {
	p.list.Move(d)
	p.skipHeading(d)
}

// skipHeading moves the cursor off a heading, in direction d if possible.
func (p *Page) skipHeading(d int) {
	i := p.list.Cursor
	if i < 0 || i >= len(p.rows) || p.rows[i] > 0 {
		return
	}
	if d < 0 && i > 0 {
		p.list.Move(-1)
		return
	}
	p.list.Move(1)
}

func (p *Page) openRow() tea.Cmd {
	id := p.rowID()
	if it, ok := p.snap.Item(id); ok && it.State == questions.Sending {
		p.queue.SendHeld()
		p.refresh()
		return nil
	}
	p.openOrShow(id)
	return nil
}

// openOrShow opens a request, or the record of one that has ended.
func (p *Page) openOrShow(id int) {
	if _, open := p.snap.Item(id); !open && id > 0 {
		p.toHistory()
		p.past.show(id)
		return
	}
	p.open(id)
}

// renderList draws all open requests, or that there are none.
func (p *Page) renderList(f *tui.Frame) []string {
	th := f.Theme
	p.layRows()
	var foot []string
	if s := p.sending(f); s != "" {
		foot = append(foot, " "+s)
	}
	if s := p.lastGiven(f, f.W-2); s != "" {
		foot = append(foot, " "+s)
	}
	if p.message != "" {
		foot = append(foot, " "+th.Muted.Render(p.message))
	}
	if len(p.rows) == 0 {
		return append(p.renderEmpty(f, f.H-len(foot)), foot...)
	}
	h := f.H - len(foot)
	rows := p.list.Render(th, f.W, h, f.Focus, func(i, w int) string { return p.listRow(f, i, w) })
	for y := range min(h, len(p.rows)-p.list.Top) {
		i := p.list.Top + y
		p.areas = append(p.areas, tui.Area{X: 0, Y: y, W: f.W, H: 1, Run: func() tea.Cmd {
			if p.rows[i] <= 0 {
				return nil
			}
			p.list.MoveTo(i)
			return p.openRow()
		}})
	}
	return append(rows, foot...)
}

func (p *Page) renderEmpty(f *tui.Frame, h int) []string {
	th := f.Theme
	lines := append([]string{th.Strong.Render("No questions.")}, widget.Paragraph(th.Muted, "", "When an agent asks something, it appears here.", f.W-2)...)
	switch n := len(p.snap.History); n {
	case 0:
	case 1:
		lines = append(lines, "", th.Key.Render("H")+th.Muted.Render(" shows the last one"))
	default:
		lines = append(lines, "", th.Key.Render("H")+th.Muted.Render(fmt.Sprintf(" shows the last %d", n)))
	}
	lines = append(lines, f.Example()...)
	rows := make([]string, 0, h)
	for range max((h-len(lines))/2-1, 0) {
		rows = append(rows, "")
	}
	for _, l := range lines {
		rows = append(rows, strings.Repeat(" ", max((f.W-widget.Width(l))/2, 0))+l)
	}
	return widget.Rows(rows, f.W, h)
}

func (p *Page) listRow(f *tui.Frame, i, w int) string {
	th := f.Theme
	id := p.rows[i]
	it, ok := p.snap.Item(max(id, -id))
	switch {
	case id == 0:
		return widget.Cut(th.Warn.Render("not delivered")+th.Muted.Render(" "+th.Glyph.Dot+" kept for a day, until the agent asks again"), w-1)
	case !ok:
		return p.keptRow(f, id, w)
	}
	if id < 0 {
		return p.heading(f, it, w)
	}
	qs := it.Request.Questions
	mark := th.Warn.Render(th.Glyph.Wait)
	state := ""
	switch {
	case it.State == questions.Sending:
		mark, state = th.Good.Render(f.Spin()), "being sent"
	case it.Unsent:
		mark, state = th.Warn.Render(th.Glyph.Half), "not sent"
	case it.Absent == questions.Gone:
		mark, state = th.Faint.Render(th.Glyph.Fail), "nobody waits"
	case it.State == questions.Snoozed:
		left := it.Snoozed.Sub(f.Now)
		f.RedrawAfter(left%time.Minute + time.Millisecond)
		mark, state = th.Muted.Render(th.Glyph.Half), fmt.Sprintf("back in %d m", int(max(left, 0)/time.Minute)+1)
	case it.Absent != questions.Present:
		mark, state = th.Muted.Render(th.Glyph.Wait), "agent away"
	case it.Request.InTerminal():
		mark, state = th.Warn.Render(th.Glyph.Right), "in its terminal"
	case it.Request.Prompt != nil && it.Request.Prompt.Door == questions.Held:
		mark = th.Warn.Render(th.Glyph.Held)
	}
	if !it.Draft.Empty() && state == "" {
		state = "draft"
	}
	var right []string
	if len(qs) > 1 {
		done := 0
		for i := range qs {
			if it.Draft.Answered(qs, i) {
				done++
			}
		}
		right = append(right, fmt.Sprintf("%d/%d", done, len(qs)))
	}
	if state != "" {
		right = append(right, state)
	}
	if d := until(f, it); d != "" {
		right = append(right, d)
	}
	right = append(right, f.Ago(it.Arrived))
	text := widget.Cut(aboutRow(th, th.Text, &it.Request), w)
	return widget.Ends(" "+mark+" "+text, th.Muted.Render(strings.Join(right, " "+th.Glyph.Dot+" ")), w-1)
}

// keptRow is an answer that its agent has not had.
func (p *Page) keptRow(f *tui.Frame, id, w int) string {
	for _, r := range p.snap.Kept {
		if r.ID == id {
			return recordRow(f, r, w, f.Ago(r.Ended))
		}
	}
	return ""
}

// heading is an asker, with the number of its requests when it has several.
func (p *Page) heading(f *tui.Frame, it questions.Item, w int) string {
	th := f.Theme
	who := it.Request.Asker()
	n := 0
	for _, o := range p.snap.Items {
		if o.Request.Asker() == who {
			n++
		}
	}
	s := th.Text.Render(sanitize.Line(it.Request.Client()))
	if in := project(&it.Request); in != "" {
		s += th.Muted.Render(" " + th.Glyph.Dot + " " + in)
	}
	if why := it.Request.Doubt(); why != "" {
		s += th.Warn.Render(" " + sanitize.Line(why))
	}
	if n > 1 {
		s += th.Muted.Render(fmt.Sprintf(" %s %d requests", th.Glyph.Dot, n))
	}
	return widget.Cut(s, w-1)
}

// until is how long the asker still waits, when that is near.
func until(f *tui.Frame, it questions.Item) string {
	at := it.Deadline
	if !it.Client.IsZero() && (at.IsZero() || it.Client.Before(at)) {
		at = it.Client
	}
	left := at.Sub(f.Now)
	if at.IsZero() || left > countdownFrom || it.Absent == questions.Gone {
		return ""
	}
	f.RedrawAfter(left%time.Second + time.Millisecond)
	return "ends in " + humanize.Clock(left)
}

// renderReview draws one line per question with its answer.
func (p *Page) renderReview(f *tui.Frame, it questions.Item, w, h int) []string {
	th := f.Theme
	qs := it.Request.Questions
	p.review.SetLen(len(qs))
	head := th.Muted.Render("enter sends these answers")
	if i, why := p.draft.FirstOpen(qs); i >= 0 {
		head = th.Warn.Render(fmt.Sprintf("%s: %s", label(qs[i], i), why)) + th.Muted.Render("; enter goes there")
	}
	if it.State == questions.Sending {
		head = th.Good.Render("being sent") + th.Muted.Render("; enter sends it now, u takes it back")
	}
	head = widget.Cut(head, w)
	name := 0
	for i, q := range qs {
		name = max(name, min(widget.Width(label(q, i)), w/3))
	}
	list := p.review.Render(th, w, max(h-2, 0), true, func(i, width int) string {
		mark := th.Good.Render(th.Glyph.OK)
		switch {
		case p.draft.Open(qs, i) != "":
			mark = th.Warn.Render(th.Glyph.Off)
		case !p.draft.Answered(qs, i):
			mark = th.Faint.Render(th.Glyph.Off)
		}
		return mark + " " + widget.Fit(label(qs[i], i), name) + "  " + summary(f, &it.Request, p.draft, i)
	})
	return widget.Rows(append([]string{head, ""}, list...), w, h)
}

// summary is an answer on one line.
func summary(f *tui.Frame, req *questions.Request, d questions.Draft, i int) string {
	th, qs := f.Theme, req.Questions
	if !d.Answered(qs, i) {
		return th.Faint.Render("not answered")
	}
	q, a, r := qs[i], d.Answers[i], d.Results(qs)[i]
	switch {
	case r.Content != nil:
		return sanitize.Line(string(r.Content))
	case r.Clarify != "":
		return th.Info.Render("you ask back: ") + sanitize.Line(r.Clarify)
	case r.Skipped:
		return th.Muted.Render("skipped")
	}
	labels := make([]string, len(r.SelectedOptions))
	for n, l := range r.SelectedOptions {
		labels[n] = chosen(req, l)
		if note := r.Notes[l]; note != "" {
			labels[n] += dash(th) + sanitize.Line(note)
		}
	}
	out := strings.Join(labels, ", ")
	if q.Multi {
		out = "[" + out + "]"
	}
	if r.CustomInput != "" {
		if out != "" && out != "[]" {
			out += " + "
		} else {
			out = ""
		}
		out += quoted(th, sanitize.Line(r.CustomInput))
	}
	if s := strings.TrimSpace(a.Other); s != "" && !a.OtherOn {
		out += th.Warn.Render(" (your text is not sent)")
	}
	return out
}

// renderReader draws question, description and options as one text.
func (p *Page) renderReader(f *tui.Frame, it questions.Item) []string {
	th := f.Theme
	w := min(f.W, widest) - 3
	qs := it.Request.Questions
	q := qs[min(p.draft.Tab, len(qs)-1)]
	rows := questionText(th, q, w)
	if decision(&it.Request) != nil {
		rows = promptText(th, it, w)
	}
	out := p.search.Render(f, &p.reader, rows, 1, 0, w+1, f.H)
	if decision(&it.Request) != nil {
		top := p.reader.At(0) - promptTextTop
		f.Shows(subjectID(it.ID), p.permission.subject(th, &it, w), top, top+p.reader.Height())
	}
	for i, r := range out {
		out[i] = " " + r
	}
	return out
}

// questionText is everything of a question, to be read.
func questionText(th *theme.Theme, q questions.Question, w int) []string {
	rows := widget.Spanned(th, th.Strong, sanitize.BareText(q.Question), w)
	if q.Description != "" {
		rows = append(append(rows, ""), widget.Markdown(th, sanitize.BareText(q.Description), w)...)
	}
	for i, l := range shownLabels(q) {
		rows = append(rows, "", th.Key.Render(strconv.Itoa(i+1))+" "+widget.Spans(th, th.Text, l))
		if d := q.Options[i].Description; d != "" {
			for _, l := range widget.Spanned(th, th.Muted, sanitize.BareText(d), w-2) {
				rows = append(rows, "  "+l)
			}
		}
		if v := q.Options[i].Preview; v != "" {
			for _, l := range previewRows(th, v, w-4) {
				rows = append(rows, th.Border.Render("  "+th.Glyph.Frame.Left+" ")+l)
			}
		}
	}
	return rows
}

// Legend explains the marks of the list and of the questions of one request.
func (p *Page) Legend(th *theme.Theme) []tui.Sign {
	g := th.Glyph
	return []tui.Sign{
		{Mark: th.Warn.Render(g.Wait), Means: "waits for you; dim: its agent left, and comes back for the answer"},
		{Mark: th.Warn.Render(g.Held), Means: "waits for you, and its terminal shows nothing"},
		{Mark: th.Warn.Render(g.Right), Means: "answer in its terminal"},
		{Mark: th.Muted.Render(g.Half), Means: "snoozed, or not sent"},
		{Mark: th.Good.Render((&tui.Frame{Theme: th}).Spin()), Means: "being sent"},
		{Mark: th.Faint.Render(g.Fail), Means: "no agent is waiting"},
		{Mark: th.Faint.Render(g.Off), Means: "open"},
		{Mark: th.Good.Render(g.OK), Means: "answered"},
		{Mark: th.Info.Render("?"), Means: "you ask back"},
		{Mark: th.Muted.Render("-"), Means: "skipped"},
	}
}
