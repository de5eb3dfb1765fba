// Package agents is the page of the sessions of all agents on this machine: what each
// does, where, and at what cost.
package agents

import (
	"cmp"
	"path/filepath"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/arrange"
	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/match"
	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// ID is the page's name.
const ID = "agents"

// Options are what the page needs.
type Options struct {
	// Jump shows the terminal of a session, and returns what the user should know. It may
	// take a while. nil: no terminal can be shown.
	Jump func(deck.Session) (string, error)
	// AskPage is the ID of the page that answers, CallsPage of the one that shows calls;
	// "" when there is none.
	AskPage, CallsPage string
	// Questions are those that can be answered here; nil: it is not known which.
	Questions tui.Questions
}

// The parts of the page.
const (
	partList   = "list"
	partDetail = "detail"
	partFilter = "filter"
)

// Page is the page of sessions.
type Page struct {
	opts   Options
	snap   *deck.Snapshot
	all    []deck.Session
	rows   []row
	list   widget.List
	scroll widget.Scroll
	search tui.Search // in the detail
	part   string
	sort   tui.Order // by a column; "" is by need
	group  bool      // by project
	filter filter
	areas  tui.Areas
}

// row is a row of the list: a session, or the head of a group.
type row struct {
	*deck.Session
	head string
	note string
}

// New makes the page.
func New(o Options) *Page {
	p := &Page{opts: o, part: partList, snap: &deck.Snapshot{}, search: tui.Search{Part: partDetail}}
	p.list.Cursor = -1
	p.filter.Part, p.filter.Fields, p.filter.Values, p.filter.Narrow = partFilter, match.SessionFields(), p.values, p.narrow
	p.filter.Edit.Placeholder = "words, agent: status: tool: since: >5m"
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

// Kept implements tui.Keeper.
func (p *Page) Kept() string { return tui.Keep(look{p.sort, p.group, p.filter.Text()}) }

// Restore implements tui.Keeper.
func (p *Page) Restore(kept string) {
	var l look
	if tui.Kept(kept, &l) && tui.SortingBy(sorts(), l.By) != nil {
		p.sort, p.group = l.Order, l.Group
		p.filter.SetText(plain.Line(l.Filter))
		p.narrow()
	}
}

// Title is "Agents".
func (p *Page) Title() string { return "Agents" }

// Badge is 0: what waits is counted by the page that answers it.
func (p *Page) Badge() int { return 0 }

// Part is the part with the focus.
func (p *Page) Part() string { return p.search.PartAt(p.filter.PartAt(p.part)) }

// TextEntry is true while the filter, or what to search for, is being typed.
func (p *Page) TextEntry() bool { return p.part == partFilter || p.search.Typing(p.part) }

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
func sum(all []deck.Session) string {
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
	note := deck.CountTokens(tokens) + " tokens"
	if known {
		cost := deck.Session{Cost: deck.Cost{USD: usd, Known: true, Partial: partial}}
		note = about(&cost) + "  " + note
	}
	return note
}

// about is a cost as more than a sum of list prices cannot be.
func about(s *deck.Session) string {
	if s.Cost.Partial {
		return tui.Dollars(s)
	}
	return "≈ " + tui.Dollars(s)
}

// Update takes what is new.
func (p *Page) Update(msg tea.Msg) tea.Cmd {
	if p.search.Update(p.part, msg) {
		return nil
	}
	switch msg := msg.(type) {
	case tui.DeckMsg:
		p.snap = msg.Snapshot
	case tui.SessionsMsg:
		p.all = msg.Sessions
		p.arrange()
	case tui.FilterSessionsMsg:
		p.filter.SetText(msg.Text)
		p.part = partList
		if msg.Type {
			p.part = partFilter
		}
		return p.narrow()
	case tui.ShowSessionMsg:
		p.show(msg)
	case tea.KeyPressMsg, tea.PasteMsg:
		if p.part == partFilter {
			return p.filter.Update(msg)
		}
	case tui.ClickMsg:
		return p.click(msg)
	case tui.WheelMsg:
		if a := p.areas.At(msg.X, msg.Y); a != nil && a.Part == partDetail {
			p.scroll.Move(msg.Delta)
		} else {
			p.move(func() { p.list.Scroll(msg.Delta) })
		}
	}
	return nil
}

// show shows a session.
func (p *Page) show(m tui.ShowSessionMsg) {
	i := slices.IndexFunc(p.rows, func(r row) bool { return r.Session != nil && r.Agent == m.Agent && r.ID == m.ID })
	if i >= 0 {
		p.move(func() { p.list.MoveTo(i) })
		p.part = partDetail
	} else if !p.filter.Empty() { // it may be one that is filtered out
		p.unfilter()
		p.show(m)
	}
}

// arrange makes the rows, and leaves the cursor on its session.
func (p *Page) arrange() {
	at := p.selected()
	all := make([]*deck.Session, 0, len(p.all))
	for i := range p.all {
		if p.filter.lets(&p.all[i]) {
			all = append(all, &p.all[i])
		}
	}
	if compare := tui.SortingBy(sorts(), p.sort.By).Compare; compare != nil {
		arrange.Stable(all, compare)
	}
	if p.sort.Turned {
		slices.Reverse(all)
	}
	p.rows = p.rows[:0:0]
	if p.group {
		p.rows = grouped(all)
	} else {
		for _, s := range all {
			p.rows = append(p.rows, row{Session: s})
		}
	}
	p.list.SetLen(len(p.rows))
	p.list.MoveTo(max(p.list.Cursor, 0))
	for i := range p.rows {
		if s := p.rows[i].Session; at != nil && s != nil && s.Agent == at.Agent && s.ID == at.ID {
			p.list.MoveTo(i)
		}
	}
	p.skipHead(1)
}

// grouped puts sessions under the names of their projects, those first whose first session
// comes first.
func grouped(all []*deck.Session) []row {
	var names []string
	of := map[string][]*deck.Session{}
	for _, s := range all {
		name := project(s)
		if of[name] == nil {
			names = append(names, name)
		}
		of[name] = append(of[name], s)
	}
	var rows []row
	for _, name := range names {
		var flat []deck.Session
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
func project(s *deck.Session) string {
	if s.Folder == "" {
		return ""
	}
	return plain.Line(filepath.Base(s.Folder))
}

// selected is the session under the cursor; nil when there is none.
func (p *Page) selected() *deck.Session {
	if i := p.list.Cursor; i >= 0 && i < len(p.rows) {
		return p.rows[i].Session
	}
	return nil
}

// move moves the cursor, past the heads of groups.
func (p *Page) move(do func()) {
	before := p.list.Cursor
	do()
	d := 1
	if p.list.Cursor < before {
		d = -1
	}
	p.skipHead(d)
	if p.list.Cursor != before {
		p.scroll.Top = 0
		p.search.Stop()
	}
}

func (p *Page) skipHead(d int) {
	if i := p.list.Cursor; i < 0 || i >= len(p.rows) || p.rows[i].Session != nil {
		return
	}
	if p.list.Cursor == 0 {
		d = 1
	}
	p.list.Move(d)
}

// connection is the connection of a session to the deck; nil when there is none.
func (p *Page) connection(s *deck.Session) *deck.Agent {
	for i := range p.snap.Agents {
		if a := &p.snap.Agents[i]; s.Connection != "" && a.Agent == s.Connection {
			return a
		}
	}
	return nil
}

// Actions are moving, sorting, and going where a session is.
func (p *Page) Actions() []tui.Action {
	to := func(part string) func() tea.Cmd {
		return func() tea.Cmd { p.part = part; return nil }
	}
	out := []tui.Action{
		{ID: "agents.open", Title: "Read about the session", Hint: "read", Keys: []string{"enter", "tab", "right", "l"}, Part: partList, Enabled: p.why, Run: to(partDetail)},
		{ID: "agents.close", Title: "Back to the list", Hint: "list", Keys: []string{"esc", "tab", "left", "h", "shift+tab"}, Part: partDetail, Run: to(partList)},
		{ID: "agents.leave", Title: "Show all sessions, or the first page", Keys: []string{"esc"}, Part: partList, Hidden: true, Run: func() tea.Cmd {
			if p.filter.Empty() {
				return tui.Home()
			}
			return p.unfilter()
		}},
		{ID: "agents.answer", Title: "Answer what the session waits for", Hint: "answer", Keys: []string{"a"}, Enabled: p.whyNoAnswer, Run: func() tea.Cmd { return tui.Go(p.opts.AskPage) }},
		{ID: "agents.jump", Title: "Show the session's terminal", Hint: "terminal", Keys: []string{"J"}, Enabled: p.whyNoJump, Run: p.jump},
		{ID: "agents.calls", Title: "Show the calls of the session's agent", Hint: "calls", Keys: []string{"c"}, Enabled: p.whyNoCalls, Run: p.calls},
		{ID: "agents.group", Title: "Group by project, or not", Moves: true, Hint: "group", Keys: []string{"g"}, Part: partList, Run: func() tea.Cmd {
			p.group = !p.group
			p.arrange()
			return nil
		}},
		{ID: "agents.copy", Title: "Copy the session's ID", Enabled: p.why, Run: func() tea.Cmd { return tui.Copy(plain.Line(p.selected().ID), "the session's ID") }},
	}
	for _, s := range sorts() {
		out = append(out, tui.Action{ID: "agents.sort." + cmp.Or(s.Column, "need"), Title: "Sort by " + s.Means, Moves: true, Keys: []string{s.Key}, Run: func() tea.Cmd { return p.sortBy(s.Column) }})
	}
	out = slices.Concat(out, p.search.Actions("agents.detail"), p.filterActions())
	for _, a := range tui.ListActions("agents.list", partList, &p.list) {
		run := a.Run
		a.Run = func() tea.Cmd {
			p.move(func() { run() })
			return nil
		}
		out = append(out, a)
	}
	return append(out, tui.ScrollActions("agents.detail", partDetail, &p.scroll)...)
}

func (p *Page) why() string {
	if p.selected() == nil {
		return "no session selected"
	}
	return ""
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

// asks tells whether a session asks a question.
func asks(it *ask.Item, s *deck.Session) bool {
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
	case s.State == deck.Ended:
		return "this session has ended"
	case s.PID == 0 && s.Place == (deck.Place{}):
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

// click moves the cursor; a click on the row under it opens the session.
func (p *Page) click(c tui.ClickMsg) tea.Cmd {
	a := p.areas.At(c.X, c.Y)
	switch {
	case a == nil:
		return nil
	case a.Run != nil:
		return a.Run()
	}
	before, focus := p.list.Cursor, p.part == a.Part
	p.search.Keep()
	if p.part = a.Part; a.Part == partDetail {
		return nil
	}
	hit := false
	p.move(func() { hit = p.list.Click(c.Y - a.Y) })
	if hit && focus && before == p.list.Cursor {
		p.part = partDetail
	}
	return nil
}
