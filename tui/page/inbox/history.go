package inbox

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/verb"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// history is what was asked before, newest first.
type history struct {
	home      string
	view      string // partHistory, or that of what is shown in its place; "": it is closed
	all       []questions.Record
	found     []questions.Record
	filter    string
	searching bool
	edit      widget.Editor
	list      widget.List
}

// History implements tui.Historian.
func (p *Page) History() tea.Cmd {
	p.past.open(p.snap.History)
	return nil
}

// open shows all of it.
func (h *history) open(all []questions.Record) {
	h.view, h.filter, h.searching = partHistory, "", false
	h.edit.SetValue("")
	h.update(all)
}

func (h *history) update(all []questions.Record) {
	h.all = all
	h.search(h.filter)
}

func (h *history) search(filter string) {
	h.filter = filter
	h.found = h.found[:0]
	for _, r := range slices.Backward(h.all) {
		if filter == "" || widget.Match(filter, recordText(r)) > 0 {
			h.found = append(h.found, r)
		}
	}
	h.list.SetLen(len(h.found))
}

// leaving are the ways out of a view in the place of the history.
func (h *history) leaving(id, part string) []tui.Action {
	return []tui.Action{
		{ID: id + ".history", Title: "Back to the history", Hint: "back", Verb: verb.Back, Part: part, Run: h.turn(partHistory)},
		{ID: id + ".close", Title: "Back to the list", Verb: verb.History, Part: part, Run: h.turn("")},
	}
}

// turn shows another view, or none.
func (h *history) turn(view string) func() tea.Cmd { return tui.Do(func() { h.view = view }) }

// selected is the record under the cursor, nil if there is none.
func (h *history) selected() *questions.Record { return widget.Selected(&h.list, h.found) }

// meant is the record under the cursor of a view in the place of the list.
func meant(p *Page) *questions.Record {
	switch d := p.denials.selected(); {
	case p.past.view == partHistory:
		return p.past.selected()
	case p.past.view == partDenied && d != nil:
		return d.Record
	}
	return nil
}

func whyNotThere(p *Page) string {
	if p.past.view == "" {
		return p.whyNoJump()
	}
	r := meant(p)
	return tui.Because(r == nil || r.Request.Prompt == nil || p.opt.Jump == nil, "no agent's own prompt is selected")
}

// there goes to the terminal of what is selected.
func there(p *Page) tea.Cmd {
	r, to := meant(p), p.opt.Jump
	if r == nil {
		return p.jump()
	}
	return tui.Outcome(func() (string, error) { return to(r.Request) })
}

func (h *history) copy() tea.Cmd {
	i := h.list.Cursor
	if i < 0 || i >= len(h.found) {
		return nil
	}
	return tui.Copy(recordText(h.found[i]), "question and answer")
}

// recordText is a record as text: who asked, the questions, the answers.
func recordText(r questions.Record) string {
	var b strings.Builder
	b.WriteString(asker(r, "") + "\n")
	for i := range r.Request.Questions {
		b.WriteString("\n" + asked(r, i) + "\n")
		b.WriteString("  " + recordAnswer(r, i, "") + "\n")
	}
	if undone(r) {
		b.WriteString("\n" + r.Words("") + "\n")
	}
	return b.String()
}

// asker is who asked, and where it works; ~ stands for the home.
func asker(r questions.Record, home string) string {
	s := sanitize.Line(r.Request.Client())
	if cwd := r.Request.Cwd(); cwd != "" {
		s += " in " + sanitize.Line(humanize.Tilde(cwd, home))
	}
	return s
}

// asked is question i, or what a permission is for.
func asked(r questions.Record, i int) string {
	if d := r.Request.Prompt; exact(&r.Request) {
		return sanitize.Line(d.Tool) + "\n" + sanitize.Exact(strings.TrimSuffix(d.Subject(), "\n"))
	}
	return sanitize.BareText(r.Request.Questions[i].Question)
}

// recordRows draws recordText, the Markdown of questions as on the page that asks them; of a
// request that has not ended, what is asked.
func recordRows(th *theme.Theme, r questions.Record, home string, w int) []string {
	rows := widget.Paragraph(th.Muted, "", asker(r, home), w)
	for i := range r.Request.Questions {
		rows = append(rows, "")
		if text := asked(r, i); exact(&r.Request) {
			rows = append(rows, widget.Paragraph(th.Text, "", text, w)...)
		} else {
			rows = append(rows, widget.Spanned(th, th.Text, text, w)...)
		}
		if r.ID != 0 {
			rows = append(rows, widget.Paragraph(th.Text, "", "  "+recordAnswer(r, i, jumpKey), w)...)
		}
	}
	if r.ID != 0 && undone(r) {
		rows = append(append(rows, ""), widget.Paragraph(th.Warn, "", r.Words(jumpKey), w)...)
	}
	return rows
}

// undone reports whether nothing has shown that the user's answer had an effect.
func undone(r questions.Record) bool {
	end := r.End()
	return end == questions.EndNotKnown || end == questions.EndSent || end == questions.EndNotTaken
}

// recordAnswer is the answer to question i in words; key is as in [questions.Record.Words].
func recordAnswer(r questions.Record, i int, key string) string {
	switch end := r.End(); {
	case r.Refused != nil, end == questions.EndElsewhere, end == questions.EndGone, end == questions.EndTimedOut:
		return r.Words(key)
	case r.Reply.Status == questions.Declined:
		word := "declined"
		if r.Request.Decides() {
			word = "denied"
		}
		if r.Reply.Reason != "" {
			return word + ": " + sanitize.Line(r.Reply.Reason)
		}
		return word
	case i >= len(r.Reply.Results):
		return "not answered"
	}
	res := r.Reply.Results[i]
	switch {
	case res.Clarify != "":
		return "asked back: " + sanitize.Line(res.Clarify)
	case res.Skipped:
		return "skipped"
	}
	if res.Content != nil {
		return sanitize.Line(string(res.Content))
	}
	var parts []string
	for _, l := range res.SelectedOptions {
		s := chosen(&r.Request, l)
		if g, ok := r.Request.Granted(r.Reply.Results); ok && g.Effect != "" {
			s += ": " + sanitize.Line(g.Effect)
		}
		if n := res.Notes[l]; n != "" {
			s += " - " + sanitize.Line(n)
		}
		parts = append(parts, s)
	}
	if res.CustomInput != "" {
		parts = append(parts, `"`+sanitize.Line(res.CustomInput)+`"`)
	}
	if r.Rule != nil {
		return strings.Join(parts, ", ") + " by rule " + sanitize.Line(r.Rule.ID)
	}
	return strings.Join(parts, ", ")
}

func (h *history) render(f *tui.Frame) []string {
	th := f.Theme
	var head []string
	if h.searching || h.filter != "" {
		text, x, _ := h.edit.Render(th, f.W-4, 1, h.searching)
		head = append(head, " "+th.Key.Render("/")+" "+text[0])
		if h.searching {
			f.Cursor(3+x, 0)
		}
	} else {
		head = append(head, widget.Heading(th, "History "+strconv.Itoa(len(h.all)), "", true, f.W))
	}
	if len(h.found) == 0 {
		none := "no matching questions"
		if h.filter == "" {
			none = "no answered questions yet"
		}
		return append(head, "", "  "+th.Muted.Render(none))
	}
	rest := f.H - len(head)
	detail := min(max(rest/2, 4), rest)
	var d drawing
	for i := range h.found {
		d.column(whoAsks(&h.found[i].Request, nil))
	}
	rows := append(head, h.list.Render(th, f.W, rest-detail, f.Focus, func(i, w int) string {
		agent, project := whoAsks(&h.found[i].Request, nil)
		return d.recordRow(f, &h.found[i], agent, project, f.Ago(h.found[i].Ended), w-1)
	})...)
	rows = append(rows, th.Border.Render(widget.Repeat(th.Glyph.Frame.Top, f.W)))
	for _, r := range recordRows(th, h.found[max(h.list.Cursor, 0)], h.home, f.W-2) {
		rows = append(rows, " "+r)
	}
	return rows[:min(len(rows), f.H)]
}

// recordMark is the sign of how a question ended.
func recordMark(th *theme.Theme, r questions.Record) string {
	switch r.End() {
	case questions.EndDenied, questions.EndDeclined:
		return th.Bad.Render(th.Glyph.Fail)
	case questions.EndTimedOut:
		return th.Muted.Render(th.Glyph.Fail)
	case questions.EndGone, questions.EndNotKnown:
		return th.Faint.Render("?")
	case questions.EndElsewhere, questions.EndSent:
		return th.Muted.Render(th.Glyph.OK)
	case questions.EndNotTaken:
		return th.Warn.Render(th.Glyph.Right)
	case questions.EndAnswered, questions.EndAllowed, questions.EndMayRetry:
	}
	return th.Good.Render(th.Glyph.OK)
}

// ending is what became of a question, on one line.
func ending(r questions.Record) string {
	if end := r.End(); len(r.Reply.Results) == 0 || end == questions.EndElsewhere || end == questions.EndGone {
		return questions.DeckNames(recordAnswer(r, 0, jumpKey))
	}
	answers := make([]string, len(r.Reply.Results))
	for i := range answers {
		answers[i] = recordAnswer(r, i, jumpKey)
	}
	return strings.Join(answers, "; ")
}
