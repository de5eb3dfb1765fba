package inbox

import (
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/tui"
)

// questions are those of the open request.
func (p *answer) questions() []questions.Question {
	it, _ := p.current()
	return it.Request.Questions
}

// answer is the request that the pane shows, with what the user has entered for it.
type answer struct {
	entry
	field
	questionView
	formView
	settled
	queue *questions.Queue
	opt   *Options
	snap  *questions.Snapshot
	shown bool // the page is on screen

	place   string // what the pane shows; "" for nothing
	opened  bool   // the pane has the focus
	id      int    // of the request
	message string // about the last key; one line
	given   given
}

// entry is what the user has entered for the questions of a request, and what was said
// before it can go.
type entry struct {
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
func (w *entry) of(qs []questions.Question) (q questions.Question, a *questions.AnswerDraft, ok bool) {
	if w.draft.Tab < 0 || w.draft.Tab >= len(qs) || w.draft.Tab >= len(w.draft.Answers) {
		return q, nil, false
	}
	return qs[w.draft.Tab], &w.draft.Answers[w.draft.Tab], true
}

// turn opens a question, or the review, which the user has seen then.
func (w *entry) turn(qs []questions.Question, tab int) {
	w.draft.Tab, w.warned, w.unsure = tab, warning{}, warning{}
	if _, a, ok := w.of(qs); ok {
		a.Seen = true
	}
}

// next is the question after the open one that needs an answer; the review when none does.
func (w *entry) next(qs []questions.Question) int {
	for i := range qs {
		if n := (w.draft.Tab + 1 + i) % len(qs); !w.draft.Answered(qs, n) && n != w.draft.Tab && w.draft.Open(qs, n) != "" {
			return n
		}
	}
	return len(qs)
}

// recommended chooses what the agent suggests where nothing was answered.
func (w *entry) recommended(qs []questions.Question) {
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
func (w *entry) text(qs []questions.Question) (get func() string, set func(string)) {
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

func (p *answer) at() (q questions.Question, a *questions.AnswerDraft, ok bool) {
	return p.of(p.questions())
}

// onOther reports whether the cursor is on the free-text row.
func onOther(q questions.Question, a *questions.AnswerDraft) bool {
	return q.HasOther() && a.Cursor >= len(q.Options)
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

func (p *answer) acceptMulti(q questions.Question, a *questions.AnswerDraft) tea.Cmd {
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
func (p *answer) pick(option int) tea.Cmd {
	_, a, ok := p.at()
	if !ok {
		return nil
	}
	if strings.TrimSpace(a.Other) != "" && (!p.warned.on || p.warned.option != option) {
		p.warned = warning{on: true, option: option}
		p.message = "your text will not be sent; press again to continue, or choose it to send it"
		return nil
	}
	p.warned = warning{}
	a.Cursor, a.Chosen, a.OtherOn, a.Skipped, a.Asks = option, []int{option}, false, false, false
	return p.nextQuestion()
}

// toggle is Space.
func (p *answer) toggle() {
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

func (p *answer) decline() { p.openField(questions.ReasonField) }

func (p *answer) skip() tea.Cmd {
	_, a, ok := p.at()
	if !ok {
		return nil
	}
	switch {
	case p.form != nil:
		return p.skipForm()
	case a.Skipped:
		a.Skipped = false
		p.keep()
		return nil
	}
	a.Skipped, a.Asks = true, false
	return p.nextQuestion()
}

// recommended chooses what the agent suggests here, and stays.
func (p *answer) recommended() {
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

func (p *answer) allRecommended() {
	p.entry.recommended(p.questions())
	p.keep()
}

// nextQuestion goes to the next question without an answer, then to the review; a lone
// question is sent.
func (p *answer) nextQuestion() tea.Cmd {
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
func (p *answer) goTo(tab int) {
	p.turnTo(tab)
	p.enterText()
}

func (p *answer) turnTo(tab int) {
	p.entry.turn(p.questions(), tab)
	p.scroll, p.message = scrolls{follow: true}, ""
	p.keep()
}

func (p *answer) enterText() {
	q, a, ok := p.at()
	if ok && len(q.Options) == 0 && q.Kind != questions.Form && a.Empty() && !p.closed() {
		p.openField(questions.OtherField)
	}
}

// turn goes to the question beside this one, through the review and round.
func (p *answer) turn(d int) {
	n := len(p.questions())
	if n >= 2 {
		p.turnTo((p.draft.Tab + d + n + 1) % (n + 1))
	}
}

// send sends the open request, or says what is missing and goes there.
func (p *answer) send() tea.Cmd {
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

// declined ends the open request without an answer.
func (p *answer) declined() tea.Cmd {
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

// current is the request that the pane shows.
func (p *answer) current() (questions.Item, bool) { return p.snap.Item(p.id) }

// closed reports whether that can be looked at and not be answered.
func (p *answer) closed() bool {
	it, ok := p.current()
	return p.opt.Watch || ok && it.Request.InTerminal()
}

// deciding is that where it is a permission or a plan that can be given here.
func (p *answer) deciding() *questions.Prompt {
	it, ok := p.current()
	if !ok || p.place != partRequest || it.State == questions.Sending || p.closed() {
		return nil
	}
	return decision(&it.Request)
}

// open puts a request into the pane, with its draft.
func (p *answer) open(id int) {
	it, ok := p.snap.Item(id)
	if !ok {
		return
	}
	p.id, p.place, p.entry = id, partRequest, entry{draft: it.Draft.Clone()}
	p.message, p.questionView = "", questionView{scroll: scrolls{follow: true}}
	p.entry.turn(it.Request.Questions, p.draft.Tab)
	p.files.From(p.filesOf(&it.Request))
	switch {
	case p.closed():
		p.draft.Field = questions.NoField
	case p.draft.Field != questions.NoField:
		p.restore()
		p.opened = true
	}
	p.openForm()
	if p.shown && it.State != questions.Snoozed { // which would wake it
		p.queue.Show(id)
		p.refresh()
	}
}

// refresh sees at once what was done to the queue.
func (p *answer) refresh() { p.snap = p.queue.Pending() }

// keep hands the draft to the queue, which makes it safe. A request that has ended
// meanwhile stays until the feed tells of it.
func (p *answer) keep() {
	p.queue.SetDraft(p.id, p.draft)
	if s := p.queue.Pending(); slices.ContainsFunc(s.Items, func(it questions.Item) bool { return it.ID == p.id }) {
		p.snap = s
	}
}
