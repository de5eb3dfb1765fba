package ask

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// readFor is how long a permission has to be on screen before a key can be meant for it.
const readFor = 800 * time.Millisecond

// settledFor is how long the line stays that says how a permission was settled elsewhere.
// Keys do nothing in that time, since they may be meant for what was there.
const settledFor = 5 * time.Second

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

// closed tells whether the open request can be looked at and not be answered.
func (p *Page) closed() bool {
	it, ok := p.current()
	return p.opt.Watch || ok && it.Request.InTerminal()
}

// give makes the Run of a key that chooses a grant.
func (p *Page) give(key, otherwise string) func() tea.Cmd {
	return p.careful(func() tea.Cmd {
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
	})
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
	if option < len(d.Grants) && d.Grants[option].Note {
		if last := p.lastNote(d); a.Notes[option] == "" && last != "" {
			a.Notes = map[int]string{option: last}
		}
		p.openField(questions.NoteField)
		return nil
	}
	return p.decided(option)
}

// toLasting moves to the first option that allows what is open for longer than once.
func (p *Page) toLasting() {
	if d := p.deciding(); tui.Lasting(d) >= 0 {
		p.draft.Answers[0].Cursor = tui.Lasting(d)
		p.message = "enter allows it for longer than once"
		p.scroll.follow = true
		p.keep()
	}
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
	return func() tea.Msg {
		said, err := to(r)
		switch {
		case err != nil:
			return tui.Toast(tui.Warn, err.Error())()
		case said != "":
			return tui.Toast(tui.Good, said)()
		}
		return nil
	}
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
		r = p.settled.Request
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
		{"prompt.choose", "Choose the option under the cursor", "choose", []string{"enter"}, true, p.careful(func() tea.Cmd {
			if d := p.deciding(); d == nil {
				return nil
			}
			return p.decide(p.draft.Answers[0].Cursor)
		})},
		{"prompt.allow", "Allow once, or accept the plan", "allow once", []string{"y"}, true, p.give("y", none)},
		{"prompt.deny", "Deny, or keep planning", "deny", []string{"n"}, true, p.give("n", none)},
		{"prompt.session", "Allow for this session: the widest permission that the agent offers", "", []string{"Y"}, true, p.give("Y", none)},
		{"prompt.note", "Deny with a note", "", []string{"N", "tab"}, true, p.give("N", "the agent takes no note")},
		{"prompt.stop", "Deny and stop the agent's turn", "", []string{"x"}, true, p.give("x", none)},
		{"group", "Answer all that are like this at once", "group", []string{"A"}, true, do(p.openGroup)},
	}
	look := []row{{"read", "Read everything in full", "whole text", []string{"d", "v", "pgdown", "shift+down"}, false, do(p.read)}}
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
	leave := tui.Action{ID: "ask.settled.leave", Title: "Back to the list", Hint: "list", Keys: []string{"esc", "ctrl+c"}, Part: partSettled, InText: true, Run: do(p.toList)}
	for _, part := range []string{partSettled, partHistory, partList} {
		out = append(out, tui.Action{ID: "ask." + part + ".jump", Title: "Go to the terminal of what its agent has not taken", Keys: []string{"J"}, Part: part, Enabled: p.whyNoJump, Run: p.jump})
	}
	return append(out, leave)
}

func (p *Page) allowHint() string {
	if d := p.deciding(); d != nil && d.Kind == questions.Plan {
		return "accept"
	}
	return ""
}

// settledMsg ends the time in which keys do nothing.
type settledMsg struct{ id int }

// settle shows how the open prompt was settled elsewhere, if it was; what comes next
// must not take its place under a key that is being pressed.
func (p *Page) settle(old, s *questions.Snapshot) tea.Cmd {
	it, ok := old.Item(p.id)
	if !ok || it.Request.Prompt == nil || !p.shown || p.place != partRequest && p.place != partReader {
		return nil
	}
	for _, r := range s.History {
		if r.ID != p.id || r.Delivery != questions.Elsewhere && r.Delivery != questions.Withdrawn {
			continue
		}
		p.settled, p.id, p.place, p.draft = r, 0, partSettled, questions.Draft{}
		p.queue.Show(0)
		return after(settledFor, settledMsg{r.ID})
	}
	return nil
}

// settledSeen goes on after a permission that was settled elsewhere.
func (p *Page) settledSeen(msg settledMsg) tea.Cmd {
	if p.place != partSettled || p.settled.ID != msg.id {
		return nil
	}
	p.leaveEnded(true)
	return p.goBack()
}

// about is what a request asks, on one line: of a permission the tool and what it would
// do, else the first question.
func about(r *questions.Request) string {
	d := r.Prompt
	if d == nil || d.Kind != questions.Permission {
		return plain.Bare(r.Questions[0].Question)
	}
	return strings.TrimSpace(plain.Line(d.Tool) + "  " + plain.Line(d.Subject()))
}

// aboutRow draws what a request asks: a question with its Markdown, and exactly what a
// permission is for.
func aboutRow(th *theme.Theme, style theme.Style, r *questions.Request) string {
	if exact(r) {
		return style.Render(about(r))
	}
	return widget.Spans(th, style, about(r))
}

// exact tells whether the texts of a request are drawn as they are: what is about to run
// has no Markdown.
func exact(r *questions.Request) bool {
	return r.Prompt != nil && r.Prompt.Kind == questions.Permission
}

// chosen is the label of an option that was chosen.
func chosen(r *questions.Request, label string) string {
	if label = plain.Bare(label); !exact(r) {
		label = widget.Unmarked(label)
	}
	return strings.TrimSpace(label)
}

// label is the short name of question i.
func label(q questions.Question, i int) string { return widget.Unmarked(plain.Bare(q.Label(i))) }
