package deck

import (
	"cmp"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// worker is a row of those at work: a session of an agent's program, a connection to the
// deck, or both.
type worker struct {
	session *snapshot.Session
	agent   *snapshot.Agent
}

func (w worker) key() string {
	if w.session != nil {
		return w.session.Agent + "\x00" + w.session.ID
	}
	return w.agent.Agent
}

func (w worker) name() string {
	if w.session != nil {
		return sanitize.Line(w.session.Agent)
	}
	return sanitize.Line(w.agent.Name())
}

// busy reports whether the row is at work.
func (w worker) busy() bool {
	if w.session != nil {
		return w.session.State == snapshot.Working
	}
	return w.agent.Gone.IsZero() && len(w.agent.InFlight) > 0 && !w.agent.Waiting
}

// layWork makes a row of each session that does not wait for the user above; of each
// connection where no sessions are known. The cursor stays on its row.
func (p *Page) layWork() {
	at := ""
	if w := p.workerAt(); w != nil {
		at = w.key()
	}
	p.work = nil
	for i := range p.sessions {
		s := &p.sessions[i]
		if p.anyKnown() && s.State != snapshot.Ended && !p.waitsIn(s.Connection, s.Agent, s.ID) {
			p.work = append(p.work, worker{s, p.snap.Agent(s.Connection)})
		}
	}
	if len(p.sessions) == 0 {
		for i := range p.snap.Agents {
			if a := &p.snap.Agents[i]; !p.waitsIn(a.Agent, "", "") {
				p.work = append(p.work, worker{nil, a})
			}
		}
	}
	tui.Sort(p.work, sorts(), p.sort)
	p.agents.SetLen(len(p.work))
	if i := slices.IndexFunc(p.work, func(w worker) bool { return w.key() == at }); i >= 0 {
		p.agents.MoveTo(i)
	}
}

// anyKnown reports whether anything is connected, or known of a session. Programs that are
// not set up are no reason not to say how the first one is.
func (p *Page) anyKnown() bool {
	return len(p.snap.Agents) > 0 || slices.ContainsFunc(p.sessions, func(s snapshot.Session) bool { return s.State != snapshot.StateUnknown })
}

func (p *Page) workerAt() *worker { return widget.Selected(&p.agents, p.work) }

// workRow draws a row of those at work.
func (p *Page) workRow(f *tui.Frame, wk worker, w int) string {
	if wk.session == nil {
		return p.agentRow(f, wk.agent, w)
	}
	th, s := f.Theme, wk.session
	mark, style, word := tui.SessionMark(f, s)
	name := wk.name()
	left := style.Render(mark) + " " + th.Text.Render(widget.Fit(name, p.nameWidth(w))) + "  "
	if w >= 80 {
		left += th.Muted.Render(widget.Fit(folder(s.Folder), min(w/8, 12))) + "  "
	}
	what, subject := th.Text, tui.SessionSubject(s)
	if s.State != snapshot.Working && word != subject {
		n := len("unknown")
		switch {
		case w >= 80:
			n = len("connected")
		case len(word) > n: // the mark says enough
			word = ""
		}
		left += style.Render(widget.Fit(word, n)) + "  "
	}
	if s.State != snapshot.Working && !s.State.Waits() {
		what = th.Faint
	}
	right := ""
	for i, c := range p.workColumns(w) {
		if i > 0 {
			right += widget.Blank(gapW)
		}
		right += c.cell(f, wk)
	}
	room := w - widget.Width(left) - widget.Width(right) - gapW
	text := what.Render(widget.Cut(subject, room))
	if bar := p.progress(th, wk); bar != "" {
		if n := widget.Width(bar) + gapW; n+8 <= room { // cells of a name that say anything
			text = what.Render(widget.Cut(sanitize.Line(s.LastTool), room-n)) + widget.Blank(gapW) + bar
		}
	}
	return widget.Ends(left+text, right, w)
}

// progress is how far the call of a row is, as a bar; "" where that is not known.
func (p *Page) progress(th *theme.Theme, wk worker) string {
	if wk.agent == nil || wk.session.State != snapshot.Working {
		return ""
	}
	for _, c := range slices.Backward(p.snap.Calls) {
		if c.Agent == wk.agent.Agent && c.Status == snapshot.Running {
			return tui.Progress(th, &c)
		}
	}
	return ""
}

// gapW is the air between two columns.
const gapW = 2

// workColumn is a column at the end of the rows of those at work.
type workColumn struct {
	head string
	w    int
	cell func(f *tui.Frame, wk worker) string
}

// workColumns are those for which rows of w cells have room.
func (p *Page) workColumns(w int) []workColumn {
	right := func(f *tui.Frame, s string, w int) string { return f.Theme.Muted.Render(widget.PadLeft(s, w)) }
	age := workColumn{"", 5, func(f *tui.Frame, wk worker) string {
		if wk.session.Since.IsZero() {
			return widget.Blank(5)
		}
		return right(f, f.Ago(wk.session.Since), 5)
	}}
	if w < 90 {
		return []workColumn{age}
	}
	today := workColumn{"today", 8, func(f *tui.Frame, wk worker) string { return right(f, tui.Today(wk.session), 8) }}
	filled := workColumn{"context", 8, func(f *tui.Frame, wk worker) string {
		text := widget.PadLeft(tui.Filled(wk.session), 8)
		if c := wk.session.Context; c.Window > 0 && c.Used*10 >= c.Window*8 {
			return f.Theme.Warn.Render(text)
		}
		return f.Theme.Muted.Render(text)
	}}
	if w < 100 {
		return []workColumn{today, filled, age}
	}
	return []workColumn{{"calls", 5, p.sparkline}, today, filled, age}
}

// heads are the names of the columns at the end of a rule of w cells, each over the end of
// its column; "" where there are none.
func (p *Page) heads(f *tui.Frame, line theme.Style, glyph string, w int) string {
	th, out := f.Theme, ""
	for i, c := range p.workColumns(w) {
		style := th.Faint
		if c.head != "" && c.head == p.sort.By {
			style, c.head = th.Accent, p.sort.Arrow(th, true)+c.head
		}
		n := c.w - widget.Width(c.head)
		if i > 0 {
			out += " "
			n += gapW - 1
		}
		if c.head != "" && n > 0 {
			out += line.Render(widget.Repeat(glyph, n-1)) + " " + style.Render(c.head)
			continue
		}
		out += line.Render(widget.Repeat(glyph, n)) + style.Render(c.head)
	}
	if ansi.Strip(out) == widget.Repeat(glyph, widget.Width(out)) {
		return ""
	}
	return out
}

// sorts are the ways to sort the agents; as the list comes is by need.
func sorts() []tui.Sorting[worker] {
	most := func(of func(*snapshot.Session) float64) func(a, b worker) int {
		return func(a, b worker) int {
			if a.session == nil || b.session == nil {
				return 0
			}
			return cmp.Compare(of(b.session), of(a.session))
		}
	}
	full := func(s *snapshot.Session) float64 { return float64(s.Context.Used) / float64(max(s.Context.Window, 1)) }
	return []tui.Sorting[worker]{
		{Column: "agent", Means: "agent", Compare: func(a, b worker) int { return cmp.Compare(a.name(), b.name()) }},
		{Column: "today", Means: "what was spent today", Compare: most(func(s *snapshot.Session) float64 { return s.Cost.Today }), Down: true},
		{Column: "context", Means: "how full the context is", Compare: most(full), Down: true},
		{Means: "need", Down: true},
	}
}

// look is what the page keeps between runs.
type look struct {
	tui.Order
	Widgets map[string]string `json:",omitempty"` // what each keeps, by its name
}

// stateSavers are the widgets that keep something between runs.
func (p *Page) stateSavers() (all []StateSaver) {
	for _, w := range p.opts.Widgets {
		if k, ok := w.(StateSaver); ok {
			all = append(all, k)
		}
	}
	return all
}

// SaveState implements tui.StateSaver.
func (p *Page) SaveState() string {
	l := look{p.sort, map[string]string{}}
	for _, k := range p.stateSavers() {
		if kept := k.SaveState(); kept != "" {
			l.Widgets[k.Name()] = kept
		}
	}
	return tui.EncodeState(l)
}

// LoadState implements tui.StateSaver.
func (p *Page) LoadState(kept string) {
	var l look
	if !tui.DecodeState(kept, &l) {
		return
	}
	if tui.SortingBy(sorts(), l.By) != nil {
		p.sort = l.Order
	}
	for _, k := range p.stateSavers() {
		k.LoadState(l.Widgets[k.Name()])
	}
}

// sortBy puts the rows of those at work into the order of a column, the second time the
// other way around; "" is by need.
func (p *Page) sortBy(column string) tea.Cmd {
	p.sort.Sort(column)
	p.layWork()
	return nil
}

// workHeading counts those at work, if there are any.
func (p *Page) workHeading() (text string, some bool) {
	busy := 0
	for _, w := range p.work {
		if w.busy() {
			busy++
		}
	}
	switch n := strconv.Itoa(busy); {
	case busy == 0:
		return "Agents", false
	case len(p.work) > busy:
		return n + " of " + strconv.Itoa(len(p.work)) + " at work", true
	default:
		return n + " at work", true
	}
}
