package ask

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

// deciding is the open request where it is a decision that can be given here.
func (p *Page) deciding() *questions.Prompt {
	it, ok := p.current()
	if !ok || p.place != partRequest || it.State == questions.Sending || it.Request.InTerminal() {
		return nil
	}
	return decision(&it.Request)
}

// closed reports whether the open request can be looked at and not be answered.
func (p *Page) closed() bool {
	it, ok := p.current()
	return p.opt.Watch || ok && it.Request.InTerminal()
}

// give makes the Run of a key that chooses a grant.
func (p *Page) give(key, otherwise string) func() tea.Cmd {
	return func() tea.Cmd {
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
}

// decide answers the open permission or plan with an option. One that takes a note asks
// for it first.
func (p *Page) decide(option int) tea.Cmd {
	d, q := p.deciding(), p.questions()
	if d == nil || option >= len(q[0].Options) {
		return nil
	}
	a := &p.draft.Answers[0]
	a.Cursor, p.message = option, ""
	if option >= len(d.Grants) || d.Grants[option].Allow {
		if first := p.unseen(); first >= 0 { // the key shows more of it instead
			p.scroll.about, p.scroll.follow = max(first-1, 0), true // with the row before it
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
func (p *Page) unseen() int {
	it, ok := p.current()
	if !ok {
		return -1
	}
	return p.permission.unseen(&it)
}

// turnPage scrolls the subject of a permission or a plan by screens.
func (p *Page) turnPage(d int) {
	p.scroll.about = max(p.scroll.about+d*max(p.permission.page-1, 1), 0)
}

// toLasting moves to the first option that allows what is open for longer than once.
func (p *Page) toLasting() {
	if d := p.deciding(); tui.Lasting(d) >= 0 {
		p.draft.Answers[0].Cursor = tui.Lasting(d)
		p.message = "enter, or its digit, shows what exactly is allowed for longer than once"
		p.scroll.follow = true
		p.keep()
	}
}

// sure shows the words of an option that lasts, whole, before it is given. It is given by
// itself, and never where nothing but the asker's word says that the agent asks.
func (p *Page) sure(option int) tea.Cmd {
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
		Name: "sure", Title: "Allow this for longer than once?", Give: "allow it", ItemID: subjectID(id) + " option " + strconv.Itoa(option),
		Rows: func(th *theme.Theme, w int) []string {
			rows := append(widget.Paragraph(th.Strong, "", label+":", w), "")
			for _, row := range widget.Code(th, effect, w-2) {
				rows = append(rows, "  "+row)
			}
			return append(append(rows, ""), widget.Paragraph(th.Muted, "", tui.Asker(&it.Request)+" goes on, and does not ask for this again.", w)...)
		},
		Run: func() tea.Cmd {
			if now, open := p.current(); !open || now.ID != id || now.Request.Prompt.Grants[option] != d.Grants[option] {
				return tui.Toast(tui.Info, "it is not asked any more")
			}
			return p.decided(option)
		},
	})
}

// whyNoLasting says why nothing can be allowed for longer than once.
func (p *Page) whyNoLasting() string {
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
func (p *Page) lastNote(d *questions.Prompt) string {
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

func (p *Page) decided(option int) tea.Cmd {
	p.draft.Answers[0].Chosen = []int{option}
	p.keep()
	return p.send()
}

// noted answers with the option whose note was just written.
func (p *Page) noted() tea.Cmd {
	if option := p.draft.Option; strings.TrimSpace(p.draft.Answers[0].Notes[option]) != "" {
		return p.decided(option)
	}
	p.draft.Field = questions.NoteField
	p.message = "type a note, or esc"
	p.keep()
	return nil
}

// release lets a held prompt go to its terminal.
func (p *Page) release() tea.Cmd {
	if err := p.queue.Release(p.id); err != nil {
		p.message = err.Error()
		return nil
	}
	p.message = ""
	p.refresh()
	return tui.Toast(tui.Info, "its terminal asks now")
}

func (p *Page) whyNoRelease() string {
	if it, ok := p.current(); !ok || it.Request.Prompt == nil || it.Request.Prompt.Door != questions.Held {
		return "its terminal asks, too"
	}
	return ""
}

// jumpKey shows the terminal of an agent, as the words about what it has not taken say.
const jumpKey = "J"

// jump brings the agent's terminal before the user.
func (p *Page) jump() tea.Cmd {
	r, ok := p.inTerminal()
	to := p.opt.Jump
	switch {
	case !ok:
		return nil
	case to == nil:
		return tui.Toast(tui.Info, "this deck cannot go to a terminal")
	}
	return tui.Outcome(func() (string, error) { return to(r) })
}

func (p *Page) whyNoJump() string {
	if _, ok := p.inTerminal(); !ok {
		return "no agent's own prompt is open"
	}
	return ""
}

// inTerminal is the prompt whose terminal is meant: the one that is open or just was, the one
// under the cursor of the history, or the last that its agent has not taken the answer to.
func (p *Page) inTerminal() (r questions.Request, ok bool) {
	it, open := p.current()
	switch {
	case open:
		r = it.Request
	case p.place == partSettled:
		r = p.settled.request(p.snap)
	case p.place == partHistory:
		if i := p.past.list.Cursor; i >= 0 && i < len(p.past.found) {
			r = p.past.found[i].Request
		}
	default:
		for _, last := range slices.Backward(p.snap.History) {
			if last.End() == questions.EndNotTaken && last.Request.Prompt != nil {
				r = last.Request
				break
			}
		}
	}
	return r, r.Prompt != nil
}

// promptActions are what can be done with permissions and plans, and with what only a
// terminal can answer.
func (p *Page) promptActions() []tui.Action {
	const none = "the agent does not offer this"
	give := []row{
		{"prompt.choose", "Choose the option under the cursor", "choose", []string{"enter"}, true, func() tea.Cmd {
			if d := p.deciding(); d == nil {
				return nil
			}
			return p.decide(p.draft.Answers[0].Cursor)
		}},
		{"prompt.allow", "Allow once, or accept the plan", "allow once", []string{"y"}, true, p.give("y", none)},
		{"prompt.deny", "Deny, or keep planning", "deny", []string{"n"}, true, p.give("n", none)},
		{"always", "Show the options that last, with what exactly they allow", "always…", []string{"a"}, true, tui.Do(p.toLasting)},
		{"prompt.note", "Deny with a note", "", []string{"N", "tab"}, true, p.give("N", "the agent takes no note")},
		{"prompt.stop", "Deny and stop the agent's turn", "", []string{"x"}, true, p.give("x", none)},
		{"group", "Answer all that are like this at once", "group", []string{"A"}, true, tui.Do(p.openGroup)},
	}
	look := []row{
		{"read", "Read everything in full", "whole text", []string{"d", "v"}, false, tui.Do(p.read)},
		{"prompt.pagedown", "Show more of what wants to run", "", []string{"pgdown", "shift+down", "ctrl+d"}, false, tui.Do(func() { p.turnPage(1) })},
		{"prompt.pageup", "Show the part before", "", []string{"pgup", "shift+up", "ctrl+u"}, false, tui.Do(func() { p.turnPage(-1) })},
	}
	for _, r := range p.bothRows() {
		switch r.id {
		case "release":
			look = append([]row{r}, look...)
		case "previous", "next", "decline", "allrecommended", "forget", "send":
		default:
			look = append(look, r)
		}
	}
	out := p.actionsOf(partPrompt, append(give, look...))
	for i := range out {
		if out[i].ID == "ask.prompt.allow" {
			out[i].HintNow = p.allowHint
		}
	}
	seen := row{"terminal", "Go to the terminal that asks", "answer in its terminal", []string{"enter"}, false, p.jump}
	out = append(out, p.actionsOf(partTerminal, append([]row{seen}, look...))...)
	for _, part := range []string{partSettled, partHistory, partList} {
		out = append(out, tui.Action{ID: "ask." + part + ".jump", Title: "Go to the terminal of what its agent has not taken", Keys: []string{jumpKey}, Part: part, Enabled: p.whyNoJump, Run: p.jump})
	}
	return append(out, p.settledActions()...)
}

func (p *Page) allowHint() string {
	if d := p.deciding(); d != nil && d.Kind == questions.Plan {
		return "accept"
	}
	return ""
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
