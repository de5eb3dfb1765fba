package inbox

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/verb"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// welcome is the first start: the way to the first answer, in three steps.
type welcome struct {
	from    tui.Setup // nil: nobody is connected here
	clients []tui.SetupClient
	off     map[string]bool // that are not to be set up
	snippet string          // what connects any other
	at      int
	scroll  widget.Scroll // over the clients

	begun     bool      // nobody had come, and nothing was ever asked
	connected bool      // a client is set up, or an agent is connected
	seen      string    // the first agent; "" before it came
	answered  bool      // something, and that ends the steps
	shown     time.Time // when that was first drawn
}

// endsFor is how long the steps stay when all are done.
const endsFor = 10 * time.Second

// welcomeMsg is who was found here, or what would be written for some of them.
type welcomeMsg struct {
	found   []tui.SetupClient
	snippet string
	plan    *tui.SetupPlan
}

// look finds the clients on this machine, unless that is known and somebody is there.
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
		why := append(slices.Clone(m.plan.Remarks), "every agent already has mcpdeck, and its prompts come here")
		return tea.Batch(tui.Toast(tui.Info, why[0]), again)
	default:
		return tui.Open(&tui.Sure{
			Name: "setup", ItemID: "setup", Title: m.plan.Question, Give: "apply",
			Rows: func(th *theme.Theme, w int) []string { return planRows(m.plan, th, w) },
			Run:  func() tea.Cmd { return tea.Sequence(apply(m.plan), again) },
		})
	}
}

// planRows are what becomes of each file: first what that is for, a file below the other, and then
// every line.
func planRows(p *tui.SetupPlan, th *theme.Theme, w int) []string {
	var rows []string
	add := func(indent int, style theme.Style, text string) {
		for _, l := range widget.Wrap(sanitize.Exact(text), w-indent) {
			rows = append(rows, widget.Blank(indent)+style.Render(strings.TrimRight(l, " ")))
		}
	}
	for _, f := range p.Files {
		added := 0
		for _, l := range f.Lines {
			if strings.HasPrefix(l, "+") {
				added++
			}
		}
		add(0, th.Strong, f.Path+"  +"+strconv.Itoa(added))
		for _, does := range f.Does {
			add(2, th.Text, does)
		}
	}
	for _, r := range p.Remarks {
		add(0, th.Muted, r)
	}
	rows = append(rows, "")
	for _, f := range p.Files {
		if len(f.Lines) > 0 {
			add(0, th.Strong, f.Path)
		}
		for _, l := range f.Lines {
			style := th.Faint
			switch l[:min(1, len(l))] {
			case "+":
				style = th.Good
			case "-":
				style = th.Bad
			}
			add(0, style, l)
		}
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
		return strings.Join(append([]string{"written; mcpdeck undo reverts it."}, done.Then...), " "), nil
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

// prompts shows what brings the prompts of agents' own programs here.
func (w *welcome) prompts() tea.Cmd {
	from := w.from
	return func() tea.Msg {
		var names []string
		for _, c := range from.Clients() {
			if !c.SetUp {
				names = append(names, c.Name)
			}
		}
		return planned(from, names)
	}
}

// plan shows what would be written.
func (w *welcome) plan() tea.Cmd {
	from, names := w.from, w.ticked()
	return func() tea.Msg { return planned(from, names) }
}

func planned(from tui.Setup, names []string) tea.Msg {
	plan, err := from.Plan(names)
	if err != nil {
		return tui.Toast(tui.Bad, err.Error())()
	}
	return welcomeMsg{plan: &plan}
}

// allSetUp reports whether there is nothing to tick.
func (w *welcome) allSetUp() bool {
	return !slices.ContainsFunc(w.clients, func(c tui.SetupClient) bool { return !c.SetUp })
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
	all := func() string {
		return cmp.Or(tui.Because(len(w.clients) == 0, "no agent was found on this machine"), tui.Because(w.allSetUp(), "every agent found here is connected"))
	}
	none := func() string { return cmp.Or(all(), tui.Because(len(w.ticked()) == 0, "no agent is ticked")) }
	move := func(d int) func() tea.Cmd {
		return tui.Do(func() { w.at = max(min(w.at+d, len(w.clients)-1), 0) })
	}
	return []tui.Action{
		{ID: "inbox.setup", Title: "Show the changes that connect the ticked agents", Hint: "open", Verb: verb.Open, Part: partWelcome, Acts: true, Enabled: none, Run: w.plan},
		{ID: "inbox.setup.tick", Title: "Tick or untick an agent", Hint: "on/off", Verb: verb.Mark, Part: partWelcome, Enabled: all, Run: tui.Do(w.tick)},
		{ID: "inbox.setup.copy", Title: "Copy the configuration for any other client", Hint: "copy", Verb: verb.Copy, Part: partWelcome, Enabled: func() string { return tui.Because(w.snippet == "", "see mcpdeck setup") }, Run: func() tea.Cmd {
			return tui.Copy(w.snippet, "the configuration; put it where your client keeps its MCP servers")
		}},
		{ID: "inbox.setup.prompts", Title: "Set up the prompts of agents' programs: show what brings them here", Acts: true, Enabled: func() string { return tui.Because(w.from == nil, "see mcpdeck setup") }, Run: w.prompts},
		{ID: "inbox.setup.up", Title: "Up", Moves: true, Verb: verb.Up, Part: partWelcome, Hidden: true, Run: move(-1)},
		{ID: "inbox.setup.down", Title: "Down", Moves: true, Verb: verb.Down, Part: partWelcome, Hidden: true, Run: move(1)},
	}
}

// render draws the steps where nothing else is there yet. All three are there at every size; the
// clients have the room that is left.
func (w *welcome) render(f *tui.Frame) []string {
	th := f.Theme
	var air []string
	if f.H >= 18 {
		air = []string{""}
	}
	say := func(lead, text string) (rows []string) {
		for _, l := range widget.Wrap(text, max(f.W-widget.Width(lead)-1, 8)) {
			rows = append(rows, lead+th.Muted.Render(l))
			lead = widget.Blank(widget.Width(lead))
		}
		return rows
	}
	steps := w.steps(th, f.W)
	rows := slices.Concat([]string{widget.Heading(th, "Welcome: three steps", "", f.Focus, f.W)}, air, steps[0])
	rest := slices.Concat(air, steps[1], air, steps[2])
	found, room := w.clientRows(th, f.W, f.Focus), f.H-len(rows)-len(rest)
	hint := say("    ", "enter shows every change first, then asks. mcpdeck undo puts it all back.")
	w.scroll.Show(w.at)
	rows = append(rows, w.scroll.Render(th, found, f.W, min(len(found), max(room, 1)))...)
	if len(w.ticked()) > 0 && len(found)+len(hint) <= room {
		rows = append(rows, hint...)
	}
	rows = slices.Concat(rows, rest, air)
	if demo := f.Demo(); demo != "" {
		rows = append(rows, say(" Only looking?    ", demo+" plays for a minute with stand-in agents, writes nothing")...)
	}
	if w.snippet != "" {
		rows = append(rows, say(" Another client?  ", "c copies the entry: "+shortly(w.snippet))...)
	}
	return widget.Rows(rows, f.W, f.H)
}

// clientRows are the clients that were found, with what is ticked.
func (w *welcome) clientRows(th *theme.Theme, width int, focus bool) (rows []string) {
	name := 0
	for _, c := range w.clients {
		name = max(name, widget.Width(sanitize.Line(c.Name)))
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
		row += th.Muted.Render(widget.CutLeft(path, max(width-6-widget.Width(row), 4)))
		if i == w.at && focus && !w.allSetUp() {
			rows = append(rows, "    "+th.Selected.Over(th.Key.Render(th.Glyph.Cursor)+row))
		} else {
			rows = append(rows, "     "+row)
		}
	}
	return rows
}

// steps are the rows of the three, in width cells, with a tick where one is done.
func (w *welcome) steps(th *theme.Theme, width int) (steps [3][]string) {
	const tell = "Tell it: "
	texts := [...]string{"Connect the agents on this machine", "Start an agent as always. It appears here.", tell + "ask me with the ask tool which database to use"}
	switch {
	case w.from == nil:
		texts[0] = "Connect an agent: run mcpdeck setup"
	case len(w.clients) == 0:
		texts[0] = "Install an agent, then run mcpdeck setup"
	}
	came := th.Muted.Render(w.seen)
	if w.seen == "" {
		came = th.Faint.Render(th.Glyph.Off) + th.Muted.Render(" waiting for the first one")
	}
	for i, done := range []bool{w.connected, w.seen != "", w.answered} {
		lead := " " + th.Strong.Render(strconv.Itoa(i+1)) + "  "
		if done {
			lead = " " + th.Good.Render(th.Glyph.OK) + "  "
		}
		for _, l := range widget.Wrap(texts[i], max(width-5, 8)) {
			row, said := th.Text.Render(l), strings.TrimPrefix(l, tell)
			if i == 2 {
				row = th.Text.Render(l[:len(l)-len(said)]) + th.Info.Render(said)
			}
			steps[i] = append(steps[i], lead+row)
			lead = widget.Blank(widget.Width(lead))
		}
	}
	if row := steps[1][len(steps[1])-1] + "   " + came; widget.Width(row) < width {
		steps[1][len(steps[1])-1] = row
	}
	return steps
}

// beside draws the steps in w cells beside what is there already, and for a while what ends
// them; none where there are none.
func (w *welcome) beside(f *tui.Frame, width int) []string {
	if !w.begun {
		return nil
	}
	title := "Welcome: three steps"
	if w.answered {
		if w.shown.IsZero() {
			w.shown = f.Now
		}
		left := endsFor - f.Now.Sub(w.shown)
		if left <= 0 {
			w.begun = false
			return nil
		}
		f.RedrawAfter(left)
		title = "That is all. ? for keys"
	}
	rows := []string{widget.Heading(f.Theme, title, "", false, width)}
	for _, step := range w.steps(f.Theme, width) {
		for _, row := range step {
			rows = append(rows, widget.Fit(row, width))
		}
	}
	return rows
}

// shortly is a client's configuration as it is said in a row: its command and arguments.
func shortly(snippet string) string {
	var file struct {
		Servers map[string]struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
		} `json:"mcpServers"`
	}
	out := strings.Join(strings.Fields(snippet), " ")
	if json.Unmarshal([]byte(snippet), &file) == nil && len(file.Servers) == 1 {
		for _, s := range file.Servers {
			if args, err := json.Marshal(s.Args); err == nil {
				out = fmt.Sprintf("command %q, args %s", s.Command, args)
			}
		}
	}
	return sanitize.Text(out)
}

// follow begins the steps where nobody has come yet and nothing was ever asked, and ticks those
// that are done; what was done once stays so.
func (w *welcome) follow(p *Page) {
	w.begun = w.begun || w.from != nil && untouched(p)
	if !w.begun {
		return
	}
	known := slices.IndexFunc(p.all, came)
	switch agents, asked := p.deck.Agents, p.snap.Items; {
	case w.seen != "":
	case known >= 0:
		w.seen = sanitize.Line(p.all[known].Agent)
	case len(agents) > 0:
		w.seen = sanitize.Line(cmp.Or(agents[0].Program, agents[0].Client))
	case len(asked) > 0:
		w.seen = sanitize.Line(asked[0].Request.Client())
	}
	w.connected = w.connected || len(p.deck.Agents) > 0 || len(p.snap.Items) > 0 || slices.ContainsFunc(w.clients, func(c tui.SetupClient) bool { return c.SetUp })
	w.answered = w.answered || slices.ContainsFunc(p.snap.History, func(r questions.Record) bool { return r.Reply.Status == questions.Answered })
}

// apart reports whether a session's program is connected, and its prompts stay in its terminal.
func (w *welcome) apart(s *snapshot.Session) bool {
	return s.Connection != "" && slices.ContainsFunc(w.clients, func(c tui.SetupClient) bool { return c.Name == s.Agent && c.Apart })
}

// came reports whether it is seen what a session does.
func came(s snapshot.Session) bool { return s.State != snapshot.StateUnknown }

// untouched reports whether nobody has come yet, and nothing was ever asked.
func untouched(p *Page) bool {
	return len(p.list.rows) == 0 && len(p.snap.History) == 0 && len(p.deck.Agents) == 0 && !slices.ContainsFunc(p.all, came)
}

// Newcomer implements [tui.Newcomer]: there is nothing on the page but the first steps.
func (p *Page) Newcomer() bool {
	return len(p.list.rows) == 0 && !p.opened && p.past.view == "" && (p.welcome.begun || untouched(p))
}
