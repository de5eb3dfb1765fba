// Package deck is the first page: what waits for the user, the agents and what they are
// doing, their calls as they happen, and what servers there are.
package deck

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// ID is the page's name.
const ID = "deck"

// Host is what the page can do with the servers.
type Host interface {
	// RestartServer stops and starts a server; it may take a while.
	RestartServer(ctx context.Context, name string) error
}

// Cards turn servers on and off. The methods may take a while.
type Cards interface {
	// TurnOn turns a server on, whose tools agents list or, when it is lazy, find. seen is
	// the digest of the terms that the user has been shown, "" for none. It returns a sentence
	// for the user, or "", and [deck.ErrNotAgreed] where they have to be shown them.
	TurnOn(name string, lazy bool, seen string) (string, error)
	// TurnOff turns a server off, and returns a sentence as TurnOn does.
	TurnOff(name string) (string, error)
	// Restart starts anew what is behind a server of somebody else's; one that is on
	// stays on.
	Restart(name string) error
}

// Widget is what another part of the deck has to say on this page, in the line about what
// there is.
type Widget interface {
	// Note is an exception, or a mode that is on, in a few words and at most w cells; ""
	// says nothing.
	Note(f *tui.Frame, w int) string
	// Server is the name of the server of which the note says all; "" if it says it of none.
	Server() string
	// Actions act on this page.
	Actions() []tui.Action
	// Update gets all messages that pages get, but no keys.
	Update(msg tea.Msg) tea.Cmd
}

// StateSaver is a widget that keeps something between runs, as a page does. Its name tells it
// from the others'.
type StateSaver interface {
	Name() string
	SaveState() string
	LoadState(kept string)
}

// Questions is where the questions wait; *ask.Queue is one. The page answers permissions.
type Questions interface {
	tui.Questions
	SetDraft(id int, d ask.Draft)
	Send(id int) error
}

// Options are what the page needs.
type Options struct {
	Host    Host
	Cards   Cards // nil: no server can be turned on or off
	Widgets []Widget
	// CallsPage is the ID of the page that shows calls, AskPage of the one that
	// answers questions, CardsPage of the one that shows servers, AgentsPage of the one
	// that shows sessions; "" when there is none.
	CallsPage, AskPage, CardsPage, AgentsPage string
	// Tells are the pages that say themselves what a server warns of.
	Tells map[string]string
	// Questions are those that wait, also for an agent whose call of ask has ended
	// in time; nil: only calls that run are known to wait.
	Questions Questions
	// Jump shows the terminal in which an agent asks, and returns what the user should
	// know; nil: it cannot be shown.
	Jump func(ask.Request) (string, error)
	// Setup connects the first agent; nil: that is left to mcpdeck setup.
	Setup Setup
	Watch bool // nothing can be changed: nobody is set up
}

// The parts of the page.
const (
	partWaiting = "waiting"
	partServers = "servers"
	partAgents  = "agents"
	partCalls   = "calls"
)

// Page is the deck.
type Page struct {
	opts     Options
	snap     *snapshot.Snapshot
	part     string
	servers  widget.List
	agents   widget.List
	calls    widget.List
	waits    widget.List
	waitList []waitRow // behind waits
	digests  tui.Digests
	sight    *tui.Sight
	work     []worker  // behind agents
	sort     tui.Order // by the head of the column by which those are sorted; "" is by need
	active   map[string]activity
	follow   bool   // the calls' cursor stays on the newest
	warned   uint64 // the last warning that the user was told of
	areas    tui.Areas
	what     string // the line about what there is, on the frame on screen
	said     string // by it, "" where it is not drawn

	sessions []snapshot.Session
	figures  figures  // of the calls, as they were drawn last
	clients  []Client // found here, while nobody is connected
	snippet  string   // what connects others
	failures *tui.Failures
	earlier  []snapshot.Call // the newest of earlier runs, oldest first
}

// New makes the page.
func New(o Options) *Page {
	if o.Watch {
		o.Setup = nil
	}
	return &Page{opts: o, part: partAgents, follow: true, snap: &snapshot.Snapshot{}}
}

// ID implements tui.Page.
func (p *Page) ID() string { return ID }

// Title is "Deck".
func (p *Page) Title() string { return "Deck" }

// Badge is 0: what waits is counted by the pages it waits on.
func (p *Page) Badge() int { return 0 }

// Part is the pane with the focus.
func (p *Page) Part() string { return p.part }

// TextEntry is false.
func (p *Page) TextEntry() bool { return false }

// Show looks for clients while nobody is connected. The focus is on what waits, since
// that is what the user comes for.
func (p *Page) Show() tea.Cmd {
	p.lay(time.Now())
	if len(p.waitList) > 0 {
		p.part = partWaiting
	}
	return p.lookForClients()
}

// Hide implements tui.Page.
func (p *Page) Hide() {}

// FooterNote is where agents reach the deck. A small terminal has no room for it beside
// the keys, and the keys that answer need all there is.
func (p *Page) FooterNote(w int) string {
	e := p.snap.Endpoints
	var parts []string
	if w < 100 || len(p.waitList) > 0 {
		return ""
	}
	if e.Socket != "" {
		parts = append(parts, shortPath(sanitize.Line(e.Socket)))
	}
	if e.HTTP != "" {
		parts = append(parts, sanitize.Line(e.HTTP))
	}
	return strings.Join(parts, "  ")
}

// shortPath keeps the last two names of a path.
func shortPath(s string) string {
	i := strings.LastIndexByte(s, '/')
	if i <= 0 {
		return s
	}
	if j := strings.LastIndexByte(s[:i], '/'); j > 0 {
		return "…" + s[j:]
	}
	return s
}

// Update takes what is new.
func (p *Page) Update(msg tea.Msg) tea.Cmd {
	var cmds []tea.Cmd
	switch msg := msg.(type) {
	case tui.DeckMsg:
		cmds = append(cmds, p.take(msg.Snapshot))
	case tui.EarlierMsg:
		p.callsChange(func() { p.earlier = msg.Calls[max(len(msg.Calls)-earlierKept, 0):] })
	case tui.SessionsMsg:
		p.sessions = msg.Sessions
		p.watch(time.Now())
		p.layWork()
	case tui.FailuresMsg:
		p.failures = msg.Failures
	case tui.SightMsg:
		p.sight = msg.Sight
	case tui.RestMsg:
		p.nextWaiting()
	case clientsMsg:
		p.clients, p.snippet = msg.found, msg.snippet
	case planMsg:
		return p.confirmSetup(msg)
	case nextMsg:
		return p.setUpFirst(msg)
	case tui.ClickMsg:
		return p.click(msg)
	case tui.WheelMsg:
		p.wheel(msg)
		return nil
	case tea.KeyPressMsg, tea.PasteMsg:
		return nil
	}
	for _, w := range p.opts.Widgets {
		cmds = append(cmds, w.Update(msg))
	}
	return tea.Batch(cmds...)
}

func (p *Page) take(s *snapshot.Snapshot) tea.Cmd {
	p.callsChange(func() { p.snap = s })
	p.servers.SetLen(len(s.Servers))
	p.layWork()
	var cmds []tea.Cmd
	for _, w := range s.WarningsAfter(p.warned) {
		p.warned = w.ID
		switch {
		case w.Pinned: // every page shows it
		case w.Once:
			cmds = append(cmds, tui.Toast(tui.Warn, w.From+": "+w.Text))
		default:
			cmds = append(cmds, tui.ToastUnless(tui.Warn, w.From+": "+w.Text, ID, p.opts.Tells[w.From]))
		}
	}
	return tea.Batch(cmds...)
}

// earlierKept is how many calls of earlier runs the page lists; all are on the page
// of calls.
const earlierKept = 100

// callsChange changes the calls, and leaves the cursor on its call while the list
// moves under it, or on the newest.
func (p *Page) callsChange(change func()) {
	at, early := p.call(p.calls.Cursor)
	change()
	n := len(p.earlier) + len(p.snap.Calls)
	p.calls.SetLen(n)
	switch {
	case p.follow || at == nil:
		p.calls.MoveTo(n - 1)
	case early:
		p.calls.MoveTo(slices.IndexFunc(p.earlier, func(c snapshot.Call) bool { return c.ID == at.ID }))
	default:
		i, _ := slices.BinarySearchFunc(p.snap.Calls, at.ID, func(c snapshot.Call, id uint64) int { return cmp.Compare(c.ID, id) })
		p.calls.MoveTo(len(p.earlier) + i)
	}
}

// call is the call of a row, and whether it is one of an earlier run; nil when
// there is none.
func (p *Page) call(row int) (c *snapshot.Call, early bool) {
	switch i := row - len(p.earlier); {
	case row < 0 || i >= len(p.snap.Calls):
		return nil, false
	case i < 0:
		return &p.earlier[row], true
	default:
		return &p.snap.Calls[i], false
	}
}

// Actions are moving between and within the panes, and what the rows allow.
func (p *Page) Actions() []tui.Action {
	next := func(d int) func() tea.Cmd {
		return func() tea.Cmd { p.next(d); return nil }
	}
	out := append(p.waitingActions(), []tui.Action{
		{ID: "deck.answer", Title: "Answer the question", Hint: "answer", Keys: []string{"a"}, Enabled: p.whyNoAnswer, Run: func() tea.Cmd {
			return tui.Go(p.opts.AskPage)
		}},
		{ID: "deck.server", Title: "Show the server", Hint: "details", Keys: []string{"enter"}, Part: partServers, Enabled: p.whyNoCard, Run: p.openServer},
		p.toggleAction(),
		{ID: "deck.restart", Title: "Restart the server", Hint: "restart", Keys: []string{"r"}, Part: partServers, Acts: true, Enabled: func() string { return p.whyNoRestart(p.server()) }, Run: func() tea.Cmd { return p.confirmRestart(p.server()) }},
		{ID: "deck.agent", Title: "Show the agent", Hint: "details", Keys: []string{"enter"}, Part: partAgents, Enabled: p.whyNoDetails, Run: p.openAgent},
		{ID: "deck.calls", Title: "Show the calls of the agent", Hint: "calls", Keys: []string{"c"}, Part: partAgents, Enabled: p.whyNoAgent, Run: func() tea.Cmd {
			return p.filterCalls(p.agent().Name())
		}},
		{ID: "deck.servercalls", Title: "Show the calls of the server", Hint: "calls", Keys: []string{"c"}, Part: partServers, Run: func() tea.Cmd {
			if s := p.server(); s != nil {
				return p.filterCalls(s.Name)
			}
			return nil
		}},
		{ID: "deck.call", Title: "Show the call", Hint: "show", Keys: []string{"enter"}, Part: partCalls, Enabled: p.whyNoCall, Run: p.openCall},
		{ID: "deck.filter", Title: "Filter the calls", Hint: "filter", Keys: []string{"/"}, Part: partCalls, Enabled: p.whyNoCall, Run: func() tea.Cmd {
			return p.show(p.opts.CallsPage, tui.FilterCallsMsg{Type: true})
		}},
		{ID: "deck.filter.agents", Title: "Filter the sessions", Hint: "filter", Keys: []string{"/"}, Part: partAgents, Enabled: func() string {
			return tui.Because(p.opts.AgentsPage == "" || len(p.sessions) == 0, "there are no sessions")
		}, Run: func() tea.Cmd { return p.show(p.opts.AgentsPage, tui.FilterSessionsMsg{Type: true}) }},
		{ID: "deck.next", Title: "Next pane", Moves: true, Hint: "section", Keys: []string{"tab", "right", "l"}, Run: next(1)},
		{ID: "deck.previous", Title: "Previous pane", Moves: true, Keys: []string{"shift+tab", "left", "h"}, Hidden: true, Run: next(-1)},
		{ID: "deck.address", Title: "Copy the address of the HTTP endpoint", Enabled: func() string {
			if p.snap.Endpoints.HTTP == "" {
				return cmp.Or(sanitize.Line(p.snap.Endpoints.HTTPNote), "HTTP is off")
			}
			return ""
		}, Run: func() tea.Cmd {
			return tui.Copy("http://"+p.snap.Endpoints.HTTP+"/mcp", "the address; agents also need the token (run mcpdeck token)")
		}},
		{ID: tui.ReadWarnings, Title: "Show all warnings", Keys: []string{"w"}, Enabled: func() string { return tui.Because(len(p.snap.Warnings) == 0, "there are none") }, Run: p.openWarnings},
	}...)
	for _, s := range sorts() {
		out = append(out, tui.Action{ID: "deck.sort." + cmp.Or(s.Column, "need"), Title: "Sort the agents by " + s.Means, Moves: true, Part: partAgents, Run: func() tea.Cmd { return p.sortBy(s.Column) }})
	}
	if p.opts.Setup != nil {
		out = append(out, tui.Action{ID: "deck.setup", Title: "Set up an agent that was found here", Hint: "set up", Keys: []string{"enter"}, Part: partAgents, Acts: true, Enabled: p.whyNoSetup, Run: func() tea.Cmd { return p.setUp(p.candidates()[0].Name) }},
			tui.Action{ID: "deck.clients", Title: "Set up another agent that is found here", Keys: []string{"s"}, Acts: true, Run: p.setUpNext},
			tui.Action{ID: "deck.snippet", Title: "Copy the configuration for any other client", Hint: "copy", Keys: []string{"c"}, Part: partAgents, Enabled: p.whyNoSnippet, Run: func() tea.Cmd {
				return tui.Copy(p.snippet, "the configuration; put it where your client keeps its MCP servers")
			}})
	}
	for _, w := range p.opts.Widgets {
		out = append(out, w.Actions()...)
	}
	out = append(out, tui.ListActions("deck.waiting", partWaiting, &p.waits, p.nextWaiting)...)
	out = append(out, tui.ListActions("deck.servers", partServers, &p.servers)...)
	out = append(out, tui.ListActions("deck.agents", partAgents, &p.agents)...)
	return append(out, tui.ListActions("deck.calls", partCalls, &p.calls, func() { p.follow = p.calls.AtEnd() })...)
}

// parts are those that can have the focus, from the top.
func (p *Page) parts() []string {
	out := []string{partAgents, partCalls, partServers}
	if len(p.waitList) > 0 {
		out = append([]string{partWaiting}, out...)
	}
	return out
}

func (p *Page) next(d int) { p.part = tui.Next(p.parts(), p.part, d) }

func (p *Page) list(part string) *widget.List {
	switch part {
	case partWaiting:
		return &p.waits
	case partServers:
		return &p.servers
	case partAgents:
		return &p.agents
	}
	return &p.calls
}

// click gives the focus; a click on the row under the cursor opens it.
func (p *Page) click(c tui.ClickMsg) tea.Cmd {
	a, run := p.areas.Click(c.X, c.Y)
	if a == nil {
		return run
	}
	l := p.list(a.Part)
	before, focus := l.Cursor, p.part == a.Part
	p.part = a.Part
	if !l.Click(c.Y - a.Y) {
		return nil
	}
	if a.Part == partCalls {
		p.follow = p.calls.AtEnd()
	}
	if !focus || l.Cursor != before {
		return nil
	}
	switch a.Part {
	case partWaiting:
		return p.openEntry()
	case partServers:
		return p.openServer()
	case partAgents:
		return p.openAgent()
	}
	return p.openCall()
}

func (p *Page) wheel(m tui.WheelMsg) {
	if a := p.areas.At(m.X, m.Y); a != nil {
		p.list(a.Part).Scroll(m.Delta)
		if a.Part == partCalls {
			p.follow = p.calls.AtEnd()
		}
	}
}
