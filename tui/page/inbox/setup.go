package inbox

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// welcome is the first start: the way to the first agent, in three steps.
type welcome struct {
	from    tui.Setup // nil: nobody is connected here
	clients []tui.SetupClient
	off     map[string]bool // that are not to be set up
	snippet string          // what connects any other
	at      int
}

// welcomeMsg is who was found here, or what would be written for some of them.
type welcomeMsg struct {
	found   []tui.SetupClient
	snippet string
	plan    *tui.SetupPlan
}

// look finds the clients on this machine, unless somebody is there.
func (w *welcome) look(known bool) tea.Cmd {
	if w.from == nil || known {
		return nil
	}
	from := w.from
	return func() tea.Msg { return welcomeMsg{found: from.Clients(), snippet: from.Snippet()} }
}

func (w *welcome) take(m welcomeMsg) tea.Cmd {
	switch again := w.look(false); {
	case m.plan == nil:
		w.clients, w.snippet = m.found, m.snippet
		w.at = min(w.at, max(len(w.clients)-1, 0))
		return nil
	case len(m.plan.Files) == 0:
		why := append(slices.Clone(m.plan.Remarks), "every agent that is ticked already has mcpdeck")
		return tea.Batch(tui.Toast(tui.Info, why[0]), again)
	default:
		return tui.Open(&tui.Sure{
			Name: "setup", ItemID: "setup", Title: m.plan.Question, Give: "apply",
			Rows: func(th *theme.Theme, w int) []string { return planRows(m.plan, th, w) },
			Run:  func() tea.Cmd { return tea.Sequence(apply(m.plan), again) },
		})
	}
}

// planRows are what becomes of each file.
func planRows(p *tui.SetupPlan, th *theme.Theme, w int) []string {
	var rows []string
	add := func(indent int, style theme.Style, text string) {
		for _, l := range widget.Wrap(sanitize.Exact(text), w-indent) {
			rows = append(rows, widget.Blank(indent)+style.Render(strings.TrimRight(l, " ")))
		}
	}
	for _, f := range p.Files {
		add(0, th.Strong, f.Path)
		for _, does := range f.Does {
			add(2, th.Text, does)
		}
		for _, l := range f.Lines {
			style := th.Faint
			switch l[:min(1, len(l))] {
			case "+":
				style = th.Good
			case "-":
				style = th.Bad
			}
			add(4, style, l)
		}
	}
	for _, r := range p.Remarks {
		add(0, th.Muted, r)
	}
	return rows
}

// apply changes all files, or none.
func apply(p *tui.SetupPlan) tea.Cmd {
	return tui.Outcome(func() (string, error) {
		done, err := p.Apply()
		if err != nil {
			return "", err
		}
		return strings.Join(append([]string{"written; mcpdeck undo takes it back."}, done.Then...), " "), nil
	})
}

// ticked are the clients that are to be set up.
func (w *welcome) ticked() (names []string) {
	for _, c := range w.clients {
		if !c.SetUp && !w.off[c.Name] {
			names = append(names, c.Name)
		}
	}
	return names
}

// plan shows what would be written.
func (w *welcome) plan() tea.Cmd {
	from, names := w.from, w.ticked()
	return func() tea.Msg {
		plan, err := from.Plan(names)
		if err != nil {
			return tui.Toast(tui.Bad, err.Error())()
		}
		return welcomeMsg{plan: &plan}
	}
}

func (w *welcome) tick() {
	if w.at < len(w.clients) {
		if w.off == nil {
			w.off = map[string]bool{}
		}
		name := w.clients[w.at].Name
		w.off[name] = !w.off[name]
	}
}

func (w *welcome) actions() []tui.Action {
	none := func() string { return tui.Because(len(w.ticked()) == 0, "no agent is ticked") }
	move := func(d int) func() tea.Cmd {
		return tui.Do(func() { w.at = max(min(w.at+d, len(w.clients)-1), 0) })
	}
	return []tui.Action{
		{ID: "inbox.setup", Title: "Show what is written to connect the agents that are ticked", Hint: "open", Keys: []string{"enter"}, Part: partWelcome, Acts: true, Enabled: none, Run: w.plan},
		{ID: "inbox.setup.tick", Title: "Tick or untick an agent", Hint: "on/off", Keys: []string{"space"}, Part: partWelcome, Enabled: func() string { return tui.Because(len(w.clients) == 0, "no agent was found on this machine") }, Run: tui.Do(w.tick)},
		{ID: "inbox.setup.copy", Title: "Copy the configuration for any other client", Hint: "copy", Keys: []string{"c"}, Part: partWelcome, Enabled: func() string { return tui.Because(w.snippet == "", "see mcpdeck setup") }, Run: func() tea.Cmd {
			return tui.Copy(w.snippet, "the configuration; put it where your client keeps its MCP servers")
		}},
		{ID: "inbox.setup.up", Title: "Up", Moves: true, Keys: []string{"up", "k"}, Part: partWelcome, Hidden: true, Run: move(-1)},
		{ID: "inbox.setup.down", Title: "Down", Moves: true, Keys: []string{"down", "j"}, Part: partWelcome, Hidden: true, Run: move(1)},
	}
}

// render draws the steps.
func (w *welcome) render(f *tui.Frame) []string {
	th := f.Theme
	roomy := f.H >= 18
	rows := []string{widget.Heading(th, "Welcome: three steps", "", f.Focus, f.W)}
	air := func() {
		if roomy {
			rows = append(rows, "")
		}
	}
	step := func(n, text, more string) {
		row := " " + th.Strong.Render(n) + "  "
		rows = append(rows, widget.Cut(row+th.Text.Render(text)+more, f.W))
	}
	say := func(lead, text string) {
		for i, l := range widget.Wrap(text, max(f.W-widget.Width(lead)-1, 8)) {
			if i > 0 {
				lead = widget.Blank(widget.Width(lead))
			}
			rows = append(rows, lead+th.Muted.Render(l))
		}
	}
	air()
	name := 0
	for _, c := range w.clients {
		name = max(name, widget.Width(sanitize.Line(c.Name)))
	}
	switch {
	case len(w.clients) > 0:
		step("1", "Connect the agents found on this computer", "")
	default:
		step("1", "Connect an agent: run mcpdeck setup", "")
	}
	for i, c := range w.clients {
		mark := th.Glyph.Check
		switch {
		case c.SetUp:
			mark = th.Good.Render(" " + th.Glyph.OK + " ")
		case w.off[c.Name]:
			mark = th.Glyph.Uncheck
		}
		path := sanitize.Exact(strings.Join(c.Files, ", "))
		row := mark + " " + th.Text.Render(widget.Fit(sanitize.Line(c.Name), name)) + "  "
		row += th.Muted.Render(widget.CutLeft(path, max(f.W-6-widget.Width(row), 4)))
		if i == w.at && f.Focus {
			rows = append(rows, "    "+th.Selected.Over(th.Key.Render(th.Glyph.Cursor)+row))
		} else {
			rows = append(rows, "     "+row)
		}
	}
	if len(w.ticked()) > 0 {
		say("    ", "enter shows every change first, then asks. mcpdeck undo puts it all back.")
	}
	air()
	wait := "   " + th.Accent.Render(f.Spin()) + th.Muted.Render(" waiting for the first one")
	if f.W < 78 {
		wait = ""
	}
	step("2", "Start an agent as always. It appears here.", wait)
	air()
	step("3", "Tell it: ", th.Info.Render("ask me with the ask tool which database to use"))
	air()
	for _, l := range f.Example() {
		if l != "" {
			rows = append(rows, " "+l)
		}
	}
	if w.snippet != "" {
		say(" Another client?  ", "c copies the entry: "+strings.Join(strings.Fields(sanitize.Text(w.snippet)), " "))
	}
	return widget.Rows(rows, f.W, f.H)
}

// newcomer reports whether nobody has come yet, and nothing was ever asked.
func (p *Page) newcomer() bool {
	return len(p.list.rows) == 0 && len(p.snap.History) == 0 && len(p.deck.Agents) == 0 &&
		!slices.ContainsFunc(p.all, func(s snapshot.Session) bool { return s.State != snapshot.StateUnknown })
}
