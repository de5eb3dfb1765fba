package deck

import (
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// doneFor is how long the row of an answered request stays, so that no other takes its
// place under a key.
const doneFor = 5 * time.Second

// waitRow is an asker that waits for the user.
type waitRow struct {
	asker string
	item  ask.Item
	more  int       // of the same asker
	done  time.Time // when the item was answered, or left, or more was seen of it
	end   ask.End   // what had been seen then
	left  bool      // its row may go
	whole bool      // all that the user has to know is on screen
}

// pending is what waits; empty without questions.
func (p *Page) pending() *ask.Snapshot {
	if p.opts.Questions == nil {
		return &ask.Snapshot{}
	}
	return p.opts.Questions.Pending()
}

// lay brings the rows of those that wait and of those at work up to date. A request that
// was answered keeps its place for a moment; new ones come below.
func (p *Page) lay(now time.Time) {
	byAsker := map[string][]ask.Item{}
	var askers []string
	for _, it := range p.pending().Items {
		if !it.Due() {
			continue
		}
		who := it.Request.Asker()
		if byAsker[who] == nil {
			askers = append(askers, who)
		}
		byAsker[who] = append(byAsker[who], it)
	}
	kept := p.waitList[:0]
	for _, e := range p.waitList {
		items := byAsker[e.asker]
		i := slices.IndexFunc(items, func(it ask.Item) bool { return it.ID == e.item.ID })
		switch {
		case e.done.IsZero() && i >= 0:
			e.item, e.more = items[i], len(items)-1
		case e.done.IsZero() && !p.snoozed(e.item.ID):
			e.done, e.end = now, p.record(e.item.ID).End()
		case !e.done.IsZero() && e.end != p.record(e.item.ID).End():
			e.done, e.end = now, p.record(e.item.ID).End()
		case !e.left && (e.end == ask.EndSent || now.Sub(e.done) < doneFor):
		case len(items) > 0:
			e = waitRow{asker: e.asker, item: items[0], more: len(items) - 1}
		default:
			continue
		}
		kept = append(kept, e)
		delete(byAsker, e.asker)
	}
	p.waitList = kept
	for _, who := range askers {
		if items := byAsker[who]; items != nil {
			p.waitList = append(p.waitList, waitRow{asker: who, item: items[0], more: len(items) - 1})
		}
	}
	p.waits.SetLen(len(p.waitList))
	if len(p.waitList) == 0 && p.part == partWaiting {
		p.part = partAgents
	}
	p.layWork()
}

// waitRowAt is the row under the cursor of those that wait, nil where there is none.
func (p *Page) waitRowAt() *waitRow { return widget.Selected(&p.waits, p.waitList) }

// waitsIn reports whether a connection, or a session of an agent's program, has a row among
// those that wait.
func (p *Page) waitsIn(connection, agent, session string) bool {
	return slices.ContainsFunc(p.waitList, func(e waitRow) bool {
		if d := e.item.Request.Prompt; d != nil {
			return d.Agent == agent && d.Session == session
		}
		return connection != "" && e.item.Request.Peer.Key == connection
	})
}

// asksFor is what a request waits for, in a word.
func asksFor(r *ask.Request) string {
	kind := ask.OwnQuestion
	if r.Prompt != nil {
		kind = r.Prompt.Kind
	}
	switch {
	case kind == ask.Permission:
		return "allow?"
	case kind == ask.Plan:
		return "plan"
	case kind == ask.ServerForm || r.Questions[0].Kind == ask.Form:
		return "form"
	}
	return "answer?"
}

// subjectOf is what a request is about, on one line, and whether that is all of it.
func subjectOf(r *ask.Request) (text string, all bool) {
	d := r.Prompt
	if d == nil || d.Kind != ask.Permission {
		return sanitize.Line(r.Questions[0].Question), false
	}
	subject := sanitize.Exact(strings.TrimSuffix(d.Subject(), "\n"))
	all = subject != "" && !d.Unconfirmed && d.Diff == "" && !strings.Contains(subject, "\n") && (d.Path == "" || d.Subject() == d.Path) && (d.Command == "" || len(d.Args) == 0)
	return sanitize.Line(d.Tool) + "  " + strings.ReplaceAll(subject, "\n", " "), all
}

// waitingRow draws who waits for the user, and for what.
func (p *Page) waitingRow(f *tui.Frame, e *waitRow, w int) string {
	th, r := f.Theme, &e.item.Request
	name := sanitize.Line(r.Client())
	mark, style := th.Warn.Render(th.Glyph.Wait), th.Strong
	word := th.Warn.Render(widget.Fit(asksFor(r), 9))
	switch d := r.Prompt; {
	case !e.done.IsZero():
		f.RedrawAfter(doneFor - f.Now.Sub(e.done) + time.Millisecond)
		mark, word, style = ended(th, e.end)
	case r.InTerminal():
		mark = th.Warn.Render(th.Glyph.Right)
	case d != nil && d.Door == ask.Held:
		mark = th.Warn.Render(th.Glyph.Held)
	}
	left := mark + " " + th.Text.Render(widget.Fit(name, p.nameWidth(w))) + "  "
	if w >= 80 {
		in := r.Cwd()
		if a := p.snap.Agent(r.Peer.Key); a != nil && in == "" {
			in = a.Folder()
		}
		left += th.Muted.Render(widget.Fit(folder(in), min(w/8, 12))) + "  "
	}
	left += word
	var right []string
	marked := 0
	if d := r.Prompt; d != nil && w >= 90 {
		for _, m := range d.Marks {
			right = append(right, th.Warn.Render(sanitize.Line(m)))
		}
		marked = len(d.Marks)
	}
	if n := len(r.Questions); n > 1 && w >= 50 {
		right = append(right, th.Muted.Render("1 of "+strconv.Itoa(n)))
	}
	if twin := tui.Twin(p.pending(), &e.item); twin != "" && w >= 60 {
		if d := r.Prompt; d.Subagent != "" {
			twin += " " + sanitize.Line(d.Subagent)
		}
		right = append(right, th.Info.Render(twin))
	}
	if e.more > 0 {
		right = append(right, th.Info.Render("+"+strconv.Itoa(e.more)))
	}
	if w >= 50 {
		right = append(right, th.Muted.Render(widget.PadLeft(f.Ago(e.item.Arrived), 5)))
	}
	end := strings.Join(right, "  ")
	room := w - widget.Width(left) - widget.Width(end) - 2
	text, all := subjectOf(r)
	e.whole = all && widget.Width(text) <= room && (r.Prompt == nil || marked == len(r.Prompt.Marks))
	if room < 8 {
		end, room = "", w-widget.Width(left)
		e.whole = e.whole && widget.Width(text) <= room
	}
	if e.whole && r.Prompt != nil {
		f.Shows("ask "+strconv.Itoa(e.item.ID), e.text(), 0, 1)
	}
	drawn := style.Render(text)
	switch d := r.Prompt; {
	case d != nil && d.Kind == ask.Permission: // shown exactly
	case e.done.IsZero():
		drawn = widget.Spans(th, style, text)
	default:
		drawn = style.Render(widget.Unmarked(text))
	}
	if !e.done.IsZero() && widget.Width(string(e.end)) > 9 {
		key := ""
		if p.opts.Jump != nil {
			key = "J"
		}
		drawn = th.Text.Render(p.record(e.item.ID).Words(key)+" "+th.Glyph.Dot+" ") + drawn
	}
	return widget.Ends(left+widget.Cut(drawn, room), end, w)
}

// record is what is known of a request that no longer waits; of one that has none, that
// nobody asks any more.
func (p *Page) record(id int) *ask.Record {
	s := p.pending()
	if it, open := s.Item(id); open && it.State == ask.Sending {
		return &ask.Record{Delivery: ask.Sent}
	}
	if i := slices.IndexFunc(s.History, func(r ask.Record) bool { return r.ID == id }); i >= 0 {
		return &s.History[i]
	}
	return &ask.Record{Delivery: ask.Withdrawn}
}

// ended draws what became of a request: its sign, its word, and how its text is drawn, which
// is struck out only if something has shown that it was answered.
func ended(th *theme.Theme, end ask.End) (mark, word string, text theme.Style) {
	mark, text = th.Muted.Render(th.Glyph.Half), th.Faint
	switch end {
	case ask.EndAllowed, ask.EndAnswered:
		mark, text = th.Muted.Render(th.Glyph.OK), struck(th)
	case ask.EndDenied, ask.EndDeclined:
		mark, text = th.Muted.Render(th.Glyph.Fail), struck(th)
	case ask.EndElsewhere:
		mark, text = th.Muted.Render(th.Glyph.Right), struck(th)
	case ask.EndNotTaken:
		mark = th.Warn.Render(th.Glyph.Half)
	case ask.EndSent, ask.EndTimedOut, ask.EndGone:
	}
	word = string(end)
	if widget.Width(word) > 9 {
		word = "" // its words stand before the text
	}
	return mark, th.Muted.Render(widget.Fit(word, 9)), text
}

// struck draws what has been answered.
func struck(th *theme.Theme) theme.Style { return theme.NewStyle(th.Faint.Strikethrough(true)) }

// text is what a permission is about, in a row that holds all of it.
func (e *waitRow) text() *tui.Drawn {
	return tui.Draw([]string{sanitize.Exact(strings.TrimSuffix(e.item.Request.Prompt.Subject(), "\n"))})
}

// reads says what a key would decide: the row under the cursor.
func (p *Page) reads(f *tui.Frame) {
	if e := p.waitRowAt(); p.part == partWaiting && e != nil && e.done.IsZero() {
		f.Asks(tui.AskedItem(&e.item, p.digests.Of(p.pending(), &e.item), 0))
	}
}

// nextWaiting leaves a row that was answered for the next that waits: of the same asker, else
// another.
func (p *Page) nextWaiting() {
	e := p.waitRowAt()
	if e == nil || e.done.IsZero() {
		return
	}
	if e.more > 0 {
		e.left = true
		p.lay(time.Now())
		return
	}
	for d := range p.waitList {
		if i := (p.waits.Cursor + d) % len(p.waitList); p.waitList[i].done.IsZero() {
			p.waits.MoveTo(i)
			return
		}
	}
}

// whyNot says why a key cannot answer the row under the cursor.
func (p *Page) whyNot(key string) func() string {
	return func() string {
		e := p.waitRowAt()
		switch {
		case e == nil:
			return "nothing waits here"
		case !e.done.IsZero():
			return "already answered: j goes on"
		case e.item.Request.InTerminal():
			return "only its terminal can answer this"
		case !e.item.Request.Decides() || !e.whole:
			return "enter opens it: not all of it is on screen"
		case tui.Granted(e.item.Request.Prompt, key) < 0:
			return "the agent does not offer this"
		}
		return ""
	}
}

// answer gives the permission under the cursor, or denies it.
func (p *Page) answer(key string) func() tea.Cmd {
	return func() tea.Cmd {
		p.lay(time.Now())
		e := p.waitRowAt()
		if why := p.whyNot(key)(); why != "" {
			return tui.Toast(tui.Info, why)
		}
		if option := tui.Granted(e.item.Request.Prompt, key); e.item.Request.Prompt.Grants[option].Allow {
			if _, n := p.sight.Unseen("ask "+strconv.Itoa(e.item.ID), e.text()); n > 0 {
				return p.openEntry()
			}
		}
		d := e.item.Draft.Clone()
		d.Answers[0].Chosen = []int{tui.Granted(e.item.Request.Prompt, key)}
		p.opts.Questions.SetDraft(e.item.ID, d)
		if err := p.opts.Questions.Send(e.item.ID); err != nil {
			return tui.Toast(tui.Warn, err.Error())
		}
		p.lay(time.Now())
		return nil
	}
}

// openEntry opens the request under the cursor on the page of questions.
func (p *Page) openEntry() tea.Cmd { return p.openAt(false) }

// openAt is openEntry, with the cursor on what lasts if that is wanted and offered.
func (p *Page) openAt(lasting bool) tea.Cmd {
	e := p.waitRowAt()
	if e == nil {
		return nil
	}
	return p.show(p.opts.AskPage, tui.ShowQuestionMsg{ID: e.item.ID, Lasting: lasting && e.lasts()})
}

// lasts reports whether the agent offers an option that allows it for longer than once.
func (e *waitRow) lasts() bool {
	return e.done.IsZero() && !e.item.Request.InTerminal() && e.item.Request.Decides() && tui.Lasting(e.item.Request.Prompt) >= 0
}

func (p *Page) waitingActions() []tui.Action {
	none := func() string {
		switch {
		case p.opts.AskPage == "":
			return "this deck has no Ask page"
		case p.waitRowAt() == nil:
			return "nothing waits"
		case !p.waitRowAt().done.IsZero():
			return "it has its answer"
		}
		return ""
	}
	return []tui.Action{
		{ID: "deck.allow", Title: "Allow once what waits, if all of it is on screen", Hint: "allow once", Keys: []string{"y"}, Part: partWaiting, Acts: true, Sight: true, Enabled: p.whyNot("y"), Run: p.answer("y")},
		{ID: "deck.deny", Title: "Deny what waits, if all of it is on screen", Hint: "deny", Keys: []string{"n"}, Part: partWaiting, Acts: true, Sight: true, Enabled: p.whyNot("n"), Run: p.answer("n")},
		{ID: "deck.open", Title: "Open what waits", Hint: "open", Keys: []string{"enter"}, Part: partWaiting, Enabled: none, HintNow: func() string {
			if e := p.waitRowAt(); e != nil && e.item.Request.Prompt != nil && e.item.Request.Prompt.Command != "" {
				return "whole command"
			}
			return ""
		}, Run: p.openEntry},
		{ID: "deck.always", Title: "Open what waits at the options that last, with what exactly they allow", Hint: "answer", Keys: []string{"a"}, Part: partWaiting, Enabled: none, HintNow: func() string {
			if e := p.waitRowAt(); e != nil && e.lasts() {
				return "always…"
			}
			return ""
		}, Run: func() tea.Cmd { return p.openAt(true) }},
		{ID: "deck.jump", Title: "Go to the terminal of what waits, or was not taken", Keys: []string{"J"}, Part: partWaiting, Enabled: func() string {
			switch e := p.waitRowAt(); {
			case e == nil || e.item.Request.Prompt == nil:
				return "no agent's own prompt is here"
			case p.opts.Jump == nil:
				return "this deck cannot go to a terminal"
			}
			return ""
		}, Run: func() tea.Cmd {
			r := p.waitRowAt().item.Request
			return tui.Outcome(func() (string, error) { return p.opts.Jump(r) })
		}},
	}
}

// due is how many requests wait for the user, and snoozed how many come back later.
func (p *Page) due() (n, snoozed int) {
	for _, it := range p.pending().Items {
		switch {
		case it.Due():
			n++
		case it.Waits():
			snoozed++
		}
	}
	return n, snoozed
}

func (p *Page) snoozed(id int) bool {
	it, _ := p.pending().Item(id)
	return it.State == ask.Snoozed
}

// noneWait says that nothing waits in the deck, and how many sessions do in terminals of
// their own, whose prompts do not come here.
func (p *Page) noneWait() string {
	if _, snoozed := p.due(); snoozed > 0 {
		return "nothing waits, " + strconv.Itoa(snoozed) + " snoozed"
	}
	n := 0
	for _, w := range p.work {
		if w.session != nil && w.session.State.Waits() {
			n++
		}
	}
	switch n {
	case 0:
		return "nothing waits"
	case 1:
		return "nothing waits here, 1 in its own terminal"
	default:
		return "nothing waits here, " + strconv.Itoa(n) + " in their own terminals"
	}
}

// nothingWaits is the line that stands where those would that wait.
func (p *Page) nothingWaits(f *tui.Frame) string {
	s := p.noneWait()
	var last time.Time
	for _, r := range p.pending().History {
		if r.Reply.Status == ask.Answered && r.Ended.After(last) {
			last = r.Ended
		}
	}
	if !last.IsZero() {
		s += " " + f.Theme.Glyph.Dot + " last answer " + f.Since(last)
	}
	return " " + f.Theme.Muted.Render(s)
}
