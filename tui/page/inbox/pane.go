package inbox

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// pane is the reading pane: it shows what is selected in the list, ready to be answered.
type pane struct {
	answer
	digests    tui.Digests
	areas      tui.Areas
	reader     widget.Scroll
	search     tui.Search // in the reader
	review     widget.List
	talk       widget.Scroll // in a conversation, or a record
	group      group         // at partGroup
	permission permission
	marks      []int             // requests that are to have a common answer
	session    *snapshot.Session // that is selected
	unreplied  bool              // the pane was open before a prompt was typed in it
	file       int               // whose diff is shown, of a session
	record     questions.Record  // that is selected
}

// accept is Enter in the pane: what is under the cursor or chosen is the answer.
func (p *pane) accept() tea.Cmd {
	p.message = ""
	q, a, ok := p.at()
	switch {
	case ok && !sees(p, a.Cursor):
		look(p, a.Cursor)
		return nil
	case p.deciding() != nil:
		return p.decide(a.Cursor)
	case p.place != partRequest:
		return nil
	case p.closed():
		return p.jump()
	case !ok:
		return p.send()
	case len(q.Options) == 0 && q.Kind != questions.Form && strings.TrimSpace(a.Other) != "" && !a.Skipped && !a.Asks:
		p.openField(questions.OtherField) // enter there takes it
		return nil
	}
	if why := elsewhere(q, a); why != "" && (!p.unsure.on || p.unsure.option != a.Cursor) {
		p.unsure = warning{on: true, option: a.Cursor}
		p.message = why
		p.scroll.follow = true
		p.keep()
		return nil
	}
	p.unsure = warning{}
	if a.Skipped || a.Asks {
		return p.nextQuestion() // as decided before; choosing takes it back
	}
	switch {
	case q.Multi && len(q.Options) > 0:
		return p.acceptMulti(q, a)
	case onOther(q, a):
		if strings.TrimSpace(a.Other) == "" {
			if !q.Required && len(q.Options) == 0 {
				return p.nextQuestion()
			}
			p.openField(questions.OtherField)
			return nil
		}
		a.Chosen, a.OtherOn = nil, true
		return p.nextQuestion()
	}
	return p.pick(a.Cursor)
}

// digit is option n, or question n of the review.
func (p *pane) digit(n int) tea.Cmd {
	q, a, ok := p.at()
	switch {
	case p.place != partRequest:
		return nil
	case !p.drawn, ok && n < len(q.Options) && !sees(p, n):
		look(p, n)
		return nil
	case p.deciding() != nil:
		return p.decide(n)
	case !ok && n < len(p.questions()):
		p.goTo(n)
		return nil
	case !ok, n > len(q.Options), n == len(q.Options) && !q.HasOther():
		return nil
	case n == len(q.Options):
		p.own()
		return nil
	}
	p.message = ""
	if !q.Multi {
		p.opened = p.opened || len(p.questions()) > 1
		return p.pick(n)
	}
	p.opened = true
	a.Cursor, a.Chosen, a.Skipped, a.Asks = n, toggled(a.Chosen, n), false, false
	p.unsure = warning{on: true, option: n} // as in toggle
	p.scroll.follow = true
	p.keep()
	return nil
}

// sees reports whether the user has option n before the eyes, or all that there is room for: where a permission
// is cut there is none for its options, and the footer has their keys.
func sees(p *pane, n int) bool {
	q, _, _ := p.at()
	switch {
	case p.place != partRequest || p.closed() || p.onForm() || len(q.Options) == 0:
		return true
	case p.deciding() != nil && p.permission.cut && p.drawn:
		return p.opened || p.inSight != nil
	}
	return p.drawn && p.inSight[n]
}

// look brings what is asked before the user's eyes, with option n if it is there already: what is not on the
// screen is not answered.
func look(p *pane, n int) {
	if _, a, ok := p.at(); ok && p.drawn {
		a.Cursor = n
	} else {
		p.enterText()
	}
	p.opened, p.scroll.follow = true, true
	p.keep()
}

// inView has an answer that needs no option named first show what it answers.
func inView(p *pane, run func() tea.Cmd) func() tea.Cmd {
	return func() tea.Cmd {
		if p.place == partRequest && !p.drawn {
			look(p, 0)
			return nil
		}
		return run()
	}
}

// own opens the field for an answer of the user's own.
func (p *pane) own() {
	q, a, ok := p.at()
	switch {
	case !ok:
		return
	case !q.HasOther():
		p.message = "this question accepts only the listed options"
		return
	}
	a.Cursor = len(q.Options)
	p.openField(questions.OtherField)
}

// yesNo is y or n.
func (p *pane) yesNo(key string, option int) tea.Cmd {
	q, _, ok := p.at()
	switch {
	case p.deciding() != nil:
		return p.give(key, "the agent does not offer this")
	case ok && q.Kind == questions.Confirm:
		return p.digit(option)
	}
	return nil
}

// ask is m: a permission is denied with a message, and a question answered by one.
func (p *pane) ask() tea.Cmd {
	if p.session != nil {
		was := p.opened
		return p.opt.Reply.Open(p.session, func() { p.unreplied, p.opened = was, true })
	}
	if p.deciding() != nil {
		return p.give("m", "the agent takes no message")
	}
	if _, _, ok := p.at(); ok {
		p.openField(questions.ClarifyField)
	}
	return nil
}

// stop is x: a permission is denied and its turn ends, a question declined, and one that
// nobody waits for dismissed.
func (p *pane) stop() tea.Cmd {
	it, ok := p.current()
	switch {
	case p.kept():
		it.ID, it.Absent = p.record.ID, questions.Gone
	case !ok:
		return nil
	}
	switch {
	case p.deciding() != nil:
		return p.give("x", "the agent does not offer this")
	case it.Absent == questions.Gone:
		if err := p.queue.Dismiss(it.ID); err != nil {
			return tui.Toast(tui.Info, err.Error())
		}
		p.refresh()
		p.opened = false
		return nil
	}
	p.decline()
	return nil
}

// kept reports whether what is selected is an answer that its agent has not got.
func (p *pane) kept() bool {
	return p.place == partRecord && slices.ContainsFunc(p.snap.Kept, func(k questions.Record) bool { return k.ID == p.record.ID })
}

// note opens the field for a note to the option under the cursor.
func (p *pane) note() {
	q, a, ok := p.at()
	switch {
	case !ok:
	case onOther(q, a):
		p.openField(questions.OtherField)
	default:
		p.openField(questions.NoteField)
	}
}

// move moves the cursor of what the pane shows and stops at the ends.
func (p *pane) move(d int) {
	switch q, a, ok := p.at(); {
	case p.place == partSession || p.place == partRecord:
		p.talk.Move(d)
	case p.place != partRequest:
	case !ok:
		p.review.Move(d)
	default:
		p.message, p.warned, p.unsure = "", warning{}, warning{}
		a.Cursor = min(max(a.Cursor+d, 0), q.Rows()-1)
		p.scroll.follow = true
		p.keep()
	}
}

// turnPage scrolls the pane by screens.
func (p *pane) turnPage(d int) {
	it, ok := p.current()
	switch {
	case p.place == partSession || p.place == partRecord:
		p.talk.Page(d)
	case !ok || p.place != partRequest:
	case decision(&it.Request) != nil:
		p.scroll.about = max(p.scroll.about+d*max(p.permission.page-1, 1), 0)
	case p.form != nil:
		p.formView.wheel(d)
	default:
		p.scroll.by(d)
	}
}

// read shows everything of what is selected as one text, with its details.
func (p *pane) read() {
	if _, ok := p.current(); !ok {
		return
	}
	p.place, p.opened = partReader, true
	p.reader = widget.Scroll{}
	p.search.Stop()
}

// copy puts what is selected on the clipboard: what wants to run, a question, what an agent
// said.
func (p *pane) copy() tea.Cmd {
	it, ok := p.current()
	switch {
	case ok && it.Request.Prompt != nil && it.Request.Prompt.Kind == questions.Permission:
		return tui.Copy(it.Request.Prompt.Subject(), "what wants to run")
	case ok:
		q := it.Request.Questions[min(p.draft.Tab, len(it.Request.Questions)-1)]
		return tui.Copy(strings.TrimSpace(q.Question+"\n\n"+q.Description), "the question")
	case p.place == partRecord:
		return tui.Copy(recordText(p.record), "question and answer")
	case p.session != nil && p.session.Record != nil:
		return tui.Copy(p.session.Record.Said, "what "+sanitize.Line(p.session.Agent)+" said")
	}
	return nil
}

// textEnter takes the text, or breaks the line of a paste.
func (p *pane) textEnter() tea.Cmd {
	if time.Since(p.typed) < pasteGap {
		return p.typeText(func() { p.editor.Insert("\n") })
	}
	f := p.draft.Field
	p.textTake()
	q, a, ok := p.at()
	blank := ok && strings.TrimSpace(a.Other) == ""
	switch {
	case f == questions.ReasonField:
		return p.declined()
	case !ok:
		return nil
	case f == questions.NoteField && p.deciding() != nil:
		return p.noted()
	case f == questions.ClarifyField && a.Asks:
		return p.nextQuestion()
	case f == questions.OtherField && blank && len(q.Options) == 0 && !q.Required:
		return p.nextQuestion()
	case f == questions.OtherField && blank:
		p.draft.Field = questions.OtherField // blank is no answer
		p.message = "type an answer, or esc"
		p.keep()
	case f == questions.OtherField && (!q.Multi || len(q.Options) == 0):
		return p.nextQuestion()
	}
	return nil
}

// textEnds is what Enter does in the open field, where it does more than to close
// it.
func (p *pane) textEnds() string {
	switch q, _, _ := p.at(); {
	case p.draft.Field == questions.ReasonField:
		return "decline"
	case p.draft.Field == questions.NoteField && p.deciding() != nil:
		return "deny"
	case p.draft.Field == questions.ClarifyField:
		return "ask back"
	case p.draft.Field == questions.OtherField && (!q.Multi || len(q.Options) == 0):
		return "next"
	}
	return ""
}
