package deck

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// restartWithin is how long a restart may take.
const restartWithin = 30 * time.Second

func (p *Page) server() *deck.Server {
	if i := p.servers.Cursor; i >= 0 && i < len(p.snap.Servers) {
		return &p.snap.Servers[i]
	}
	return nil
}

// named is the server of that name, nil when there is none.
func (p *Page) named(name string) *deck.Server {
	if i := slices.IndexFunc(p.snap.Servers, func(s deck.Server) bool { return s.Name == name }); i >= 0 {
		return &p.snap.Servers[i]
	}
	return nil
}

func (p *Page) whyNoRestart(s *deck.Server) string {
	switch {
	case s == nil:
		return "there is no server"
	case p.opts.Host == nil:
		return "the servers run elsewhere"
	case s.State.Status == deck.Off:
		return plain.Line(s.Title) + " is off"
	}
	return ""
}

func (p *Page) confirmRestart(name string) tea.Cmd {
	title := plain.Line(p.named(name).Title)
	running := 0
	for _, c := range p.snap.Calls {
		if c.Server == name && c.Status == deck.Running {
			running++
		}
	}
	text := "Agents keep their connection."
	switch {
	case running == 1:
		text = "1 running call will fail. " + text
	case running > 1:
		text = strconv.Itoa(running) + " running calls will fail. " + text
	}
	return tui.Open(&tui.Confirm{
		Name: "restart", Title: "Restart " + title + "?", Text: text,
		Choices: []tui.Choice{
			{Key: "y", Text: "Restart", Run: func() tea.Cmd { return p.restart(name, title) }},
			{Key: "n", Text: "Leave it"},
		},
	})
}

func (p *Page) restart(name, title string) tea.Cmd {
	restart := func() error {
		ctx, cancel := context.WithTimeout(context.Background(), restartWithin)
		defer cancel()
		return p.opts.Host.RestartModule(ctx, name)
	}
	if s := p.named(name); s != nil && s.Foreign && p.opts.Cards != nil {
		restart = func() error { return p.opts.Cards.Restart(name) }
	}
	return tui.Outcome(func() (string, error) { return title + " was restarted", restart() })
}

// facts draws names and values below each other; empty values are left out.
func facts(f *tui.Frame, w int, pairs ...string) []string {
	th := f.Theme
	var rows []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			continue
		}
		for j, line := range widget.Wrap(plain.Line(pairs[i+1]), w-12) {
			name := ""
			if j == 0 {
				name = pairs[i]
			}
			rows = append(rows, th.Muted.Render(widget.Fit(name, 12))+line)
		}
	}
	return rows
}

// agent is the connection of the row under the cursor, nil if it has none.
func (p *Page) agent() *deck.Agent {
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

func (p *Page) openAgent() tea.Cmd {
	a := p.agent()
	switch {
	case a == nil && p.workerAt() != nil && p.opts.AgentsPage != "":
		return tui.Go(p.opts.AgentsPage)
	case a == nil:
		return nil
	}
	id, last := a.Agent, *a
	return tui.Open(&tui.Reader{Name: "agent", Title: plain.Line(a.Name()), Rows: func(f *tui.Frame, w int) []string {
		for _, a := range p.snap.Agents {
			if a.Agent == id {
				last = a
			}
		}
		return p.agentFacts(f, &last, w)
	}})
}

func (p *Page) agentFacts(f *tui.Frame, a *deck.Agent, w int) []string {
	program := ""
	if a.Program != "" {
		program = a.Program + ", pid " + strconv.Itoa(a.PID)
	}
	claim := ""
	if a.Client != "" {
		claim = strings.TrimSpace(a.Client + " " + a.ClientVersion)
	}
	_, _, doing, age := p.doing(f, a)
	rows := []string{f.Theme.Muted.Render(widget.Fit("now", 12)) + doing + "  " + age}
	errors := ""
	if a.Errors > 0 {
		errors = ", " + strconv.FormatUint(a.Errors, 10) + " failed"
	}
	stale := ""
	switch {
	case a.Stale && a.Gateway:
		stale = "it does not refresh its list of tools; it uses new ones through the gateway tool"
	case a.Stale:
		stale = "it does not refresh its list of tools; turn Pencil on before it starts, or connect it with mcpdeck mcp --gateway"
	}
	return append(rows, facts(f, w,
		"old tools", stale,
		"program", program,
		"claims to be", claim,
		"folder", a.Folder(),
		"no project", refused(a),
		"through", through(a.Transport),
		"protocol", a.Protocol,
		"servers", cmp.Or(strings.Join(a.View, ", "), "all"),
		"profile", a.Profile,
		"context", p.context(a),
		"connected", f.Since(a.Since),
		"calls", strconv.FormatUint(a.Calls, 10)+errors,
		"last", a.LastTool)...)
}

// context is what the servers in an agent's view take of it.
func (p *Page) context(a *deck.Agent) string {
	bytes := 0
	for i := range p.snap.Servers {
		if s := &p.snap.Servers[i]; a.Sees(s.Name) {
			bytes += s.Context
		}
	}
	return tui.Cost(bytes)
}

// refused is why an agent has no project although it works in a folder.
func refused(a *deck.Agent) string {
	if a.Refused == nil {
		return ""
	}
	return a.Refused.Error() + "; start the agent in a project's folder"
}

// through is the way an agent reaches the deck, in words.
func through(transport string) string {
	switch transport {
	case "unix":
		return "mcpdeck mcp, the socket"
	case "http":
		return "HTTP"
	}
	return transport
}

func (p *Page) whyNoAnswer() string {
	if p.opts.AskPage == "" {
		return "this deck has no Ask page"
	}
	if len(p.ledger) > 0 {
		return ""
	}
	for _, a := range p.snap.Agents {
		if a.Waiting {
			return ""
		}
	}
	for _, c := range p.snap.Calls { // mcpdeck call asks, too, and is no agent
		agent := func(a deck.Agent) bool { return a.Agent == c.Agent }
		if c.Waiting && c.Status == deck.Running && !slices.ContainsFunc(p.snap.Agents, agent) {
			return ""
		}
	}
	return "no agent is waiting for an answer"
}

func (p *Page) filterCalls(text string) tea.Cmd {
	if p.opts.CallsPage == "" {
		return nil
	}
	return tea.Sequence(tui.Go(p.opts.CallsPage), func() tea.Msg { return tui.FilterCallsMsg{Text: text} })
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
	msg := tui.ShowCallMsg{ID: c.ID, Earlier: early}
	return tea.Sequence(tui.Go(p.opts.CallsPage), func() tea.Msg { return msg })
}

func (p *Page) openWarnings() tea.Cmd {
	return tui.Open(&tui.Reader{Name: "warnings", Title: "Warnings", Rows: func(f *tui.Frame, w int) []string {
		th := f.Theme
		var rows []string
		for i := len(p.snap.Warnings) - 1; i >= 0; i-- {
			x := p.snap.Warnings[i]
			rows = append(rows, th.Warn.Render(plain.Line(x.From))+th.Faint.Render("  "+f.Since(x.Time)))
			for _, l := range widget.Wrap(plain.Line(x.Text), w-2) {
				rows = append(rows, "  "+l)
			}
		}
		return rows
	}})
}
