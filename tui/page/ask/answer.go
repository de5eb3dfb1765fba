package ask

import (
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// questions are those of the open request.
func (p *Page) questions() []questions.Question {
	it, _ := p.current()
	return it.Request.Questions
}

// answer is what the user has entered for the questions of a request, and what was said
// before it can go.
type answer struct {
	draft  questions.Draft
	warned warning
	unsure warning // Enter where the cursor is not on what is chosen
}

// warning is a choice that would leave typed text unsent, waiting for the same
// key again.
type warning struct {
	on     bool
	option int
}

// of is the one of questions that is open, and its draft; ok is false on the review.
func (w *answer) of(qs []questions.Question) (q questions.Question, a *questions.AnswerDraft, ok bool) {
	if w.draft.Tab < 0 || w.draft.Tab >= len(qs) || w.draft.Tab >= len(w.draft.Answers) {
		return q, nil, false
	}
	return qs[w.draft.Tab], &w.draft.Answers[w.draft.Tab], true
}

// turn opens a question, or the review, which the user has seen then.
func (w *answer) turn(qs []questions.Question, tab int) {
	w.draft.Tab, w.warned, w.unsure = tab, warning{}, warning{}
	if _, a, ok := w.of(qs); ok {
		a.Seen = true
	}
}

// next is the question after the open one that needs an answer; the review when none does.
func (w *answer) next(qs []questions.Question) int {
	for i := range qs {
		if n := (w.draft.Tab + 1 + i) % len(qs); !w.draft.Answered(qs, n) && n != w.draft.Tab && w.draft.Open(qs, n) != "" {
			return n
		}
	}
	return len(qs)
}

// recommended chooses what the agent suggests where nothing was answered.
func (w *answer) recommended(qs []questions.Question) {
	for i, q := range qs {
		if !w.draft.Answered(qs, i) {
			recommend(q, &w.draft.Answers[i])
		}
	}
	if len(qs) > 1 {
		w.draft.Tab = len(qs)
	}
}

// text is where the text of the open field lives.
func (w *answer) text(qs []questions.Question) (get func() string, set func(string)) {
	d := &w.draft
	_, a, ok := w.of(qs)
	switch {
	case d.Field == questions.ReasonField:
		return func() string { return d.Reason }, func(s string) { d.Reason = s }
	case !ok:
		return func() string { return "" }, func(string) {}
	case d.Field == questions.NoteField:
		return func() string { return a.Notes[d.Option] }, func(s string) {
			if a.Notes == nil {
				a.Notes = map[int]string{}
			}
			a.Notes[d.Option] = s
		}
	case d.Field == questions.ClarifyField:
		return func() string { return a.Clarify }, func(s string) { a.Clarify = s }
	}
	return func() string { return a.Other }, func(s string) { a.Other = s }
}

func (p *Page) at() (q questions.Question, a *questions.AnswerDraft, ok bool) {
	return p.of(p.questions())
}

// onOther reports whether the cursor is on the free-text row.
func onOther(q questions.Question, a *questions.AnswerDraft) bool {
	return q.HasOther() && a.Cursor >= len(q.Options)
}

// accept is Enter: what is under the cursor or chosen is the answer.
func (p *Page) accept() tea.Cmd {
	p.message = ""
	if it, ok := p.current(); ok && it.State == questions.Sending {
		return p.send()
	}
	q, a, ok := p.at()
	if !ok {
		return p.send()
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

// elsewhere says what Enter would go on with where that is not what the cursor is
// on, "" where it is: nothing is sent that the user does not look at. A single
// choice moves to the cursor.
func elsewhere(q questions.Question, a *questions.AnswerDraft) string {
	if len(q.Options) == 0 || a.Asks {
		return ""
	}
	other := onOther(q, a)
	on := slices.Contains(a.Chosen, a.Cursor) || other && a.OtherOn
	switch {
	case a.Skipped:
		return "this question is skipped; press enter again to keep it skipped, or space to choose"
	case on || len(a.Chosen) == 0 && !a.OtherOn:
		return ""
	case q.Multi:
		return "the cursor is not on your choice; press enter again to keep your choice, or space to add this one"
	case other && strings.TrimSpace(a.Other) == "":
		return ""
	case other:
		a.Chosen, a.OtherOn = nil, true
	case strings.TrimSpace(a.Other) != "":
		return "" // which has a warning of its own
	default:
		a.Chosen = []int{a.Cursor}
	}
	return "your choice was replaced; press enter again to continue"
}

func (p *Page) acceptMulti(q questions.Question, a *questions.AnswerDraft) tea.Cmd {
	nothing := len(a.Chosen) == 0 && !a.OtherOn
	switch {
	case nothing && onOther(q, a) && strings.TrimSpace(a.Other) == "":
		p.openField(questions.OtherField)
		return nil
	case nothing && onOther(q, a):
		a.OtherOn = true
	case nothing && (q.Required && q.MinSelect > 0):
		a.Chosen = []int{a.Cursor}
	}
	a.Accepted = true
	if why := p.draft.Open(p.questions(), p.draft.Tab); why != "" {
		p.message = why
		p.keep()
		return nil
	}
	return p.nextQuestion()
}

// pick takes an option of a single choice and goes on. Typed free text that
// would not be sent is warned of first.
func (p *Page) pick(option int) tea.Cmd {
	_, a, ok := p.at()
	if !ok {
		return nil
	}
	if strings.TrimSpace(a.Other) != "" && (!p.warned.on || p.warned.option != option) {
		p.warned = warning{on: true, option: option}
		p.message = "your text will not be sent; press again to continue, or o to send it"
		return nil
	}
	p.warned = warning{}
	a.Cursor, a.Chosen, a.OtherOn, a.Skipped, a.Asks = option, []int{option}, false, false, false
	return p.nextQuestion()
}

// toggle is Space.
func (p *Page) toggle() {
	q, a, ok := p.at()
	if !ok {
		return
	}
	p.message, p.warned, p.unsure = "", warning{}, warning{}
	a.Skipped, a.Asks = false, false
	switch {
	case onOther(q, a) && strings.TrimSpace(a.Other) == "":
		p.openField(questions.OtherField)
		return
	case onOther(q, a) && q.Multi:
		a.OtherOn = !a.OtherOn
	case onOther(q, a):
		a.Chosen, a.OtherOn = nil, true
	case q.Multi:
		a.Chosen = toggled(a.Chosen, a.Cursor)
		p.unsure = warning{on: true, option: a.Cursor} // taken away on purpose
	default:
		a.Chosen, a.OtherOn = []int{a.Cursor}, false
	}
	p.keep()
}

func toggled(chosen []int, n int) []int {
	if i := slices.Index(chosen, n); i >= 0 {
		return slices.Delete(slices.Clone(chosen), i, i+1)
	}
	return append(slices.Clone(chosen), n)
}

// digit is option n, or question n of the review.
func (p *Page) digit(n int) tea.Cmd {
	if d := p.deciding(); d != nil {
		return p.decide(n)
	}
	q, a, ok := p.at()
	if !ok {
		if n < len(p.questions()) {
			p.goTo(n)
		}
		return nil
	}
	if n >= len(q.Options) {
		return nil
	}
	p.message = ""
	if !q.Multi {
		return p.pick(n)
	}
	a.Cursor, a.Chosen, a.Skipped, a.Asks = n, toggled(a.Chosen, n), false, false
	p.unsure = warning{on: true, option: n} // as in toggle
	p.scroll.follow = true
	p.keep()
	return nil
}

// confirm is y or n.
func (p *Page) confirm(n int) tea.Cmd {
	if q, _, ok := p.at(); ok && q.Kind == questions.Confirm {
		return p.digit(n)
	}
	return nil
}

// other is the free-text row.
func (p *Page) other() tea.Cmd {
	q, a, ok := p.at()
	if !ok {
		return nil
	}
	if !q.HasOther() {
		p.message = "this question accepts only the listed options"
		return nil
	}
	a.Cursor = len(q.Options)
	if p.warned.on && strings.TrimSpace(a.Other) != "" {
		p.warned, p.message = warning{}, ""
		a.Chosen, a.OtherOn = nil, true
		return p.nextQuestion()
	}
	p.openField(questions.OtherField)
	return nil
}

func (p *Page) note() {
	q, a, ok := p.at()
	if !ok {
		return
	}
	if onOther(q, a) {
		p.openField(questions.OtherField)
		return
	}
	p.openField(questions.NoteField)
}

func (p *Page) clarify() {
	if _, _, ok := p.at(); ok {
		p.openField(questions.ClarifyField)
	}
}

func (p *Page) decline() { p.openField(questions.ReasonField) }

func (p *Page) skip() tea.Cmd {
	_, a, ok := p.at()
	if !ok {
		return nil
	}
	if a.Skipped {
		a.Skipped = false
		p.keep()
		return nil
	}
	a.Skipped, a.Asks = true, false
	return p.nextQuestion()
}

// skipText skips a question for a text and stays: the key is close to what one
// types.
func (p *Page) skipText() {
	if _, a, ok := p.at(); ok {
		a.Skipped, a.Asks = true, false
		p.message = "skipped; press enter to continue, or type to answer after all"
		p.keep()
	}
}

// recommended chooses what the agent suggests here, and stays.
func (p *Page) recommended() {
	q, a, ok := p.at()
	if !ok {
		return
	}
	if !recommend(q, a) {
		p.message = "the agent recommended no option"
		return
	}
	p.keep()
}

func recommend(q questions.Question, a *questions.AnswerDraft) bool {
	if len(q.Recommended) == 0 {
		return false
	}
	a.Chosen, a.Cursor = slices.Clone(q.Recommended), q.Recommended[0]
	a.OtherOn, a.Skipped, a.Asks = q.Multi && a.OtherOn, false, false
	return true
}

func (p *Page) allRecommended() {
	p.answer.recommended(p.questions())
	p.keep()
}

// nextQuestion goes to the next question without an answer, then to the review; a lone
// question is sent.
func (p *Page) nextQuestion() tea.Cmd {
	qs := p.questions()
	p.keep()
	if len(qs) == 1 {
		return p.send()
	}
	p.goTo(p.next(qs))
	return nil
}

// goTo opens a question, or the review. A text question without a text is
// ready to be typed into.
func (p *Page) goTo(tab int) {
	p.turnTo(tab)
	p.enterText()
}

func (p *Page) turnTo(tab int) {
	p.answer.turn(p.questions(), tab)
	p.scroll, p.message = scrolls{follow: true}, ""
	p.keep()
}

func (p *Page) enterText() {
	q, a, ok := p.at()
	if ok && len(q.Options) == 0 && q.Kind != questions.Form && a.Empty() && !p.closed() {
		p.openField(questions.OtherField)
	}
}

// turn goes to the question beside this one, through the review and round.
func (p *Page) turn(d int) {
	n := len(p.questions())
	if n >= 2 {
		p.turnTo((p.draft.Tab + d + n + 1) % (n + 1))
	}
}

// move moves the cursor and stops at the ends.
func (p *Page) move(d int) {
	q, a, ok := p.at()
	if !ok {
		p.review.Move(d)
		return
	}
	p.message, p.warned, p.unsure = "", warning{}, warning{}
	a.Cursor = min(max(a.Cursor+d, 0), q.Rows()-1)
	p.scroll.follow = true
	p.keep()
}

// beside goes to the request before or after.
func (p *Page) beside(d int) {
	items := p.snap.Items
	i := slices.IndexFunc(items, func(it questions.Item) bool { return it.ID == p.id })
	if i < 0 || len(items) < 2 {
		return
	}
	p.open(items[(i+d+len(items))%len(items)].ID)
}

// send sends the open request, or says what is missing and goes there.
func (p *Page) send() tea.Cmd {
	it, ok := p.current()
	if !ok {
		return nil
	}
	if it.State != questions.Sending {
		p.keep()
	}
	err := p.queue.Send(p.id)
	var open *questions.Incomplete
	switch {
	case errors.As(err, &open):
		p.goTo(open.Question)
		p.message = open.Why
		return nil
	case err != nil:
		p.message = err.Error()
		return nil
	}
	p.refresh()
	if _, still := p.current(); still && it.State == questions.Sending {
		return nil
	}
	p.answered("", it.ID)
	if it.Absent == questions.Gone {
		return tui.Toast(tui.Info, "saved; the agent stopped waiting and gets this if it asks again")
	}
	return nil
}

// undo brings back what was sent last.
func (p *Page) undo() {
	if id := p.queue.Undo(0); id != 0 {
		p.refresh()
		p.open(id)
		p.message = "taken back"
	}
}

// dismiss takes what nobody waits for off the list.
func (p *Page) dismiss() tea.Cmd {
	id := p.id
	if p.place == partList {
		id = p.rowID()
	}
	it, ok := p.snap.Item(id)
	if ok && it.Absent == questions.Present {
		return tui.Toast(tui.Info, "an agent is waiting for this question; press x to decline it")
	}
	if err := p.queue.Dismiss(id); err != nil {
		return tui.Toast(tui.Info, err.Error())
	}
	p.toList()
	return nil
}

func (p *Page) read() {
	p.place = partReader
	p.reader = widget.Scroll{}
	p.search.Stop()
}

// declined ends the open request without an answer.
func (p *Page) declined() tea.Cmd {
	it, ok := p.current()
	if !ok {
		return nil
	}
	if err := p.queue.Decline(p.id, p.draft.Reason); err != nil {
		p.message = err.Error()
		return nil
	}
	p.refresh()
	p.answered("declined; "+sanitize.Line(it.Request.Client())+" was told", it.ID)
	return nil
}
