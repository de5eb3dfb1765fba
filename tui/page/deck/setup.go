package deck

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
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
	// Snippet is the configuration that starts the deck's servers, in the form that most
	// clients read.
	Snippet() string
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

// clientsMsg is who was found here, and what connects all others.
type clientsMsg struct {
	found   []Client
	snippet string
}

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
	from := p.opts.Setup
	return func() tea.Msg { return clientsMsg{from.Clients(), from.Snippet()} }
}

// candidates are the clients that are here and not set up; the key begins with the
// first.
func (p *Page) candidates() []Client {
	return slices.DeleteFunc(slices.Clone(p.clients), func(c Client) bool { return c.SetUp })
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

// nextMsg is who was found here when the user asked for the next one to set up.
type nextMsg []Client

// setUpNext looks for clients anew, and shows what would be written for the first that is
// not set up.
func (p *Page) setUpNext() tea.Cmd {
	find := p.opts.Setup.Clients
	return func() tea.Msg { return nextMsg(find()) }
}

func (p *Page) setUpFirst(found nextMsg) tea.Cmd {
	p.clients = found
	if why := p.whyNoSetup(); why != "" {
		return tui.Toast(tui.Info, why)
	}
	return p.setUp(p.candidates()[0].Name)
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
		if c.Name != m.client && i < 9 {
			choices = append(choices, tui.Choice{Key: strconv.Itoa(i + 1), Text: "Set up " + c.Name + " instead", Run: func() tea.Cmd { return p.setUp(c.Name) }})
		}
	}
	return tui.Open(&tui.Confirm{
		Name: "setup", Title: "Set up " + sanitize.Line(m.client) + "?",
		Text:    m.change.Path + "\n\n" + strings.Join(lines, "\n"),
		Choices: append(choices, tui.Choice{Key: "n", Text: "Not now"}),
	})
}

func (p *Page) write(m planMsg) tea.Cmd {
	look := p.lookForClients()
	return tea.Sequence(tui.Outcome(func() (string, error) {
		return strings.TrimSpace("written; start " + m.client + ". " + m.change.Then + " mcpdeck undo takes it back."), m.change.Apply()
	}), look)
}

// snippetOf is the configuration that any client takes, on one line.
func snippetOf(text string) string { return strings.Join(strings.Fields(sanitize.Text(text)), " ") }

func (p *Page) whyNoSnippet() string {
	switch {
	case len(p.work) > 0:
		return "an agent is connected; see mcpdeck setup"
	case p.snippet == "":
		return "see mcpdeck setup"
	}
	return ""
}

// nobody is the pane of agents while there is none: the way to the first one, in steps.
func (p *Page) nobody(f *tui.Frame, w int) []string {
	th, roomy := f.Theme, f.H >= 20
	switch {
	case p.anyKnown(), slices.ContainsFunc(p.waitList, func(e waitRow) bool { return e.item.Request.Prompt != nil }):
		return []string{"  " + th.Faint.Render("Every agent is listed above.")}
	case len(p.waitList) > 0: // who asks is no agent, such as a shell
		return []string{"  " + th.Faint.Render("No agent is connected.")}
	}
	rows := []string{"  " + th.Strong.Render("Waiting for the first agent.")}
	air := func() {
		if roomy {
			rows = append(rows, "")
		}
	}
	n := 0
	step := func(key, text string) {
		n++
		head := "  " + th.Strong.Render(strconv.Itoa(n)) + "  "
		if key != "" {
			head += th.Key.Render(key) + " "
		}
		room := w - widget.Width(head) - 1
		for i, l := range widget.Wrap(text, room) {
			if i > 0 {
				head = widget.Blank(5)
			}
			rows = append(rows, head+th.Text.Render(l))
		}
	}
	air()
	todo := p.candidates()
	var ready []string
	for _, c := range p.clients {
		if c.SetUp {
			ready = append(ready, sanitize.Line(c.Name))
		}
	}
	start := func() {
		who := "the agent"
		if len(ready) > 0 {
			who = strings.Join(ready, " or ")
		}
		step("", "start "+who+" in your project")
	}
	if len(ready) > 0 {
		start()
	}
	switch {
	case len(todo) > 0:
		more := ""
		if len(todo) > 1 {
			var others []string
			for _, c := range todo[1:] {
				others = append(others, sanitize.Line(c.Name))
			}
			more = ", or " + strings.Join(others, ", ")
		}
		step("enter or s", "sets up "+sanitize.Line(todo[0].Name)+more)
		if path := sanitize.Line(todo[0].Path); path != "" && roomy {
			rows = append(rows, "     "+th.Faint.Render(widget.CutLeft(path, w-35)+", shown before it is written"))
		}
	case len(ready) == 0:
		step("mcpdeck setup", "connects an agent")
	}
	if len(ready) == 0 {
		start()
	}
	if p.snippet != "" && roomy {
		rows = append(rows, "", "  "+th.Key.Render("c")+th.Muted.Render(" copies the configuration for any other client"),
			"     "+th.Faint.Render(widget.Cut(snippetOf(p.snippet), w-6)))
	}
	for _, line := range f.Example() {
		if line != "" || roomy {
			rows = append(rows, "  "+line)
		}
	}
	air()
	return rows
}
