// Package drift is the page that shows what changed in a project's contracts
// since a baseline.
package drift

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/process"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// ID is the page's name.
const ID = "drift"

// Source is where comparisons come from. All methods but Subscribe may take
// long and are called off the update loop.
type Source interface {
	State() logicstamp.State
	Subscribe() (hint <-chan struct{}, stop func())
	CompareFor(ctx context.Context, project, baseline string, force bool) (*compare.Result, error)
	SnapshotFor(ctx context.Context, project string) (id string, err error)
	StopDeeper(project string)
	MonitorFor(ctx context.Context, project, baseline string, on bool) error
	PinFor(id string, on bool) error
	Refs(ctx context.Context, project string) []string
	InstallCLI(ctx context.Context, progress func(line string)) (path, version string, err error)
}

// Options are what the page needs.
type Options struct {
	Source Source
	// Project is shown while no project is known: the deck's own folder.
	Project string
	// Editor is the command that opens a file; without a program there is none.
	Editor process.Command
}

// The parts of the page.
const (
	partTree   = "tree"
	partDetail = "detail"
	partFilter = "filter"
)

// wide is the width from which the detail stands beside the list, roomy the one
// from which the list gets its full share, and broad the one from which who is
// hit has a pane of its own.
const (
	wide  = 60
	roomy = 100
	broad = 160
)

// Page is the drift page.
type Page struct {
	opts  Options
	state logicstamp.State
	path  string // the project shown
	// chosen tells that the user chose it, or works with it.
	chosen bool
	back   int // results stepped back from the newest
	board  *board
	view   view
	rows   []row
	list   widget.List
	part   string
	edit   widget.Editor
	mode   mode
	theme  *theme.Theme
	w      int
	areas  tui.Areas // the list without its frame, and the details, on the frame on screen
	// from is the key of the row that a jump came from.
	from string

	scroll widget.Scroll
	search tui.Search // in the details
	drawn  drawn
	run    *run

	notInstalled string               // why the last try to install the command failed
	made         string               // project of a snapshot made since the last comparison
	begun        map[string]bool      // projects that were compared without a key
	fresh        map[string]time.Time // rows that changed, until when they are marked
	shown        bool
	unseen       int
	typeAt       int
}

// drawn is the right pane as it was drawn last.
type drawn struct {
	key   string
	board *board
	w     int
	mode  mode
	theme *theme.Theme
	lines []string
}

// run is a comparison, or other work, on its way.
type run struct {
	what   string
	since  time.Time
	cancel context.CancelFunc
}

// New makes the page.
func New(o Options) *Page {
	p := &Page{opts: o, part: partTree, view: view{closed: folded()}, fresh: map[string]time.Time{}, begun: map[string]bool{}, search: tui.Search{Part: partDetail}}
	p.edit.Placeholder = "path, name, field, sign"
	p.list.Cursor = -1
	return p
}

// ID implements tui.Page.
func (p *Page) ID() string { return ID }

// Title is "Drift".
func (p *Page) Title() string { return "Drift" }

// Badge is how many results with drift came while the page was hidden.
func (p *Page) Badge() int { return p.unseen }

// BadgeMark is the sign of what is new.
func (p *Page) BadgeMark(th *theme.Theme) (string, theme.Style) { return "+", th.Info }

// Part is the part with the focus.
func (p *Page) Part() string { return p.search.PartAt(p.part) }

// TextEntry is true while the filter, or what to search for, is being typed.
func (p *Page) TextEntry() bool { return p.part == partFilter || p.search.Typing(p.part) }

// Show clears the badge.
func (p *Page) Show() tea.Cmd {
	p.shown, p.unseen = true, 0
	return p.first()
}

// Hide lets new results count for the badge.
func (p *Page) Hide() { p.shown = false }

type stateMsg struct{ state logicstamp.State }

// Feed loads what the service knows.
func (p *Page) Feed() tui.Feed {
	hint, stop := p.opts.Source.Subscribe()
	return tui.Feed{Hint: hint, Stop: stop, Load: func() tea.Msg { return stateMsg{p.opts.Source.State()} }}
}

// FooterNote says how many rows a filter leaves and whether the monitor runs.
func (p *Page) FooterNote(int) string {
	var notes []string
	if p.project().Watching {
		notes = append(notes, "monitor on")
	}
	if p.view.narrowed() {
		notes = append(notes, "filtered")
	}
	if n := len(p.project().Results); n > 1 {
		notes = append(notes, "result "+strconv.Itoa(p.at()+1)+" of "+strconv.Itoa(n))
	}
	return strings.Join(notes, "  ")
}

// project is the one on screen.
func (p *Page) project() logicstamp.ProjectState {
	for _, one := range p.state.Projects {
		if one.Path == p.path {
			return one
		}
	}
	return logicstamp.ProjectState{Path: p.path}
}

// at is the index of the result on screen, behind how far it is from the newest.
func (p *Page) at() int     { return len(p.project().Results) - 1 - p.behind() }
func (p *Page) behind() int { return min(p.back, max(len(p.project().Results)-1, 0)) }

// result is the one on screen, nil when there is none.
func (p *Page) result() *compare.Result {
	if i := p.at(); i >= 0 {
		return p.project().Results[i]
	}
	return nil
}

// Update takes results and what is typed into the filter.
func (p *Page) Update(msg tea.Msg) tea.Cmd {
	if p.search.Update(p.part, msg) {
		return nil
	}
	switch msg := msg.(type) {
	case stateMsg:
		p.take(msg.state)
		return p.first()
	case tui.ThemeMsg:
		p.theme = msg.Theme
	case tui.SizeMsg:
		p.w = msg.W
	case doneMsg:
		return p.done(msg)
	case refsMsg:
		return p.chooseBaseline(msg.refs)
	case installMsg:
		return p.installed(msg)
	case tea.KeyPressMsg:
		if p.part == partFilter && p.edit.Key(msg) {
			p.narrow()
		}
	case tea.PasteMsg:
		if p.part == partFilter {
			p.edit.Insert(msg.Content)
			p.narrow()
		}
	case tui.ClickMsg:
		p.click(msg)
	case tui.WheelMsg:
		p.wheel(msg)
	}
	return nil
}

// take shows a new state; the selection stays on what it was.
func (p *Page) take(s logicstamp.State) {
	p.state = s
	if p.path == "" {
		p.path = p.opts.Project
	}
	// Until the user chose, a project with something to see comes first.
	if !p.chosen && len(p.project().Results) == 0 {
		for _, one := range s.Projects {
			if p.path == "" || len(one.Results) > 0 {
				p.path = one.Path
				break
			}
		}
	}
	p.lay()
}

// lay prepares the result on screen and keeps the cursor where it was.
func (p *Page) lay() {
	r := p.result()
	if r == nil {
		p.board, p.rows = nil, nil
		p.list.SetLen(0)
		return
	}
	if p.board == nil || p.board.result != r {
		old := p.board
		if !slices.ContainsFunc(p.rows, row.isChange) {
			p.rows = nil // nothing had changed: the cursor is to be on what has now
		}
		p.board = newBoard(r)
		if old != nil && old.result.ProjectPath == r.ProjectPath && p.back == 0 {
			p.mark(old)
		}
		if !p.shown && r.Status != compare.Pass {
			p.unseen++
		}
	}
	p.reflow()
}

// mark remembers for two seconds which rows a new result changed.
func (p *Page) mark(old *board) {
	until := time.Now().Add(2 * time.Second)
	p.fresh = map[string]time.Time{}
	for id := range p.board.contracts {
		if p.board.text[id] != old.text[id] {
			p.fresh["c:"+id], p.fresh["b:"+id] = until, until
		}
	}
}

// reflow lists the rows anew and finds the cursor's row again; when it is gone,
// the nearest stays.
func (p *Page) reflow() {
	key := ""
	if x, ok := p.selected(); ok {
		key = x.key
	}
	p.rows = p.board.rows(p.view)
	p.list.SetLen(len(p.rows))
	for i, x := range p.rows {
		if x.key == key || key == "" && x.isChange() {
			p.list.MoveTo(i)
			return
		}
	}
}

func (p *Page) selected() (row, bool) {
	if i := p.list.Cursor; i >= 0 && i < len(p.rows) {
		return p.rows[i], true
	}
	return row{}, false
}

// narrow filters by what was typed.
func (p *Page) narrow() {
	p.view.filter = strings.Fields(strings.ToLower(p.edit.Value()))
	if p.board != nil {
		p.reflow()
	}
}

// reveal puts the cursor on a row, also when its section is folded.
func (p *Page) reveal(key string) bool {
	for range 2 {
		for i, x := range p.rows {
			if x.key == key {
				p.list.MoveTo(i)
				p.fromTop()
				return true
			}
		}
		for key := range folded() {
			delete(p.view.closed, key)
		}
		p.reflow()
	}
	return false
}

func (p *Page) click(m tui.ClickMsg) {
	a := p.areas.At(m.X, m.Y)
	if a == nil {
		return
	}
	before, focus := p.list.Cursor, p.part == a.Part
	p.search.Keep()
	if p.part = a.Part; a.Part == partDetail {
		return
	}
	if p.list.Click(m.Y-a.Y) && focus && before == p.list.Cursor {
		p.enter()
		return
	}
	p.fromTop()
}

func (p *Page) wheel(m tui.WheelMsg) {
	if a := p.areas.At(m.X, m.Y); a != nil && a.Part == partDetail {
		p.scroll.Move(m.Delta)
		return
	}
	p.list.Scroll(m.Delta)
}

// panes are the widths of the list and of who is hit; 0 for none of its own.
func panes(w int) (tree, hit int) {
	switch {
	case w >= broad:
		return w * 3 / 10, w * 3 / 10
	case w >= roomy:
		return w * 2 / 5, 0
	}
	return max(w*2/5, 28), 0
}

// sourceFile is the file behind the selected row, "" when there is none.
func (p *Page) sourceFile() string {
	x, ok := p.selected()
	if !ok {
		return ""
	}
	switch x.kind {
	case bundleRow:
		return filepath.Join(p.path, filepath.FromSlash(x.bundle.EntryID))
	case contractRow:
		return filepath.Join(p.path, filepath.FromSlash(x.contract.EntryID))
	case signatureRow:
		return filepath.Join(p.path, filepath.FromSlash(x.signature.EntryID))
	case contentRow, uncoveredRow:
		return filepath.Join(p.path, filepath.FromSlash(x.name))
	default:
		return ""
	}
}
