package inbox

import (
	"math"
	"slices"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// settledFor is how long the line stays that says how a permission was settled elsewhere.
// Keys do nothing in that time, since they may be meant for what was there.
const settledFor = 5 * time.Second

// settled is what stands in the place of a request that has its answer, so that no other
// comes under the key that gave it.
type settled struct {
	record questions.Record // of one that was settled elsewhere
	ids    []int            // of those that were answered here
	words  string           // how, where the queue says nothing of it
}

// given is what was answered here last, for the line that says so.
type given struct {
	ids []int
	at  time.Time
}

// givenFor is how long that line stays.
const givenFor = 5 * time.Second

// lastGiven says what became of what was answered here last, "" a while later.
func (p *pane) lastGiven(f *tui.Frame, w int) string {
	left := givenFor - f.Now.Sub(p.given.at)
	if left <= 0 || len(p.given.ids) != 1 {
		return ""
	}
	for _, r := range slices.Backward(p.snap.History) {
		if r.ID == p.given.ids[0] {
			f.RedrawAfter(left)
			return outcome(f.Theme, &r, w)
		}
	}
	return ""
}

// outcome is what became of a request, on one line of w cells. Whose it is stays whole.
func outcome(th *theme.Theme, r *questions.Record, w int) string {
	said := recordMark(th, *r) + " " + th.Strong.Render(words(r)) + ": "
	who := th.Muted.Render(" " + th.Glyph.Dot + " " + tui.Asker(&r.Request))
	return widget.Cut(said+widget.Cut(aboutRow(th, th.Text, &r.Request), max(w-widget.Width(said+who), 8))+who, w)
}

// own reports whether the user gave the answer here.
func (s *settled) own() bool { return len(s.ids) > 0 }

// request is the last one of them.
func (s *settled) request(q *questions.Snapshot) questions.Request {
	r := s.record
	if all := s.records(q); len(all) > 0 {
		r = all[len(all)-1]
	}
	return r.Request
}

// records are what became of them; one whose answer is on its way has no ID.
func (s *settled) records(q *questions.Snapshot) (out []questions.Record) {
	if !s.own() {
		return []questions.Record{s.record}
	}
	for _, id := range s.ids {
		r := *record(q, id)
		if it, ok := q.Item(id); ok {
			r.Request = it.Request
		}
		if len(r.Request.Questions) > 0 {
			out = append(out, r)
		}
	}
	return out
}

// settledMsg ends the time in which keys do nothing.
type settledMsg struct{ id int }

// settle shows how the prompt in the pane was settled elsewhere, if it was; what comes next
// must not take its place under a key that is being pressed.
func (p *pane) settle(old, s *questions.Snapshot) tea.Cmd {
	it, ok := old.Item(p.id)
	if !ok || it.Request.Prompt == nil || !p.shown || p.place != partRequest && p.place != partReader {
		return nil
	}
	for _, r := range s.History {
		if r.ID != p.id || r.Delivery != questions.Elsewhere && r.Delivery != questions.Withdrawn {
			continue
		}
		p.stay(settled{record: r})
		return after(settledFor, settledMsg{r.ID})
	}
	return nil
}

// answered shows what the user answered here until the next request may come: when the
// key is let go, by another key, or when none is pressed for a while.
func (p *answer) answered(words string, ids ...int) {
	p.given = given{ids, time.Now()}
	p.stay(settled{ids: ids, words: words})
}

func (p *answer) stay(s settled) {
	p.settled, p.id, p.place, p.draft, p.message, p.form = s, 0, partSettled, questions.Draft{}, "", nil
	p.queue.Show(0)
}

// renderSettled says how the request was settled that was on screen.
func (p *pane) renderSettled(f *tui.Frame) []string {
	if p.settled.own() {
		return p.renderAnswered(f)
	}
	th, r := f.Theme, p.settled.record
	who := th.Text.Render(sanitize.Line(r.Request.Client()))
	if cwd := project(&r.Request); cwd != "" {
		who += th.Muted.Render(" " + th.Glyph.Dot + " " + cwd)
	}
	return []string{
		"", " " + who + "  " + aboutRow(th, th.Muted, &r.Request),
		"", " " + th.Strong.Render(questions.DeckNames(r.Words(jumpKey))),
		"", " " + th.Muted.Render("keys are ignored for a moment"),
	}
}

// words say what became of an answer, and for how long something was allowed.
func words(r *questions.Record) string {
	g, ok := r.Request.Granted(r.Reply.Results)
	switch {
	case !ok || r.End() != questions.EndAllowed:
		return questions.DeckNames(r.Words(jumpKey))
	case r.Request.Prompt.Kind == questions.Plan:
		return "accepted"
	case g.Scope == questions.ForSession:
		return "allowed for this session"
	case g.Scope == questions.Always:
		return "allowed from now on"
	}
	return "allowed once"
}

// renderAnswered says what became of the answer that was just given.
func (p *pane) renderAnswered(f *tui.Frame) []string {
	th := f.Theme
	var rows []string
	for _, r := range p.snap.History {
		if slices.Contains(p.settled.ids, r.ID) {
			rows = append(rows, outcome(th, &r, math.MaxInt))
		}
	}
	if s := p.sending(f); s != "" {
		rows = append(rows, s)
	}
	if p.settled.words != "" {
		rows = append(rows, th.Strong.Render(p.settled.words))
	}
	next := "nothing else needs you"
	switch n := len(due(p.snap)); {
	case n == 1:
		next = "1 more needs you: it comes when you let go of the key, or press j"
	case n > 1:
		next = strconv.Itoa(n) + " more need you: the next comes when you let go of the key, or press j"
	}
	if p.message != "" {
		next = p.message
	}
	out := []string{""}
	for _, r := range append(rows, "", th.Muted.Render(next)) {
		for _, line := range widget.Closed(widget.Wrap(r, f.W-2)) {
			out = append(out, " "+line)
		}
	}
	return out
}
