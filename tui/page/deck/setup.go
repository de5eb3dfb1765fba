package deck

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Setup writes the deck into the configuration of the clients on this machine. Its
// methods read files.
type Setup interface {
	// Clients are those that were found here.
	Clients() []Client
	// Plan says what would be written for one.
	Plan(client string) (Change, error)
}

// Client is a program that can be an agent.
type Client struct {
	Name  string // "claude"
	Path  string // of the file that has the deck, or would get it
	SetUp bool
}

// Change is what would be written into one file.
type Change struct {
	Path  string
	Lines []string     // the difference
	Apply func() error // writes it; nil: there is nothing to write
	Then  string       // what the user has to do beside it
}

// clientsMsg is who was found here.
type clientsMsg []Client

// planMsg is what would be written for a client.
type planMsg struct {
	client string
	change Change
}

// lookForClients is asked for while nobody is connected.
func (p *Page) lookForClients() tea.Cmd {
	if p.opts.Setup == nil || len(p.snap.Agents) > 0 {
		return nil
	}
	find := p.opts.Setup.Clients
	return func() tea.Msg { return clientsMsg(find()) }
}

// candidates are the clients that are here and not set up; the key begins with the
// first.
func (p *Page) candidates() []string {
	var out []string
	for _, c := range p.clients {
		if !c.SetUp {
			out = append(out, c.Name)
		}
	}
	return out
}

func (p *Page) whyNoSetup() string {
	switch {
	case p.opts.Setup == nil:
		return "this deck cannot set up agents; use mcpdeck setup"
	case len(p.clients) == 0:
		return "no agent was found on this machine"
	case len(p.candidates()) == 0:
		return "every agent found here is set up"
	}
	return ""
}

// setUp shows what would be written for a client, to be confirmed.
func (p *Page) setUp(client string) tea.Cmd {
	plan := p.opts.Setup.Plan
	return func() tea.Msg {
		change, err := plan(client)
		if err != nil {
			return tui.Toast(tui.Bad, err.Error())()
		}
		return planMsg{client, change}
	}
}

func (p *Page) confirmSetup(m planMsg) tea.Cmd {
	if m.change.Apply == nil {
		return tea.Batch(tui.Toast(tui.Info, m.client+" already has mcpdeck: "+m.change.Path), p.lookForClients())
	}
	const most = 12
	lines := m.change.Lines
	if n := len(lines) - most; n > 0 {
		lines = append(slices.Clone(lines[:most]), "… and "+strconv.Itoa(n)+" more lines")
	}
	choices := []tui.Choice{{Key: "y", Text: "Write it", Run: func() tea.Cmd { return p.write(m) }}}
	for i, c := range p.candidates() {
		if c != m.client && i < 9 {
			choices = append(choices, tui.Choice{Key: strconv.Itoa(i + 1), Text: "Set up " + c + " instead", Run: func() tea.Cmd { return p.setUp(c) }})
		}
	}
	return tui.Open(&tui.Confirm{
		Name: "setup", Title: "Set up " + plain.Line(m.client) + "?",
		Text:    m.change.Path + "\n\n" + strings.Join(lines, "\n"),
		Choices: append(choices, tui.Choice{Key: "n", Text: "Not now"}),
	})
}

func (p *Page) write(m planMsg) tea.Cmd {
	look := p.lookForClients()
	return tea.Sequence(tui.Outcome(func() (string, error) {
		return strings.TrimSpace("written; start " + m.client + ". " + m.change.Then), m.change.Apply()
	}), look)
}

// nobody is the pane of agents while there is none: the way to the first one.
func (p *Page) nobody(f *tui.Frame, w int) []string {
	th := f.Theme
	var rows []string
	add := func(s theme.Style, text string) {
		for _, l := range widget.Wrap(text, w-2) {
			rows = append(rows, "  "+s.Render(l))
		}
	}
	add(th.Muted, "No agent is connected yet.")
	todo := p.candidates()
	var ready []string
	for _, c := range p.clients {
		if c.SetUp {
			ready = append(ready, c.Name)
		}
	}
	if len(ready) > 0 {
		add(th.Muted, "Set up: "+plain.Line(strings.Join(ready, ", "))+". Start one in your project.")
	}
	if len(todo) > 0 {
		more := ""
		if len(todo) > 1 {
			more = " (also here: " + plain.Line(strings.Join(todo[1:], ", ")) + ")"
		}
		rows = append(rows, "", "  "+th.Key.Render("enter")+th.Strong.Render(widget.Cut("  sets up "+plain.Line(todo[0])+more, w-8)))
	}
	if len(p.clients) == 0 {
		rows = append(rows, "",
			"  "+th.Key.Render("mcpdeck setup")+th.Faint.Render("  connects an agent"),
			"  "+th.Key.Render("mcpdeck mcp")+th.Faint.Render("    is the command it runs"))
	}
	return rows
}
