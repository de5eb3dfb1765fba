// Package agents is the page of the sessions of all agents on this machine: what each
// does, where, and at what cost.
package agents

import (
	"cmp"
	"path/filepath"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/query"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/browser"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// ID is the page's name.
const ID = "agents"

// Options are what the page needs.
type Options struct {
	// Jump shows the terminal of a session, and returns what the user should know. It may
	// take a while. nil: no terminal can be shown.
	Jump func(snapshot.Session) (string, error)
	// AskPage is the ID of the page that answers, CallsPage of the one that shows calls;
	// "" when there is none.
	AskPage, CallsPage string
	// Questions are those that can be answered here; nil: it is not known which.
	Questions tui.Questions
}

// Page is the page of sessions.
type Page struct {
	browser.Browser // its order "" is by need
	opts            Options
	snap            *snapshot.Snapshot
	all             []snapshot.Session
	rows            []row
	group           bool // by project
	asked           filterQuery
}

// row is a row of the list: a session, or the head of a group.
type row struct {
	*snapshot.Session
	head string
	note string
}

// New makes the page.
func New(o Options) *Page {
	p := &Page{opts: o, snap: &snapshot.Snapshot{}}
	onHead := func(i int) bool { return i < len(p.rows) && p.rows[i].Session == nil }
	p.Browser = browser.New(browser.Options{ID: ID, Skip: onHead}, tui.Filter{Fields: query.SessionFields(), Values: p.values, Narrow: p.narrow})
	p.Filter.Edit.Placeholder = "words, agent: status: tool: since: >5m"
	return p
}

// ID implements tui.Page.
func (p *Page) ID() string { return ID }

// look is what the page keeps between runs.
type look struct {
	tui.Order
	Group  bool
	Filter string
}

// SaveState implements tui.StateSaver.
func (p *Page) SaveState() string { return tui.EncodeState(look{p.Order, p.group, p.Filter.Text()}) }

// LoadState implements tui.StateSaver.
func (p *Page) LoadState(kept string) {
	var l look
	if tui.DecodeState(kept, &l) && tui.SortingBy(sorts(), l.By) != nil {
		p.Order, p.group = l.Order, l.Group
		p.Filter.SetText(sanitize.Line(l.Filter))
		p.narrow()
	}
}

// Title is "Agents".
func (p *Page) Title() string { return "Agents" }

// Badge is 0: what waits is counted by the page that answers it.
func (p *Page) Badge() int { return 0 }

// Show does nothing.
func (p *Page) Show() tea.Cmd { return nil }

// Hide does nothing.
func (p *Page) Hide() {}

// Legend explains the marks.
func (p *Page) Legend(th *theme.Theme) []tui.Sign { return tui.SessionLegend(th) }

// FooterNote says what all sessions used.
func (p *Page) FooterNote(w int) string {
	if len(p.all) == 0 {
		return ""
	}
	note := sum(p.all)
	if w >= 100 {
		note = "these sessions " + note
	}
	return note
}

// sum is what sessions used together, and what that costs as far as prices are known.
func sum(all []snapshot.Session) string {
	var usd float64
	var tokens int64
	known, partial := false, false
	for i := range all {
		s := &all[i]
		tokens += tui.AllTokens(s) - s.Shared.Tokens
		usd += s.Cost.USD - s.Shared.USD
		known = known || s.Cost.Known
		partial = partial || s.Cost.Partial || !s.Cost.Known && tui.AllTokens(s) > 0
	}
	note := snapshot.CountTokens(tokens) + " tokens"
	if known {
		cost := snapshot.Session{Cost: snapshot.Cost{USD: usd, Known: true, Partial: partial}}
		note = about(&cost) + "  " + note
	}
	return note
}

// about is a cost as more than a sum of list prices cannot be.
func about(s *snapshot.Session) string {
	if s.Cost.Partial {
		return tui.Dollars(s)
	}
	return "≈ " + tui.Dollars(s)
}

// Update takes what is new.
func (p *Page) Update(msg tea.Msg) tea.Cmd {
	if cmd, taken := p.Browser.Update(msg); taken {
		return cmd
	}
	switch msg := msg.(type) {
	case tui.DeckMsg:
		p.snap = msg.Snapshot
	case tui.SessionsMsg:
		p.all = msg.Sessions
		p.arrange()
	case tui.FilterSessionsMsg:
		p.Filter.SetText(msg.Text)
		p.Focus = browser.PartList
		if msg.Type {
			p.Focus = browser.PartFilter
		}
		return p.narrow()
	case tui.ShowSessionMsg:
		p.show(msg)
	}
	return nil
}

// show shows a session.
func (p *Page) show(m tui.ShowSessionMsg) {
	i := slices.IndexFunc(p.rows, func(r row) bool { return r.Session != nil && r.Agent == m.Agent && r.ID == m.ID })
	if i >= 0 {
		p.Move(func() { p.List.MoveTo(i) })
		p.Focus = browser.PartDetail
	} else if !p.Filter.Empty() { // it may be one that is filtered out
		p.unfilter()
		p.show(m)
	}
}

// arrange makes the rows, and leaves the cursor on its session.
func (p *Page) arrange() {
	at := p.selected()
	all := make([]*snapshot.Session, 0, len(p.all))
	for i := range p.all {
		if p.lets(&p.all[i]) {
			all = append(all, &p.all[i])
		}
	}
	tui.Sort(all, sorts(), p.Order)
	p.rows = p.rows[:0:0]
	if p.group {
		p.rows = grouped(all)
	} else {
		for _, s := range all {
			p.rows = append(p.rows, row{Session: s})
		}
	}
	p.SetLen(len(p.rows), slices.IndexFunc(p.rows, func(r row) bool {
		return at != nil && r.Session != nil && r.Agent == at.Agent && r.ID == at.ID
	}))
}

// grouped puts sessions under the names of their projects, those first whose first session
// comes first.
func grouped(all []*snapshot.Session) []row {
	var names []string
	of := map[string][]*snapshot.Session{}
	for _, s := range all {
		name := project(s)
		if of[name] == nil {
			names = append(names, name)
		}
		of[name] = append(of[name], s)
	}
	var rows []row
	for _, name := range names {
		var flat []snapshot.Session
		for _, s := range of[name] {
			flat = append(flat, *s)
		}
		rows = append(rows, row{head: cmp.Or(name, "no folder"), note: sum(flat)})
		for _, s := range of[name] {
			rows = append(rows, row{Session: s})
		}
	}
	return rows
}

// project is the name of the folder in which a session works.
func project(s *snapshot.Session) string {
	if s.Folder == "" {
		return ""
	}
	return sanitize.Line(filepath.Base(s.Folder))
}

// selected is the session under the cursor; nil when there is none.
func (p *Page) selected() *snapshot.Session {
	if r := widget.Selected(&p.List, p.rows); r != nil {
		return r.Session
	}
	return nil
}

// connection is the connection of a session to the deck; nil when there is none.
func (p *Page) connection(s *snapshot.Session) *snapshot.Agent { return p.snap.Agent(s.Connection) }

// Actions are moving, sorting, and going where a session is.
func (p *Page) Actions() []tui.Action {
	out := append(p.FocusActions("Read about the session", p.why), []tui.Action{
		{ID: "agents.leave", Title: "Show all sessions, or the first page", Keys: []string{"esc"}, Part: browser.PartList, Hidden: true, Run: func() tea.Cmd {
			if p.Filter.Empty() {
				return tui.Home()
			}
			return p.unfilter()
		}},
		{ID: "agents.answer", Title: "Answer what the session waits for", Hint: "answer", Keys: []string{"a"}, Enabled: p.whyNoAnswer, Run: func() tea.Cmd { return tui.Go(p.opts.AskPage) }},
		{ID: "agents.jump", Title: "Show the session's terminal", Hint: "terminal", Keys: []string{"J"}, Enabled: p.whyNoJump, Run: p.jump},
		{ID: "agents.calls", Title: "Show the calls of the session's agent", Hint: "calls", Keys: []string{"c"}, Enabled: p.whyNoCalls, Run: p.calls},
		{ID: "agents.group", Title: "Group by project, or not", Moves: true, Hint: "group", Keys: []string{"g"}, Part: browser.PartList, Run: func() tea.Cmd {
			p.group = !p.group
			p.arrange()
			return nil
		}},
		{ID: "agents.copy", Title: "Copy the session's ID", Enabled: p.why, Run: func() tea.Cmd { return tui.Copy(sanitize.Line(p.selected().ID), "the session's ID") }},
	}...)
	return slices.Concat(out, browser.SortActions(ID, "", sorts(), &p.Order, p.sortBy), p.SearchActions(),
		p.FilterActions("Show all sessions", nil, p.unfilter), p.MoveActions(), p.ScrollActions())
}

func (p *Page) why() string {
	return tui.Because(p.selected() == nil, "no session selected")
}

func (p *Page) whyNoAnswer() string {
	switch s := p.selected(); {
	case s == nil:
		return p.why()
	case !s.State.Waits():
		return "this session does not wait for you"
	case p.opts.AskPage == "":
		return "this deck has no Ask page"
	case p.opts.Questions != nil && !slices.ContainsFunc(p.opts.Questions.Pending().Items, func(it ask.Item) bool { return asks(&it, s) }):
		return "it waits in its own terminal only"
	}
	return ""
}

// asks reports whether a session asks a question.
func asks(it *ask.Item, s *snapshot.Session) bool {
	if p := it.Request.Prompt; p != nil {
		return p.Agent == s.Agent && p.Session == s.ID
	}
	return s.Connection != "" && it.Request.Peer.Key == s.Connection
}

func (p *Page) whyNoJump() string {
	switch s := p.selected(); {
	case s == nil:
		return p.why()
	case p.opts.Jump == nil:
		return "this deck cannot show other terminals"
	case s.Headless:
		return "this session has no terminal"
	case s.State == snapshot.Ended:
		return "this session has ended"
	case s.PID == 0 && s.Place == (snapshot.Place{}):
		return "where this session runs is not known"
	}
	return ""
}

func (p *Page) jump() tea.Cmd {
	s, jump := *p.selected(), p.opts.Jump
	return func() tea.Msg {
		said, err := jump(s)
		switch tty := s.Place.TTY; {
		case err != nil && tty != "":
			return tea.BatchMsg{tui.Copy(tty, tty), tui.Toast(tui.Warn, err.Error())}
		case err != nil:
			return tui.Toast(tui.Warn, err.Error())()
		case said != "":
			return tui.Toast(tui.Good, said)()
		}
		return nil
	}
}

func (p *Page) whyNoCalls() string {
	switch s := p.selected(); {
	case s == nil:
		return p.why()
	case p.connection(s) == nil:
		return "this session is not connected to the deck"
	case p.opts.CallsPage == "":
		return "this deck has no Calls page"
	}
	return ""
}

func (p *Page) calls() tea.Cmd {
	text := p.connection(p.selected()).Name()
	return tea.Sequence(tui.Go(p.opts.CallsPage), func() tea.Msg { return tui.FilterCallsMsg{Text: text} })
}
