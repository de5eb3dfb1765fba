package inbox

import (
	"fmt"
	"strings"
	"time"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/conversation"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Times that the interface knows.
const (
	countdownFrom = 5 * time.Minute
	countdownRed  = time.Minute
	sideFrom      = 100 // columns from which a preview has its own pane
)

// renderRequest draws the request that is selected under a rule with its title: tabs, the
// question or what wants to run, options, what is to be said at the bottom, and what s asked
// and said.
func (p *pane) renderRequest(f *tui.Frame, it questions.Item, title string, s *snapshot.Session) []string {
	w := f.W - 2
	if it.State != questions.Sending && !p.closed() {
		f.Asks(tui.AskedItem(&it, p.digests.Of(p.snap, &it), p.draft.Tab))
	}
	p.drawn = true
	rows := []string{""}
	for _, b := range bannerIn(p, f, it, w) {
		rows = append(rows, widget.Fit(" "+b, f.W))
	}
	if hides(&it.Request) {
		rows = append(rows, widget.Fit(" "+f.Theme.Warn.Render("hidden characters removed"), f.W))
	}
	qs, note := it.Request.Questions, ""
	if len(qs) > 1 {
		note = "review"
		if p.draft.Tab < len(qs) {
			note = tui.Place(p.draft.Tab, len(qs))
		}
		rows = append(rows, " "+p.tabs(f, qs, w, len(rows)))
		if f.H >= 14 {
			rows = append(rows, "")
		}
	}
	foot := p.foot(f, it, w)
	b := box{x: 1, y: len(rows), w: w, h: f.H - len(rows) - len(foot)}
	switch {
	case p.draft.Tab >= len(qs):
		rows = append(rows, indented(p.renderReview(f, it, w, b.h))...)
	case decision(&it.Request) != nil:
		var body []string
		body, note = p.renderPrompt(f, it, b, s)
		rows = append(rows, body...)
	case p.form != nil:
		rows = append(rows, indented(p.formView.render(f, qs[p.draft.Tab], b))...)
	default:
		if k, ok := p.question(); ok {
			body, used := p.questionView.render(f, k, b, &p.areas, p.pointAt)
			if free := b.h - used - 1; free > 3 && s != nil {
				body = append(append(body, ""), indented(conversation.Rows(f, s, conversation.Room{W: w, H: free}))...)
			}
			rows = append(rows, widget.Rows(body, f.W, b.h)...)
		}
	}
	rows = append(rows, indented(foot)...)
	rows[0] = widget.Heading(f.Theme, title, f.Theme.Muted.Render(note), p.opened && f.Focus, f.W)
	return rows
}

// box is a place on the page.
type box struct{ x, y, w, h int }

// project is the name of the folder in which the asker works, "" if that is unknown.
func project(r *questions.Request) string {
	return sanitize.Line(r.Project())
}

// door says of an agent's own prompt where it can be answered but here, and whether it
// is the agent that asks, still.
func door(th *theme.Theme, d *questions.Prompt) string {
	var s string
	switch d.Door {
	case questions.Held:
		s = th.Muted.Render("kept from its terminal: J shows it there")
	case questions.InTerminal:
		s = th.Warn.Render(th.Glyph.Right + " answer in its terminal")
	default:
	}
	var all []string
	if s != "" {
		all = append(all, s)
	}
	for _, doubt := range d.Doubts() {
		all = append(all, th.Warn.Render(doubt.Mark+": "+doubt.Why))
	}
	return strings.Join(all, th.Faint.Render(" "+th.Glyph.Dot+" "))
}

// bannerIn is the banner in what room is left beside what is asked, at least a row.
func bannerIn(p *pane, f *tui.Frame, it questions.Item, w int) []string {
	rows, most := bannerRows(p, f, it, w), max(f.H/8, 1)
	if p.form == nil {
		most = max(most, f.H-textRows(p, f, f.W, true)+len(rows))
	}
	if len(rows) > most {
		rows = append(rows[:most-1], widget.Cut(strings.Join(rows[most-1:], " "), w))
	}
	return rows
}

// bannerRows is the banner whole.
func bannerRows(p *pane, f *tui.Frame, it questions.Item, w int) []string {
	if b := p.banner(f, it); b != "" {
		return widget.Closed(widget.Wrap(b, w))
	}
	return nil
}

// banner says what is unusual about the request.
func (p *pane) banner(f *tui.Frame, it questions.Item) string {
	th := f.Theme
	said, at := stands(th, &it), len(it.At) > 0 || it.Handed != nil
	switch {
	case said != "" && at:
		return said + th.Faint.Render(" "+th.Glyph.Dot+" ") + th.Info.Render(it.Note)
	case said != "" || it.Request.Prompt != nil && !at:
		return said
	case it.Note != "":
		return th.Info.Render(it.Note)
	}
	if c, _ := clients.Of(sanitize.Line(it.Request.Client())); c.Background > 0 && f.Now.Sub(it.Arrived) > c.Background {
		return th.Muted.Render("the agent moved on; it still gets your answer")
	}
	if t := it.Request.Title; t != "" {
		return widget.Spans(th, th.Muted, sanitize.Bare(t))
	}
	return ""
}

// stands says whether the agent of a request still waits for it, and whether it is the agent that asks.
func stands(th *theme.Theme, it *questions.Item) string {
	who := sanitize.Line(it.Request.Client())
	if it.Unsent {
		return th.Warn.Render("not confirmed: mcpdeck ended before this answer was known to be delivered;") + " " + th.Key.Render("ctrl+s") + th.Warn.Render(" sends it")
	}
	switch it.Absent {
	case questions.Gone:
		return th.Warn.Render("no agent is waiting for this") + th.Muted.Render(" ("+sanitize.Line(it.Why)+"); your answer is kept for a day")
	case questions.HandedOver:
		return th.Muted.Render(who + " was told to come back for the answer")
	case questions.Restarted:
		return th.Muted.Render("from before the restart; " + who + " may come back for the answer")
	default:
	}
	if why := it.Request.Doubt(); why != "" {
		return th.Warn.Render(sanitize.Line(why))
	} else if d := it.Request.Prompt; d != nil {
		return door(th, d)
	}
	return ""
}

// tabs draws a label per question and one for the review; those around the open
// one when not all fit.
func (p *pane) tabs(f *tui.Frame, qs []questions.Question, w, y int) string {
	th := f.Theme
	labels := make([]string, len(qs)+1)
	for i := range labels {
		name, mark := "Review", ""
		if i < len(qs) {
			name = widget.Cut(label(qs[i], i), 18)
			switch a := p.draft.Answers[i]; {
			case a.Asks:
				mark = th.Info.Render("?") + " "
			case a.Skipped:
				mark = th.Muted.Render("-") + " "
			case p.draft.Answered(qs, i):
				mark = th.Good.Render(th.Glyph.OK) + " "
			}
		}
		labels[i] = mark + th.Muted.Render(name) + "   "
		if i == min(p.draft.Tab, len(qs)) {
			labels[i] = mark + th.Accent.Render("[") + th.Strong.Render(name) + th.Accent.Render("]") + "  "
		}
	}
	from, to := window(labels, min(p.draft.Tab, len(qs)), w)
	if from == to {
		return widget.Fit(th.Strong.Render(fmt.Sprintf("%d/%d ", p.draft.Tab+1, len(qs)))+labels[min(p.draft.Tab, len(qs))], w)
	}
	more := [2]string{"‹", "›"}
	if th.Glyph.ASCII {
		more = [2]string{"<", ">"}
	}
	row, x := "", 0
	if from > 0 {
		row, x = th.Muted.Render(more[0]), 1
	}
	for i := from; i < to; i++ {
		n := widget.Width(labels[i])
		p.areas = append(p.areas, tui.Area{X: x + 1, Y: y, W: n, H: 1, Run: tui.Do(func() { p.turn(i - p.draft.Tab) })})
		row += labels[i]
		x += n
	}
	if to < len(labels) {
		row += th.Muted.Render(more[1])
	}
	return widget.Fit(row, w)
}

// window is the range of labels around at that fits into w cells, marks for
// more at both ends included; an empty one when not even at does.
func window(labels []string, at, w int) (from, to int) {
	used := widget.Width(labels[at]) + 2
	if used > w {
		return at, at
	}
	from, to = at, at+1
	for {
		grown := false
		if to < len(labels) && used+widget.Width(labels[to]) <= w {
			used += widget.Width(labels[to])
			to++
			grown = true
		}
		if from > 0 && used+widget.Width(labels[from-1]) <= w {
			from--
			used += widget.Width(labels[from])
			grown = true
		}
		if !grown {
			return from, to
		}
	}
}

// foot is the field for declining, the last message, a countdown, and what can
// be taken back: as many rows as there are things to say.
func (p *pane) foot(f *tui.Frame, it questions.Item, w int) []string {
	th := f.Theme
	var rows []string
	if p.draft.Field == questions.ReasonField {
		how := " optional reason; enter declines, esc goes back"
		if w < 80 {
			how = " enter does"
		}
		rows = append(rows, th.Warn.Render("decline the whole request?")+th.Muted.Render(how))
		text, x, y := p.editor.Render(th, w-2, min(p.editor.Rows(w-2), 3), true)
		for _, r := range text {
			rows = append(rows, th.Warn.Render(th.Glyph.Frame.Left)+" "+r)
		}
		f.Cursor(x+3, f.H-len(rows)+1+y)
	}
	message := p.message
	if message == "" && p.onForm() {
		message = p.form.Message()
	}
	if message != "" && p.draft.Field != questions.ReasonField {
		rows = append(rows, widget.Paragraph(th.Warn, "", sanitize.Line(message), w)...)
	}
	if c := countdown(f, it); c != "" {
		rows = append([]string{c}, rows...)
	}
	if s := p.lastGiven(f, w); s != "" && p.draft.Field != questions.ReasonField {
		rows = append([]string{s}, rows...)
	}
	if len(rows) > f.H/3 {
		rows = rows[len(rows)-f.H/3:]
	}
	return rows
}

// countdown says who gives up when, once that is near.
func countdown(f *tui.Frame, it questions.Item) string {
	at, who := it.Deadline, "this question ends"
	if !it.Client.IsZero() && (at.IsZero() || it.Client.Before(at)) {
		at, who = it.Client, sanitize.Line(it.Request.Client())+" gives up"
	}
	if at.IsZero() || it.Absent == questions.Gone {
		return ""
	}
	left := at.Sub(f.Now)
	if left > countdownFrom {
		f.RedrawAfter(left - countdownFrom)
		return ""
	}
	f.RedrawAfter(left%time.Second + time.Millisecond)
	s := who + " in " + humanize.Clock(left)
	if left < countdownRed {
		return f.Theme.Warn.Render(f.Theme.Glyph.Wait + " " + s)
	}
	return f.Theme.Muted.Render(s)
}

// sending names what was just sent and can still be taken back.
func (p *pane) sending(f *tui.Frame) string {
	th := f.Theme
	for _, it := range p.snap.Items {
		if it.State != questions.Sending {
			continue
		}
		left := it.SendAt.Sub(f.Now)
		f.RedrawAfter(left%time.Second + time.Millisecond)
		return th.Good.Render(th.Glyph.OK+" sent to "+sanitize.Line(it.Request.Client())) + "  " + th.Key.Render("u") +
			th.Muted.Render(fmt.Sprintf(" undo (%d s)", int(max(left, 0)/time.Second)+1))
	}
	return ""
}
