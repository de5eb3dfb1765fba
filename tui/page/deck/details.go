package deck

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// restartWithin is how long a restart may take.
const restartWithin = 30 * time.Second

func (p *Page) server() *snapshot.Server { return widget.Selected(&p.servers, p.snap.Servers) }

func (p *Page) whyNoRestart(s *snapshot.Server) string {
	switch {
	case s == nil:
		return "there is no server"
	case p.opts.Host == nil:
		return "the servers run elsewhere"
	case s.State.Status == snapshot.Off:
		return sanitize.Line(s.Title) + " is off"
	}
	return ""
}

// confirmRestart asks whether to restart a server.
func (p *Page) confirmRestart(s *snapshot.Server) tea.Cmd {
	return tui.ConfirmRestart(s, p.snap.Calls, func() error {
		if s.Foreign && p.opts.Cards != nil {
			return p.opts.Cards.Restart(s.Name)
		}
		ctx, cancel := context.WithTimeout(context.Background(), restartWithin)
		defer cancel()
		return p.opts.Host.RestartServer(ctx, s.Name)
	})
}

// factW is how wide the names of facts are, with what stands between them and the facts.
const factW = 13

// facts draws names and values below each other; empty values are left out.
func facts(f *tui.Frame, w int, pairs ...string) []string {
	th := f.Theme
	var rows []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			continue
		}
		for j, line := range widget.Wrap(sanitize.Line(pairs[i+1]), w-factW) {
			name := ""
			if j == 0 {
				name = pairs[i]
			}
			rows = append(rows, th.Muted.Render(widget.Fit(name, factW))+line)
		}
	}
	return rows
}

// agent is the connection of the row under the cursor, nil if it has none.
func (p *Page) agent() *snapshot.Agent {
	if w := p.workerAt(); w != nil {
		return w.agent
	}
	return nil
}

func (p *Page) whyNoAgent() string {
	switch {
	case p.workerAt() == nil:
		return "no agent is connected"
	case p.agent() == nil:
		return "this agent is not connected to the deck"
	}
	return ""
}

func (p *Page) whyNoDetails() string {
	if p.workerAt() != nil && p.opts.AgentsPage != "" {
		return ""
	}
	return p.whyNoAgent()
}

// openAgent shows the session under the cursor on the page of sessions, and what is known
// of a connection without one here.
func (p *Page) openAgent() tea.Cmd {
	w := p.workerAt()
	if w != nil && w.session != nil && p.opts.AgentsPage != "" {
		return p.show(p.opts.AgentsPage, tui.ShowSessionMsg{Agent: w.session.Agent, ID: w.session.ID})
	}
	a := p.agent()
	if a == nil {
		return nil
	}
	id, last := a.Agent, *a
	return tui.Open(&tui.Reader{Name: "agent", Title: sanitize.Line(a.Name()), Rows: func(f *tui.Frame, w int) []string {
		for _, a := range p.snap.Agents {
			if a.Agent == id {
				last = a
			}
		}
		return p.agentFacts(f, &last, w)
	}})
}

func (p *Page) agentFacts(f *tui.Frame, a *snapshot.Agent, w int) []string {
	program := ""
	if a.Program != "" {
		program = a.Program + ", pid " + strconv.Itoa(a.PID)
	}
	claim := ""
	if a.Client != "" {
		claim = strings.TrimSpace(a.Client + " " + a.ClientVersion)
	}
	_, _, doing, age := p.doing(f, a)
	rows := []string{f.Theme.Muted.Render(widget.Fit("now", factW)) + doing + "  " + age}
	about := facts(f, w,
		"program", program,
		"claims to be", claim,
		"folder", a.Folder())
	return slices.Concat(rows, about, facts(f, w, tui.ConnectionFacts(f, p.snap, a)...), facts(f, w, "last", a.LastTool))
}

func (p *Page) whyNoAnswer() string {
	if p.opts.AskPage == "" {
		return "this deck has no Ask page"
	}
	if slices.ContainsFunc(p.waitList, func(e waitRow) bool { return e.done.IsZero() }) {
		return ""
	}
	for _, a := range p.snap.Agents {
		if a.Waiting {
			return ""
		}
	}
	for _, c := range p.snap.Calls { // mcpdeck call asks, too, and is no agent
		agent := func(a snapshot.Agent) bool { return a.Agent == c.Agent }
		if c.Waiting && c.Status == snapshot.Running && !slices.ContainsFunc(p.snap.Agents, agent) {
			return ""
		}
	}
	return "no agent is waiting for an answer"
}

// show shows another page, if there is one, and tells it what to show.
func (p *Page) show(page string, what tea.Msg) tea.Cmd {
	if page == "" {
		return nil
	}
	return tea.Sequence(tui.Go(page), func() tea.Msg { return what })
}

func (p *Page) filterCalls(text string) tea.Cmd {
	return p.show(p.opts.CallsPage, tui.FilterCallsMsg{Text: text})
}

func (p *Page) whyNoCall() string {
	switch {
	case p.opts.CallsPage == "":
		return "this deck has no Calls page"
	case p.calls.Len() == 0:
		return "no calls yet"
	}
	return ""
}

func (p *Page) openCall() tea.Cmd {
	if p.whyNoCall() != "" {
		return nil
	}
	c, early := p.call(p.calls.Cursor)
	return p.show(p.opts.CallsPage, tui.ShowCallMsg{ID: c.ID, Earlier: early})
}

func (p *Page) openWarnings() tea.Cmd {
	return tui.Open(&tui.Reader{Name: "warnings", Title: "Warnings", Rows: func(f *tui.Frame, w int) []string {
		th := f.Theme
		var rows []string
		for i := len(p.snap.Warnings) - 1; i >= 0; i-- {
			x := p.snap.Warnings[i]
			rows = append(rows, th.Warn.Render(sanitize.Line(x.From))+th.Faint.Render("  "+f.Since(x.Time)))
			for _, l := range widget.Wrap(sanitize.Line(x.Text), w-2) {
				rows = append(rows, "  "+l)
			}
		}
		return rows
	}})
}
