package inbox

import (
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// decision returns the prompt of a request that is answered by one of its grants: a
// permission, or a plan. It returns nil for anything else.
func decision(r *questions.Request) *questions.Prompt {
	if !r.Decides() {
		return nil
	}
	return r.Prompt
}

// give chooses the grant of a key.
func (p *pane) give(key, otherwise string) tea.Cmd {
	d := p.deciding()
	if d == nil {
		return nil
	}
	i := tui.Granted(d, key)
	if i < 0 {
		p.message = otherwise
		return nil
	}
	return p.decide(i)
}

// decide answers the open permission or plan with an option. One that takes a note asks
// for it first.
func (p *pane) decide(option int) tea.Cmd {
	d, q := p.deciding(), p.questions()
	if d == nil || option >= len(q[0].Options) {
		return nil
	}
	a := &p.draft.Answers[0]
	a.Cursor, p.message = option, ""
	if option >= len(d.Grants) || d.Grants[option].Allow {
		if first := p.unseen(); first >= 0 { // the key shows more of it instead
			p.scroll.about, p.scroll.follow = max(first-1, 0), true // with the row before it
			p.opened = p.opened || p.permission.alone
			p.keep()
			return nil
		}
	}
	if option < len(d.Grants) && d.Grants[option].Lasts() {
		return p.sure(option)
	}
	if option < len(d.Grants) && d.Grants[option].Note {
		if last := p.lastNote(d); a.Notes[option] == "" && last != "" {
			a.Notes = map[int]string{option: last}
		}
		p.openField(questions.NoteField)
		return nil
	}
	return p.decided(option)
}

// unseen is the first row of what is open that was not shown; -1 when all was.
func (p *pane) unseen() int {
	it, ok := p.current()
	if !ok {
		return -1
	}
	return p.permission.unseen(&it)
}

// toLasting moves to the first option that allows what is open for longer than once.
func (p *pane) toLasting() {
	if d := p.deciding(); tui.Lasting(d) >= 0 {
		p.draft.Answers[0].Cursor = tui.Lasting(d)
		p.opened = true
		p.message = "press enter or its digit to see exactly what it allows"
		p.scroll.follow = true
		p.keep()
	}
}

// sure shows the words of an option that lasts, whole, before it is given. It is given by
// itself, and never where nothing but the asker's word says that the agent asks.
func (p *pane) sure(option int) tea.Cmd {
	it, ok := p.current()
	d := p.deciding()
	if !ok || d == nil {
		return nil
	}
	if !d.Offers(option) {
		p.message = "unconfirmed: it can only be allowed once"
		return nil
	}
	id, q := it.ID, it.Request.Questions[0]
	label, effect := shownLabels(q)[option], d.Grants[option].Effect
	p.keep()
	return tui.Open(&tui.Sure{
		Name: "sure", Title: "Allow this more than once?", Give: "allow it", ItemID: subjectID(id) + " option " + strconv.Itoa(option),
		Rows: func(th *theme.Theme, w int) []string {
			rows := append(widget.Paragraph(th.Strong, "", label+":", w), "")
			for _, row := range widget.Code(th, effect, w-2) {
				rows = append(rows, "  "+row)
			}
			return append(append(rows, ""), widget.Paragraph(th.Muted, "", tui.Asker(&it.Request)+" continues and does not ask for this again.", w)...)
		},
		Run: func() tea.Cmd {
			if now, open := p.current(); !open || now.ID != id || now.Request.Prompt.Grants[option] != d.Grants[option] {
				return tui.Toast(tui.Info, "this is no longer being asked")
			}
			return p.decided(option)
		},
	})
}

// whyNoLasting says why nothing can be allowed for longer than once.
func (p *pane) whyNoLasting() string {
	d := p.deciding()
	switch {
	case d == nil:
		return "no permission is open"
	case tui.Lasting(d) >= 0:
		return ""
	case d.Unconfirmed:
		return "unconfirmed: it can only be allowed once"
	}
	return "the agent does not offer this"
}

// lastNote is the note with which the same was last denied to the same session, of the
// last day. Its decision is never offered again.
func (p *pane) lastNote(d *questions.Prompt) string {
	for _, r := range slices.Backward(p.snap.History) {
		o := r.Request.Prompt
		if o == nil || len(r.Reply.Results) == 0 || r.Reply.Results[0].Note == "" || time.Since(r.Ended) > 24*time.Hour {
			continue
		}
		if o.Agent == d.Agent && o.Session == d.Session && o.Tool == d.Tool && o.Subject() == d.Subject() && o.Diff == d.Diff {
			return r.Reply.Results[0].Note
		}
	}
	return ""
}

func (p *pane) decided(option int) tea.Cmd {
	p.draft.Answers[0].Chosen = []int{option}
	p.keep()
	return p.send()
}

// noted answers with the option whose note was just written.
func (p *pane) noted() tea.Cmd {
	if option := p.draft.Option; strings.TrimSpace(p.draft.Answers[0].Notes[option]) != "" {
		return p.decided(option)
	}
	p.draft.Field = questions.NoteField
	p.message = "type a message, or esc"
	p.keep()
	return nil
}

// jumpKey shows the terminal of an agent, as the words about what it has not taken say.
const jumpKey = "J"

// jump brings the agent's terminal before the user; a prompt that is kept from it goes there
// first.
func (p *pane) jump() tea.Cmd {
	r, ok := p.inTerminal()
	switch {
	case p.session != nil && !ok && p.opt.JumpTo != nil:
		to, s := p.opt.JumpTo, *p.session
		return tea.Batch(p.opt.hasRead(&s), tui.Outcome(func() (string, error) { return to(s) }))
	case !ok:
		return nil
	}
	if it, open := p.current(); open && r.Prompt.Door == questions.Held {
		if err := p.queue.Release(it.ID); err != nil {
			return tui.Toast(tui.Info, err.Error())
		}
		p.refresh()
	}
	to := p.opt.Jump
	if to == nil {
		return tui.Toast(tui.Info, "this deck cannot go to a terminal")
	}
	return tui.Outcome(func() (string, error) { return to(r) })
}

func (p *pane) whyNoJump() string {
	if _, ok := p.inTerminal(); !ok && (p.session == nil || p.opt.JumpTo == nil) {
		return "no agent's own prompt is open"
	}
	return ""
}

// inTerminal is the prompt whose terminal is meant: the one that is shown or just was, or
// the last that its agent has not taken the answer to.
func (p *pane) inTerminal() (r questions.Request, ok bool) {
	it, open := p.current()
	switch {
	case open:
		r = it.Request
	case p.place == partSettled:
		r = p.settled.request(p.snap)
	case p.place == partRecord:
		r = p.record.Request
	case p.place == partSession:
	default:
		for _, last := range slices.Backward(p.snap.History) {
			if end := last.End(); (end == questions.EndNotTaken || end == questions.EndNotKnown) && last.Request.Prompt != nil {
				r = last.Request
				break
			}
		}
	}
	return r, r.Prompt != nil
}

// aboutRow draws what a request asks: a question with its Markdown, and exactly what a
// permission is for.
func aboutRow(th *theme.Theme, style theme.Style, r *questions.Request) string {
	if exact(r) {
		return style.Render(tui.About(r))
	}
	return widget.Spans(th, style, tui.About(r))
}

// exact reports whether the texts of a request are drawn as they are: what is about to run
// has no Markdown.
func exact(r *questions.Request) bool {
	return r.Prompt != nil && r.Prompt.Kind == questions.Permission
}

// chosen is the label of an option that was chosen.
func chosen(r *questions.Request, label string) string {
	if label = sanitize.Bare(label); !exact(r) {
		label = widget.Unmarked(label)
	}
	return strings.TrimSpace(label)
}

// label is the short name of question i.
func label(q questions.Question, i int) string { return widget.Unmarked(sanitize.Bare(q.Label(i))) }
