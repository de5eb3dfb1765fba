// Package drift is the page that shows what changed in a project's contracts
// since a baseline.
package drift

import (
	"context"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
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
	*tree
	history
	opts   Options
	work   work
	begun  map[string]bool // projects that were compared without a key
	w      int
	shown  bool
	unseen int
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

// New makes the page.
func New(o Options) *Page {
	return &Page{tree: newTree(), opts: o, work: work{source: o.Source}, begun: map[string]bool{}}
}

// ID implements tui.Page.
func (p *Page) ID() string { return ID }

// Title is "Drift".
func (p *Page) Title() string { return "Drift" }

// Badge is how many results with drift came while the page was hidden.
func (p *Page) Badge() int { return p.unseen }

// BadgeMark is the sign of what is new.
func (p *Page) BadgeMark(th *theme.Theme) (string, theme.Style) { return "+", th.Info }

// HasTab reports whether something was compared.
func (p *Page) HasTab() bool {
	return slices.ContainsFunc(p.state.Projects, func(s logicstamp.ProjectState) bool { return len(s.Results) > 0 })
}

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

// Update takes results and what is typed into the filter.
func (p *Page) Update(msg tea.Msg) tea.Cmd {
	if cmd, taken := p.Browser.Update(msg); taken {
		return cmd
	}
	switch msg := msg.(type) {
	case stateMsg:
		p.take(msg.state, p.opts.Project)
		p.lay()
		return p.first()
	case tui.SizeMsg:
		p.w = msg.W
	case doneMsg:
		return p.done(msg)
	case refsMsg:
		return p.chooseBaseline(msg.refs)
	case installMsg:
		return p.installed(msg)
	}
	return nil
}

// lay prepares the result on screen and keeps the cursor where it was.
func (p *Page) lay() {
	r := p.result()
	if r == nil {
		p.board, p.rows = nil, nil
		p.List.SetLen(0)
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
