package deck

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// worker is a row of those at work: a session of an agent's program, a connection to the
// deck, or both.
type worker struct {
	session *deck.Session
	agent   *deck.Agent
}

func (w worker) key() string {
	if w.session != nil {
		return w.session.Agent + "\x00" + w.session.ID
	}
	return w.agent.Agent
}

func (w worker) name() string {
	if w.session != nil {
		return plain.Line(w.session.Agent)
	}
	return plain.Line(w.agent.Name())
}

// busy tells whether the row is at work.
func (w worker) busy() bool {
	if w.session != nil {
		return w.session.State == deck.Working
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
		if p.anyKnown() && s.State != deck.Ended && !p.waitsIn(s.Connection, s.Agent, s.ID) {
			p.work = append(p.work, worker{s, p.connection(s.Connection)})
		}
	}
	if len(p.sessions) == 0 {
		for i := range p.snap.Agents {
			if a := &p.snap.Agents[i]; !p.waitsIn(a.Agent, "", "") {
				p.work = append(p.work, worker{nil, a})
			}
		}
	}
	p.agents.SetLen(len(p.work))
	if i := slices.IndexFunc(p.work, func(w worker) bool { return w.key() == at }); i >= 0 {
		p.agents.MoveTo(i)
	}
}

// anyKnown tells whether anything is connected, or known of a session. Programs that are
// not set up are no reason not to say how the first one is.
func (p *Page) anyKnown() bool {
	return len(p.snap.Agents) > 0 || slices.ContainsFunc(p.sessions, func(s deck.Session) bool { return s.State != deck.StateUnknown })
}

// connection is the agent with that ID, nil if there is none.
func (p *Page) connection(id string) *deck.Agent {
	if i := slices.IndexFunc(p.snap.Agents, func(a deck.Agent) bool { return a.Agent == id }); i >= 0 && id != "" {
		return &p.snap.Agents[i]
	}
	return nil
}

func (p *Page) workerAt() *worker {
	if i := p.agents.Cursor; i >= 0 && i < len(p.work) {
		return &p.work[i]
	}
	return nil
}

// workRow draws a row of those at work.
func (p *Page) workRow(f *tui.Frame, wk worker, w int) string {
	if wk.session == nil {
		return p.agentRow(f, wk.agent, w)
	}
	th, s := f.Theme, wk.session
	mark, style, word := tui.SessionMark(th, s)
	name := wk.name()
	left := style.Render(mark) + " " + th.Hue(name).Render(widget.Fit(name, p.nameWidth(w))) + "  "
	if w >= 50 {
		left += th.Muted.Render(widget.Fit(folder(s.Folder), min(w/6, 16))) + "  "
	}
	what, subject := th.Text, tui.SessionSubject(s)
	if s.State != deck.Working && word != subject {
		left += style.Render(word) + "  "
	}
	if s.State != deck.Working && !s.State.Waits() {
		what = th.Faint
	}
	var right []string
	if w >= 90 {
		right = append(right, th.Muted.Render(padLeft(tui.Dollars(s), 8)), th.Muted.Render(padLeft(tui.Filled(s), 5)))
	}
	if !s.Since.IsZero() {
		right = append(right, th.Muted.Render(padLeft(f.Ago(s.Since), 5)))
	}
	return widget.Ends(left+what.Render(subject), strings.Join(right, "  "), w)
}

// workHeading counts those at work.
func (p *Page) workHeading() (title, note string) {
	busy := 0
	for _, w := range p.work {
		if w.busy() {
			busy++
		}
	}
	if busy == 0 {
		return "Agents", ""
	}
	if n := len(p.work); n > busy {
		note = strconv.Itoa(n) + " agents"
	}
	return strconv.Itoa(busy) + " at work", note
}
