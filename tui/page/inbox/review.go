package inbox

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/conversation"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// renderReview draws one line per question with its answer.
func (p *pane) renderReview(f *tui.Frame, it questions.Item, w, h int) []string {
	th := f.Theme
	qs := it.Request.Questions
	p.review.SetLen(len(qs))
	head := th.Muted.Render("enter sends these answers")
	if i, why := p.draft.FirstOpen(qs); i >= 0 {
		head = th.Warn.Render(fmt.Sprintf("%s: %s", label(qs[i], i), why)) + th.Muted.Render("; enter goes there")
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

// renderReader draws question, description, options and details as one text below a title.
func (p *pane) renderReader(f *tui.Frame, it questions.Item, title string) []string {
	th := f.Theme
	w := min(f.W, conversation.Prose) - 3
	qs := it.Request.Questions
	rows := questionText(th, qs[min(p.draft.Tab, len(qs)-1)], w)
	if decision(&it.Request) != nil {
		rows = p.promptText(th, it, w)
	}
	rows = append(append(rows, ""), details(th, f, &it, w)...)
	out := p.search.Render(f, &p.reader, rows, 1, 1, w+1, f.H-1)
	if decision(&it.Request) != nil {
		top := p.reader.At(0) - promptTextTop
		f.Shows(subjectID(it.ID), p.permission.subject(th, &it, w), top, top+p.reader.Height())
	}
	return append([]string{widget.Heading(th, title, "", f.Focus, f.W)}, indented(out)...)
}

// details are what is known of a request beside what it asks.
func details(th *theme.Theme, f *tui.Frame, it *questions.Item, w int) (rows []string) {
	r := &it.Request
	facts := [][2]string{{"asked", f.Since(it.Arrived)}, {"client", r.From.Client}, {"agent", r.From.Agent}, {"session", cmp.Or(r.Peer.Session, r.From.Session)}, {"folder", r.Cwd()}, {"program", r.Peer.Program}}
	facts = append(facts, [2]string{"answering", strings.Join(it.At, ", ")})
	if it.Handed != nil {
		facts = append(facts, [2]string{"handed", it.Handed.Note})
	}
	if d := r.Prompt; d != nil {
		facts = append(facts, [2]string{"mode", d.Mode}, [2]string{"sub-agent", d.Subagent})
	}
	for _, fact := range facts {
		name := fact[0]
		for _, l := range widget.Wrap(sanitize.Line(fact[1]), max(w-11, 4)) {
			if l != "" {
				rows = append(rows, th.Muted.Render(widget.Fit(name, 11))+l)
			}
			name = ""
		}
	}
	return rows
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

// Legend explains the signs of the list and of the questions of one request.
func (p *Page) Legend(th *theme.Theme) []tui.Sign {
	g := th.Glyph
	return []tui.Sign{
		{Mark: th.Warn.Render(g.Wait), Means: "needs you"},
		{Mark: th.Warn.Render(g.Right), Means: "answer in its own terminal"},
		{Mark: th.Accent.Render(tui.Spin), Means: "working"},
		{Mark: th.Good.Render(g.OK), Means: "done and unread, or given"},
		{Mark: th.Bad.Render(g.Fail), Means: "denied, or declined"},
		{Mark: th.Faint.Render(g.Off), Means: "snoozed, or no agent is waiting"},
		{Mark: th.Info.Render("?"), Means: "you ask back"},
		{Mark: th.Muted.Render("-"), Means: "skipped"},
	}
}
