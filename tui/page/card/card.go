// Package card is the page of the deck's servers: what each offers agents, what that
// costs them, what was called, and what the user lets through.
package card

import (
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// ID is the page's name.
const ID = "cards"

// Cards are the servers. But for what is said, the methods may take a while.
type Cards interface {
	// TurnOn turns a server on, whose tools agents list or, when it is lazy, find. seen is
	// the digest of the terms that the user has been shown, "" for none. It returns a sentence
	// for the user, or "", and [deck.ErrNotAgreed] where they have to be shown them.
	TurnOn(name string, lazy bool, seen string) (string, error)
	// TurnOff turns a server off, and returns a sentence as TurnOn does.
	TurnOff(name string) (string, error)
	// Restart starts a server anew; one that is on stays on.
	Restart(name string) error
	// Details are what there is to know about a server; false when it is gone.
	Details(name string) (snapshot.Details, bool)
	// Offer gives agents the resources or the prompts of a server, or takes them away.
	Offer(name string, kind snapshot.Kind, offer bool) error
	// Accept offers those of the held definitions that are as the user has seen them, and
	// returns a sentence for the user.
	Accept(name string, seen []snapshot.Held) (string, error)
	// Allow gives agents tools of a server, by the names by which it lists them, or takes
	// them away.
	Allow(name string, tools []string, allow bool) error
}

// Part is what a server adds to its card. It gets all messages that pages get, but no
// keys.
type Part interface {
	// Head is what stands first on the card, in rows of w cells.
	Head(f *tui.Frame, w int) []string
	// Picture draws what stands below the lists, at x, y in w × h cells; nil for nothing.
	Picture(f *tui.Frame, x, y, w, h int) []string
	// Actions act on this page; on is whether the card is the one on screen.
	Actions(on func() bool) []tui.Action
	Update(msg tea.Msg) tea.Cmd
	AnyKey() tea.Cmd // as of a tui.Keyed
}

// Options are what the page needs.
type Options struct {
	Cards     Cards
	CallsPage string          // ID of the page that shows calls
	Parts     map[string]Part // by the name of a server
}

// The parts of the page: the list of servers, the lists of the card, and its filter.
const (
	partCards     = "cards"
	partTools     = "tools"
	partResources = "resources"
	partPrompts   = "prompts"
	partChildren  = "children"
	partCalls     = "calls"
	partLog       = "log"
	partFilter    = "filter"
)

// Page is the page of servers.
type Page struct {
	opts    Options
	snap    *snapshot.Snapshot
	part    string
	pane    string // the list of the card on screen
	servers widget.List
	lists   map[string]*widget.List // but the log's
	log     widget.Scroll
	search  tui.Search // in the log
	end     bool       // the log stays at its end
	logOf   string     // the child whose log is shown; "" for all
	shown   bool

	of      string // the server of the details
	details snapshot.Details
	loading bool // the details
	again   bool // they have changed since

	filter tui.Filter
	order  tui.Order       // of the tools
	rows   []row           // of the tools
	calls  []snapshot.Call // of the server, the newest first
	areas  tui.Areas
}

// row is a tool, or what is held or noted besides.
type row struct {
	tool *snapshot.Tool
	held *snapshot.Held // nil: nothing of it is held
	note string         // "": it is a tool, or the instructions that are held
}

// detailsMsg is what was loaded about a server.
type detailsMsg struct {
	name string
	snapshot.Details
}

// New makes the page.
func New(o Options) *Page {
	p := &Page{opts: o, part: partCards, pane: partTools, end: true, snap: &snapshot.Snapshot{}, lists: map[string]*widget.List{}, search: tui.Search{Part: partLog}}
	for _, pane := range []string{partTools, partResources, partPrompts, partChildren, partCalls} {
		p.lists[pane] = &widget.List{}
	}
	p.filter = tui.Filter{Part: partFilter, Narrow: func() tea.Cmd { p.arrange(); return nil }}
	p.filter.Edit.Placeholder = "words of a tool's name or description"
	return p
}

// ID implements tui.Page.
func (p *Page) ID() string { return ID }

// Title is "Cards".
func (p *Page) Title() string { return "Cards" }

// Badge is how many definitions are held for the user to look at.
func (p *Page) Badge() (n int) {
	for i := range p.snap.Servers {
		n += p.snap.Servers[i].State.Held
	}
	return n
}

// Part is the part with the focus.
func (p *Page) Part() string { return p.search.PartAt(p.part) }

// TextEntry is true while the filter, or what to search for, is being typed.
func (p *Page) TextEntry() bool { return p.part == partFilter || p.search.Typing(p.part) }

// Show loads what the card shows.
func (p *Page) Show() tea.Cmd {
	p.shown = true
	return p.load()
}

// Hide stops loading.
func (p *Page) Hide() { p.shown = false }

// AnyKey tells the parts that a key was pressed.
func (p *Page) AnyKey() tea.Cmd {
	var cmds []tea.Cmd
	for _, part := range p.opts.Parts {
		cmds = append(cmds, part.AnyKey())
	}
	return tea.Batch(cmds...)
}

// Update takes what is new.
func (p *Page) Update(msg tea.Msg) tea.Cmd {
	if p.search.Update(p.part, msg) {
		p.logMoved()
		return nil
	}
	var cmds []tea.Cmd
	switch msg := msg.(type) {
	case tui.DeckMsg:
		cmds = append(cmds, p.take(msg.Snapshot))
	case detailsMsg:
		return p.taken(msg)
	case tui.ShowServerMsg:
		return p.showServer(msg)
	case tea.KeyPressMsg, tea.PasteMsg:
		if p.part != partFilter {
			return nil
		}
		return p.filter.Update(msg)
	case tui.ClickMsg:
		return p.click(msg)
	case tui.WheelMsg:
		return p.wheel(msg)
	}
	for _, part := range p.opts.Parts {
		cmds = append(cmds, part.Update(msg))
	}
	return tea.Batch(cmds...)
}

// take shows a new snapshot; the cursor stays on its server.
func (p *Page) take(s *snapshot.Snapshot) tea.Cmd {
	name := ""
	if was := p.server(); was != nil {
		name = was.Name
	}
	p.snap = s
	p.servers.SetLen(len(s.Servers))
	if i := p.index(name); i >= 0 {
		p.servers.MoveTo(i)
	}
	p.takeCalls()
	return p.load()
}

func (p *Page) index(name string) int {
	return slices.IndexFunc(p.snap.Servers, func(s snapshot.Server) bool { return s.Name == name })
}

// takeCalls finds the calls of the server on screen.
func (p *Page) takeCalls() {
	p.calls = p.calls[:0]
	s := p.server()
	for i := len(p.snap.Calls) - 1; i >= 0 && s != nil; i-- {
		if p.snap.Calls[i].Server == s.Name {
			p.calls = append(p.calls, p.snap.Calls[i])
		}
	}
	p.lists[partCalls].SetLen(len(p.calls))
}

func (p *Page) server() *snapshot.Server { return widget.Selected(&p.servers, p.snap.Servers) }

// moved shows the card of the server under the cursor.
func (p *Page) moved() tea.Cmd {
	if s := p.server(); s == nil || s.Name == p.of {
		return nil
	}
	p.of, p.details, p.rows, p.end, p.logOf = "", snapshot.Details{}, nil, true, ""
	p.search.Stop()
	p.filter.SetText("")
	for _, l := range p.lists {
		l.SetLen(0)
	}
	p.takeCalls()
	return p.load()
}

// load asks for the details, one at a time.
func (p *Page) load() tea.Cmd {
	s := p.server()
	if s == nil || !p.shown || p.opts.Cards == nil {
		return nil
	}
	if p.loading {
		p.again = true
		return nil
	}
	p.loading = true
	name, cards := s.Name, p.opts.Cards
	return func() tea.Msg {
		d, _ := cards.Details(name) // one that is gone is not in the next snapshot
		return detailsMsg{name, d}
	}
}

func (p *Page) taken(msg detailsMsg) tea.Cmd {
	p.loading = false
	stale := p.again
	p.again = false
	s := p.server()
	if s == nil {
		return nil
	}
	if s.Name == msg.name {
		p.of, p.details = msg.name, msg.Details
		p.lists[partResources].SetLen(len(p.details.Resources))
		p.lists[partPrompts].SetLen(len(p.details.Prompts))
		p.lists[partChildren].SetLen(len(p.details.Children))
		if !slices.Contains(p.panes(), p.pane) { // what it showed is gone
			p.focusInstead()
		}
		p.arrange()
	}
	if stale || s.Name != msg.name {
		return p.load()
	}
	return nil
}

func (p *Page) showServer(msg tui.ShowServerMsg) tea.Cmd {
	i := p.index(msg.Name)
	if i >= 0 {
		p.servers.MoveTo(i)
		p.part, p.pane = partCards, partTools
	}
	cmd := p.moved()
	if i >= 0 && msg.TurnOn && p.opts.Cards != nil {
		cmd = tea.Batch(cmd, turnOn(p.opts.Cards, msg.Name, msg.Lazy, ""))
	}
	return cmd
}

// panes are the lists that the card has.
func (p *Page) panes() []string {
	out := []string{partTools}
	if len(p.details.Resources) > 0 || p.without(partResources) {
		out = append(out, partResources)
	}
	if len(p.details.Prompts) > 0 || p.without(partPrompts) {
		out = append(out, partPrompts)
	}
	if len(p.details.Children) > 0 {
		out = append(out, partChildren)
	}
	return append(out, partCalls, partLog)
}

// without reports whether the user has turned off what a list of the card has.
func (p *Page) without(pane string) bool {
	return slices.Contains(p.details.Without, snapshot.Kind(pane))
}

// focusInstead shows the tools where there is no list of what was shown.
func (p *Page) focusInstead() {
	if p.part == p.pane {
		p.part = partTools
	}
	p.pane = partTools
}

// next gives the focus to another part.
func (p *Page) next(d int) {
	p.focus(tui.Next(append([]string{partCards}, p.panes()...), p.part, d))
}

func (p *Page) focus(part string) {
	p.part = part
	if part != partCards && part != partFilter {
		p.pane = part
	}
}

// click gives the focus; a click on the row under the cursor opens it.
func (p *Page) click(c tui.ClickMsg) tea.Cmd {
	a, run := p.areas.Click(c.X, c.Y)
	if a == nil {
		return run
	}
	focus := p.part == a.Part
	p.search.Keep()
	p.focus(a.Part)
	l := &p.servers
	if a.Part != partCards {
		if l = p.lists[a.Part]; l == nil {
			return nil
		}
	}
	before := l.Cursor
	if !l.Click(c.Y - a.Y) {
		return nil
	}
	if a.Part == partCards && before != l.Cursor {
		return p.moved()
	}
	if focus && before == l.Cursor {
		return p.open()
	}
	return nil
}

func (p *Page) wheel(m tui.WheelMsg) tea.Cmd {
	a := p.areas.At(m.X, m.Y)
	switch {
	case a == nil, a.Run != nil:
	case a.Part == partCards:
		p.servers.Scroll(m.Delta)
		return p.moved()
	case a.Part == partLog:
		p.log.Move(m.Delta)
		p.logMoved()
	default:
		p.lists[a.Part].Scroll(m.Delta)
	}
	return nil
}

func (p *Page) logMoved() {
	_, below := p.log.Hidden()
	p.end = below == 0
}

// title is what the user calls the server.
func title(s *snapshot.Server) string { return sanitize.Line(s.Title) }

// Legend explains the lamps of the servers, and the marks of calls.
func (p *Page) Legend(th *theme.Theme) []tui.Sign {
	servers := tui.ServerLegend(th)
	return append(servers, slices.DeleteFunc(tui.CallLegend(th), func(s tui.Sign) bool { // both fail
		return slices.ContainsFunc(servers, func(o tui.Sign) bool { return ansi.Strip(o.Mark) == ansi.Strip(s.Mark) })
	})...)
}
