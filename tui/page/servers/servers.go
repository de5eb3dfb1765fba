// Package servers is the page of the deck's servers: what each offers agents, what that
// costs them, and what the user lets through.
package servers

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/browser"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// ID is the page's name.
const ID = "servers"

// Servers are those of the deck. But for what is said, the methods may take a while.
type Servers interface {
	// TurnOn turns a server on, whose tools agents list or, on demand, search for. seen is
	// the digest of the terms that the user has been shown, "" for none. It returns a sentence
	// for the user, or "", and [snapshot.ErrNotAgreed] where they have to be shown them.
	TurnOn(name string, onDemand bool, seen string) (string, error)
	// TurnOff turns a server off, and returns a sentence as TurnOn does.
	TurnOff(name string) (string, error)
	// Restart starts a server anew; one that is on stays on.
	Restart(name string) error
	// Remove takes a server that was added out of the deck. Undo takes this change back.
	Remove(name string) (change string, err error)
	// Elsewhere plans to take a server out of the user's own files of the clients that are set
	// up with it, too; it has no Clients where none is.
	Elsewhere(name string) (Elsewhere, error)
	// RemoveElsewhere does that, if it is still what was shown. Undo takes this change back.
	RemoveElsewhere(name string, shown Elsewhere) (change string, err error)
	// Undo takes a change of files back.
	Undo(change string) error
	// Details are what there is to know about a server; false when it is gone.
	Details(name string) (snapshot.Details, bool)
	// Origins says of each server where it comes from.
	Origins() map[string]Origin
	// Offer gives agents the resources or the prompts of a server, or takes them away.
	Offer(name string, kind snapshot.Kind, offer bool) error
	// Accept offers those of the changed definitions that are as the user has seen them, and
	// returns a sentence for the user.
	Accept(name string, seen []snapshot.Held) (string, error)
	// Allow gives agents tools of a server, by the names by which it lists them, or takes
	// them away.
	Allow(name string, tools []string, allow bool) error
}

// Origin is where a server comes from, and what it lacks.
type Origin struct {
	File  string   // that configures it; "" for a part of mcpdeck
	From  []string // the clients that are set up with it, too
	Own   bool     // some of them in the user's own files
	Needs []string // names of variables and secrets that it needs and that are not set
}

// Elsewhere is what would take a server out of clients' files.
type Elsewhere struct {
	Clients []string
	Rows    []string // the files, each with the lines around the change; those that go with "- " before them
}

// Part is what a server adds to the page. It gets all messages that pages get, but no keys.
type Part interface {
	// Head is what stands first in its reading pane, in rows of w cells.
	Head(f *tui.Frame, w int) []string
	// Picture draws what stands below the text, at x, y in w × h cells; nil for nothing.
	Picture(f *tui.Frame, x, y, w, h int) []string
	// Actions act on this page; on is whether the server is the one in the reading pane.
	Actions(on func() bool) []tui.Action
	Update(msg tea.Msg) tea.Cmd
	AnyKey() tea.Cmd // as of a tui.Keyed
	// Look finds out whether the server's program is installed. Absent is false before.
	Look() tea.Cmd
	Absent() bool
}

// Options are what the page needs.
type Options struct {
	Servers   Servers
	CallsPage string          // ID of the page that shows calls
	Parts     map[string]Part // by the name of a server
	Editor    process.Command // the user's; its program is "" for none
}

// The parts of the page beside those of its browser: the log, and the filter of the tools.
const (
	partLog   = "log"
	partTools = "tools"
)

// Page is the page of servers.
type Page struct {
	browser.Browser // its list is of servers
	opts            Options
	snap            *snapshot.Snapshot
	sessions        []snapshot.Session
	list            serverList
	about           details
	tools           toolTable
	log             logView
	pane            pane
	inLog           bool // the reading pane shows the log
	shown           bool
	kept            map[string]string // digests of the changes that the user keeps hidden, by server
	undo            func() tea.Cmd    // takes the last switch back; nil for none
	sight           *tui.Sight
}

type (
	// detailsMsg is what was loaded about a server.
	detailsMsg struct {
		name string
		snapshot.Details
	}
	originsMsg map[string]Origin
	// changedMsg says that files were changed, what that did, and by which change.
	changedMsg struct{ what, change string }
)

// New makes the page.
func New(o Options) *Page {
	p := &Page{opts: o, snap: &snapshot.Snapshot{}, kept: map[string]string{}, log: logView{end: true}}
	p.Browser = browser.New(browser.Options{
		ID: ID, Moved: p.moved, Open: func() tea.Cmd { return p.open() },
	}, tui.Filter{Narrow: func() tea.Cmd { return p.arrange() }})
	p.Filter.Edit.Placeholder = "words of a server's name, or a client's"
	p.List.Close, p.Detail.Window, p.Search.Part = true, &p.pane, partLog
	p.tools.filter = tui.Filter{Part: partTools, Narrow: tui.Do(p.lay)}
	p.tools.filter.Edit.Placeholder = "words of a tool's name or description"
	return p
}

// ID implements tui.Page.
func (p *Page) ID() string { return ID }

// Title is "Servers".
func (p *Page) Title() string { return "Servers" }

// Badge is how many servers the user should look at.
func (p *Page) Badge() (n int) {
	for i := range p.snap.Servers {
		if s := &p.snap.Servers[i]; p.wants(s) {
			n++
		}
	}
	return n
}

// BadgeMark is the sign of what wants a look.
func (p *Page) BadgeMark(th *theme.Theme) (mark string, style theme.Style) { return "!", th.Warn }

// wants reports whether the user should look at a server: it has a problem, lacks something, or
// has changes to accept.
func (p *Page) wants(s *snapshot.Server) bool {
	return trouble(s) || p.changes(s) > 0 || !s.IsOn() && len(p.list.origins[s.Name].Needs) > 0
}

// changes is how many definitions of a server wait for a word of the user's.
func (p *Page) changes(s *snapshot.Server) int {
	kept, known := p.kept[s.Name], p.about.of == s.Name
	if n, of, _ := strings.Cut(kept, " "); n == strconv.Itoa(s.State.Held) && (!known || of == changed(p.about.Held)) {
		return 0
	}
	return s.State.Held
}

// FooterNote says, after an import, that nothing of it is on yet.
func (p *Page) FooterNote(int) string {
	n := 0
	for i := range p.snap.Servers {
		if s := &p.snap.Servers[i]; len(p.list.origins[s.Name].From) > 0 {
			if s.IsOn() {
				return ""
			}
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return humanize.Count(n, "server") + " imported, all off"
}

// Part is the part with the focus.
func (p *Page) Part() string { return p.tools.filter.PartAt(p.Browser.Part()) }

// TextEntry is true while a filter, or what to search for, is being typed.
func (p *Page) TextEntry() bool { return p.Focus == partTools || p.Browser.TextEntry() }

// Show loads what the page shows. The cursor starts on what the user should look at.
func (p *Page) Show() tea.Cmd {
	p.shown = true
	p.list.fold(p.snap)
	cmds := []tea.Cmd{p.arrange(), p.load()}
	if i := slices.IndexFunc(p.list.rows, func(s *snapshot.Server) bool { return p.changes(s) > 0 }); i >= 0 && p.List.Cursor <= 0 {
		cmds = append(cmds, p.Move(func() { p.List.MoveTo(i) }))
	}
	if all := p.opts.Servers; all != nil {
		cmds = append(cmds, func() tea.Msg { return originsMsg(all.Origins()) })
	}
	for _, part := range p.opts.Parts {
		cmds = append(cmds, part.Look())
	}
	return tea.Batch(cmds...)
}

// Hide stops loading.
func (p *Page) Hide() { p.shown, p.list.folded = false, nil }

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
	switch m := msg.(type) {
	case tui.ClickMsg:
		if a, run := p.Areas.Click(m.X, m.Y); a == nil || a.Part != browser.PartList {
			return tea.Batch(run, p.click(a, m.Y))
		}
	case tui.WheelMsg:
		if a := p.Areas.At(m.X, m.Y); a != nil && a.Part == partLog {
			p.log.Move(m.Delta)
			return nil
		}
	case tea.KeyPressMsg, tea.PasteMsg:
		if p.Focus == partTools {
			return p.tools.filter.Update(msg)
		}
	}
	if cmd, taken := p.Browser.Update(msg); taken {
		return cmd
	}
	var cmds []tea.Cmd
	switch msg := msg.(type) {
	case tui.DeckMsg:
		p.snap = msg.Snapshot
		cmds = append(cmds, p.arrange(), p.load())
	case tui.SessionsMsg:
		p.sessions = msg.Sessions
	case tui.SightMsg:
		p.sight = msg.Sight
	case originsMsg:
		p.list.origins = msg
		cmds = append(cmds, p.arrange())
	case detailsMsg:
		return p.loaded(msg)
	case changedMsg:
		said := func(string) tea.Cmd { return tui.Toast(tui.Good, undoable(msg.what)) }
		return p.switched(msg.what, said, func(undone string) tea.Cmd {
			return tui.Outcome(func() (string, error) { return undone, p.opts.Servers.Undo(msg.change) })
		})
	case tui.ShowServerMsg:
		return p.showServer(msg)
	}
	for _, part := range p.opts.Parts {
		absent := part.Absent()
		cmds = append(cmds, part.Update(msg))
		if part.Absent() != absent {
			cmds = append(cmds, p.arrange())
		}
	}
	return tea.Batch(cmds...)
}

// click gives a part of the reading pane the focus; a click on the row under its cursor opens it.
func (p *Page) click(a *tui.Area, y int) tea.Cmd {
	if a == nil || a.Run != nil {
		return nil
	}
	focus := p.Focus == a.Part
	p.Search.Keep()
	p.Focus = a.Part
	if a.Part == browser.PartDetail && p.pane.click(y-a.Y) && focus {
		return p.look()
	}
	return nil
}

// arrange makes the rows of the list, and leaves the cursor on its server.
func (p *Page) arrange() tea.Cmd {
	p.list.arrange(p.snap, p.Filter.Text(), p.Order, p.opts.Parts)
	at := slices.IndexFunc(p.list.rows, func(s *snapshot.Server) bool { return s.Name == p.about.at })
	p.SetLen(len(p.list.rows), at)
	return p.moved(true)
}

// server is the one under the cursor; nil where there is none.
func (p *Page) server() *snapshot.Server {
	if s := widget.Selected(&p.List, p.list.rows); s != nil {
		return *s
	}
	return nil
}

// moved shows what is known of the server under the cursor.
func (p *Page) moved(bool) tea.Cmd {
	name := ""
	if s := p.server(); s != nil {
		name = s.Name
	}
	if name == p.about.at {
		return nil
	}
	p.about = details{at: name, plumbing: p.about.plumbing, loading: p.about.loading}
	p.log, p.pane = logView{end: true}, pane{}
	p.Search.Stop()
	p.tools.filter.SetText("")
	p.lay()
	return p.load()
}

// lay makes the rows of the tools.
func (p *Page) lay() { p.tools.arrange(&p.about.Details) }

// load asks for the details, one at a time.
func (p *Page) load() tea.Cmd {
	s := p.server()
	if s == nil || !p.shown || p.opts.Servers == nil {
		return nil
	}
	if p.about.loading {
		p.about.again = true
		return nil
	}
	p.about.loading = true
	return p.reload(s.Name)
}

// reload loads the details of a server.
func (p *Page) reload(name string) tea.Cmd {
	all := p.opts.Servers
	return func() tea.Msg {
		d, _ := all.Details(name) // one that is gone is not in the next snapshot
		return detailsMsg{name, d}
	}
}

func (p *Page) loaded(msg detailsMsg) tea.Cmd {
	again := p.about.again || p.about.at != msg.name
	p.about.loading, p.about.again = false, false
	if p.about.at == msg.name {
		p.about.of, p.about.Details = msg.name, msg.Details
		p.lay()
	}
	if again {
		return p.load()
	}
	return nil
}

// showServer puts the cursor on a server.
func (p *Page) showServer(msg tui.ShowServerMsg) tea.Cmd {
	p.Filter.SetText("")
	p.list.open, p.Focus = true, browser.PartList
	cmds := []tea.Cmd{p.arrange()}
	i := slices.IndexFunc(p.list.rows, func(s *snapshot.Server) bool { return s.Name == msg.Name })
	if i < 0 {
		return tea.Batch(cmds...)
	}
	cmds = append(cmds, p.Move(func() { p.List.MoveTo(i) }))
	if msg.TurnOn && p.opts.Servers != nil {
		cmds = append(cmds, turnOn(p.opts.Servers, msg.Name, msg.Lazy, "", ""))
	}
	return tea.Batch(cmds...)
}

// look is what the page keeps between runs.
type look struct {
	tui.Order           // of the servers
	Tools     tui.Order // of the tools
	Kept      map[string]string
}

// SaveState implements tui.StateSaver.
func (p *Page) SaveState() string { return tui.EncodeState(look{p.Order, p.tools.order, p.kept}) }

// LoadState implements tui.StateSaver.
func (p *Page) LoadState(kept string) {
	var l look
	if !tui.DecodeState(kept, &l) {
		return
	}
	if tui.SortingBy(sorts(), l.By) != nil {
		p.Order = l.Order
	}
	if slices.Contains(toolSorts(), l.Tools.By) {
		p.tools.order = l.Tools
	}
	if l.Kept != nil {
		p.kept = l.Kept
	}
}

// Legend explains the signs of the servers.
func (p *Page) Legend(th *theme.Theme) []tui.Sign { return tui.ServerLegend(th) }
