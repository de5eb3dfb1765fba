// Package agents is the page of the sessions of all agents on this machine: what each
// does, and what was asked and said there.
package agents

import (
	"cmp"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/query"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/browser"
	"github.com/mcpdeck/mcpdeck/tui/reply"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// ID is the page's name.
const ID = "agents"

// Options are what the page needs.
type Options struct {
	// Jump shows the terminal of a session, and returns what the user should know. It may
	// take a while. nil: no terminal can be shown.
	Jump func(snapshot.Session) (string, error)
	// Sessions are told what the user has read; may be nil.
	Sessions interface{ MarkRead(agent, id string) }
	// Reply is where the next prompt of a session is typed; nil: nowhere.
	Reply *reply.Line
	// AskPage is the ID of the page that answers, CallsPage of the one that shows calls;
	// "" when there is none.
	AskPage, CallsPage string
	// Questions are those that can be answered here; nil: it is not known which.
	Questions tui.Questions
	// Answered draws what was answered today, where there is room below the sessions; nil:
	// nothing does.
	Answered func(f *tui.Frame, asked *ask.Snapshot, sessions []snapshot.Session, w, h int) []string
}

// Page is the page of sessions.
type Page struct {
	browser.Browser // its order "" is by need
	opts            Options
	snap            *snapshot.Snapshot
	all             []snapshot.Session
	away            []snapshot.Away
	rows            []row
	group           bool // by project
	details         bool // of the session that is shown
	file            int  // whose diff is shown, of those that it changed
	asked           filterQuery
	reading         reading
	from            string    // the part in which the field for a prompt was opened
	moved           bool      // the user has put the cursor where it is: it stays with its session
	pressed         time.Time // when a key was, last
}

// row is a row of the list: a session, or the head of a group.
type row struct {
	*snapshot.Session
	project string // what its project is called
	head    string
}

// New makes the page.
func New(o Options) *Page {
	p := &Page{opts: o, snap: &snapshot.Snapshot{}, reading: reading{focused: true}}
	onHead := func(i int) bool { return i < len(p.rows) && p.rows[i].Session == nil }
	moved := func(bool) tea.Cmd { p.moved, p.file = true, 0; return p.read() }
	p.Browser = browser.New(browser.Options{ID: ID, Skip: onHead, Moved: moved, Open: p.open}, tui.Filter{Fields: query.SessionFields(), Values: p.values, Narrow: p.narrow})
	p.List.Close = true
	p.Filter.Edit.Placeholder = "words, agent: status: tool: since: >5m"
	return p
}

// ID implements tui.Page.
func (p *Page) ID() string { return ID }

// look is what the page keeps between runs.
type look struct {
	tui.Order
	Group     bool
	Explained bool `json:",omitempty"` // what the field of the next prompt does
}

// SaveState implements tui.StateSaver.
func (p *Page) SaveState() string {
	return tui.EncodeState(look{p.Order, p.group, p.opts.Reply.Explained()})
}

// LoadState implements tui.StateSaver.
func (p *Page) LoadState(kept string) {
	var l look
	if tui.DecodeState(kept, &l) && tui.SortingBy(sorts(), l.By) != nil {
		p.Order, p.group = l.Order, l.Group
		p.opts.Reply.Restore(l.Explained)
		p.narrow()
	}
}

// Title is "Agents".
func (p *Page) Title() string { return "Agents" }

// Badge is how many sessions are done and not read yet: what waits is counted by the page
// that answers it.
func (p *Page) Badge() int { return p.counts()[done].n }

// BadgeMark implements tui.Marker.
func (p *Page) BadgeMark(th *theme.Theme) (string, theme.Style) { return th.Glyph.OK, th.Good }

// Show goes to the newest session that is done, if there is one.
func (p *Page) Show() tea.Cmd {
	p.reading.shown = true
	newest := -1
	for i := range p.rows {
		if s := p.rows[i].Session; s != nil && state(s) == done && (newest < 0 || s.Since.After(p.rows[newest].Since)) {
			newest = i
		}
	}
	if newest >= 0 {
		return p.Move(func() { p.List.MoveTo(newest) })
	}
	return p.read()
}

// Hide ends the reading.
func (p *Page) Hide() {
	p.reading.shown = false
	p.opts.Reply.Close()
}

// AnyKey implements tui.Keyed. Whoever presses one looks at what is selected.
func (p *Page) AnyKey() tea.Cmd {
	p.pressed, p.moved = time.Now(), true
	return p.read()
}

// Legend explains the marks.
func (p *Page) Legend(th *theme.Theme) []tui.Sign { return tui.SessionLegend(th) }

// Part implements tui.Page.
func (p *Page) Part() string {
	if p.opts.Reply.Editing(p.selected()) {
		return reply.Part
	}
	return p.Browser.Part()
}

// TextEntry implements tui.Page.
func (p *Page) TextEntry() bool {
	return p.opts.Reply.Editing(p.selected()) || p.Browser.TextEntry()
}

// Update takes what is new.
func (p *Page) Update(msg tea.Msg) tea.Cmd {
	if p.opts.Reply.Update(msg, p.selected()) {
		return nil
	}
	if cmd, taken := p.Browser.Update(msg); taken {
		return cmd
	}
	switch msg := msg.(type) {
	case tui.DeckMsg:
		p.snap = msg.Snapshot
	case tui.SessionsMsg:
		p.all, p.away = msg.Sessions, msg.Away
		p.arrange()
		return p.read()
	case tui.FocusMsg:
		p.reading.focused = msg.Focused
		return p.read()
	case readMsg:
		return p.hasRead(msg)
	case tui.ShowSessionMsg:
		return p.show(msg)
	}
	return nil
}

// ask shows the sessions that a query asks for.
func (p *Page) ask(query string) tea.Cmd {
	p.Filter.SetText(query)
	p.Focus = browser.PartList
	return p.narrow()
}

// show shows a session.
func (p *Page) show(m tui.ShowSessionMsg) tea.Cmd {
	i := p.index(m.Agent, m.ID)
	if i < 0 && !p.Filter.Empty() { // it may be one that is filtered out
		p.unfilter()
		i = p.index(m.Agent, m.ID)
	}
	if i < 0 {
		return nil
	}
	return tea.Batch(p.Move(func() { p.List.MoveTo(i) }), p.open())
}

func (p *Page) index(agent, id string) int {
	return slices.IndexFunc(p.rows, func(r row) bool { return r.Session != nil && r.Agent == agent && r.ID == id })
}

// still is how long no key must have been pressed for the cursor to go back to what matters most.
const still = 2 * time.Minute

// arrange makes the rows. The cursor is on the first one, or on the session to which the
// user has moved it.
func (p *Page) arrange() {
	at := p.selected()
	names := snapshot.Projects(p.all)
	var rows []row
	for i := range p.all {
		if s := &p.all[i]; p.lets(s) {
			rows = append(rows, row{Session: s, project: sanitize.Line(names[i])})
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(state(a.Session), state(b.Session)) })
	tui.Sort(rows, sorts(), p.Order)
	if p.rows = rows; p.group {
		p.rows = grouped(rows)
	}
	if p.Focus == browser.PartList && time.Since(p.pressed) >= still {
		p.moved = false
	}
	i := 0
	if p.moved || p.Focus == browser.PartDetail {
		if i = -1; at != nil {
			i = p.index(at.Agent, at.ID)
		}
	}
	if p.SetLen(len(p.rows), i); at != nil && p.selected() != nil && p.selected().ID != at.ID {
		p.FromTop()
		p.file = 0
	}
}

// grouped puts sessions under the names of their projects, those first whose first session
// comes first.
func grouped(all []row) []row {
	var heads []string
	of := map[string][]row{}
	for _, r := range all {
		name := folder(r)
		if of[name] == nil {
			heads = append(heads, name)
		}
		of[name] = append(of[name], r)
	}
	var rows []row
	for _, name := range heads {
		rows = append(append(rows, row{head: cmp.Or(name, "no folder")}), of[name]...)
	}
	return rows
}

// selected is the session under the cursor; nil when there is none.
func (p *Page) selected() *snapshot.Session {
	if r := widget.Selected(&p.List, p.rows); r != nil {
		return r.Session
	}
	return nil
}
