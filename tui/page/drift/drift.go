// Package drift is the page that shows what changed in a project's contracts
// since a baseline.
package drift

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/browser"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// ID is the page's name.
const ID = "drift"

// partTree is the part of the page that lists what changed, as keys and saved state call it.
const partTree = "tree"

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

// Page is the drift page.
type Page struct {
	browser.Browser
	history
	opts    Options
	work    work
	begun   map[string]bool // projects that were compared without a key
	all     []row           // of the result on screen
	rows    []row           // of those, what the filter lets through
	names   int             // cells of their longest name
	laid    *compare.Result // whose rows they are
	mode    mode
	details bool   // hashes, and what was compared, are shown
	fact    string // of the frame on screen, for the row above the footer
	shown   bool
	seen    map[*compare.Result]bool
}

// New makes the page.
func New(o Options) *Page {
	p := &Page{opts: o, work: work{source: o.Source}, begun: map[string]bool{}, seen: map[*compare.Result]bool{}}
	p.Browser = browser.New(browser.Options{ID: ID, List: partTree}, tui.Filter{Narrow: tui.Do(p.narrow)})
	p.List.Close = true
	p.Filter.Edit.Placeholder = "path, name, field, breaking"
	return p
}

// ID implements tui.Page.
func (p *Page) ID() string { return ID }

// Title is "Drift".
func (p *Page) Title() string { return "Drift" }

// Badge is how many changes in the newest results break what uses them.
func (p *Page) Badge() int {
	n := 0
	for _, r := range p.newest() {
		n += r.Summary.Breaking.Errors
	}
	return n
}

// BadgeMark is the sign of what breaks, red until the user has seen it.
func (p *Page) BadgeMark(th *theme.Theme) (string, theme.Style) {
	if slices.ContainsFunc(p.newest(), func(r *compare.Result) bool { return r.Summary.Breaking.Errors > 0 && !p.seen[r] }) {
		return th.Glyph.Fail, th.Bad
	}
	return th.Glyph.Fail, th.Muted
}

// HasTab reports whether something was compared.
func (p *Page) HasTab() bool {
	return slices.ContainsFunc(p.state.Projects, func(s logicstamp.ProjectState) bool { return len(s.Results) > 0 })
}

// Show looks at the newest result, from what breaks on if the user has not seen it.
func (p *Page) Show() tea.Cmd {
	p.shown = true
	if r := p.result(); r != nil && !p.seen[r] {
		p.List.MoveTo(0)
	}
	p.see()
	return p.first()
}

// see notes that the user has seen the result on screen.
func (p *Page) see() {
	if r := p.result(); r != nil && p.shown {
		p.seen = map[*compare.Result]bool{r: true}
	}
}

// Hide stops comparing by itself.
func (p *Page) Hide() { p.shown = false }

type stateMsg struct{ state logicstamp.State }

// Feed loads what the service knows.
func (p *Page) Feed() tui.Feed {
	hint, stop := p.opts.Source.Subscribe()
	return tui.Feed{Hint: hint, Stop: stop, Load: func() tea.Msg { return stateMsg{p.opts.Source.State()} }}
}

// FooterNote says what the project is compared with.
func (p *Page) FooterNote(int) string { return p.fact }

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
	case doneMsg:
		return p.done(msg)
	case refsMsg:
		return p.chooseBaseline(msg.refs)
	case installMsg:
		return p.installed(msg)
	}
	return nil
}

// lay lists the result on screen and keeps the cursor where it was.
func (p *Page) lay() {
	p.see()
	if r := p.result(); r != p.laid {
		p.laid, p.all = r, rowsOf(r)
	}
	key := ""
	if x := p.selected(); x != nil && x.weight < unseen { // what had not changed is left for what has
		key = x.key
	}
	p.rows, p.names = nil, leastNames
	query := strings.Fields(strings.ToLower(p.Filter.Text()))
	for _, x := range p.all {
		if !slices.ContainsFunc(query, func(w string) bool { return !strings.Contains(x.search, w) }) {
			p.rows = append(p.rows, x)
		}
		if len(x.words) > 0 {
			p.names = max(p.names, widget.Width(x.name))
		}
	}
	p.SetLen(len(p.rows), slices.IndexFunc(p.rows, func(x row) bool { return x.key == key }))
	if key == "" {
		p.List.MoveTo(0)
	}
}

func (p *Page) selected() *row { return widget.Selected(&p.List, p.rows) }

// narrow filters by what was typed.
func (p *Page) narrow() { p.lay() }

// leastNames is how wide the column of names is at least.
const leastNames = 9

// look is what the page keeps between runs.
type look struct{ Mode mode }

// SaveState implements tui.StateSaver.
func (p *Page) SaveState() string { return tui.EncodeState(look{p.mode}) }

// LoadState implements tui.StateSaver.
func (p *Page) LoadState(kept string) {
	var l look
	if tui.DecodeState(kept, &l) && l.Mode >= differs && l.Mode < modes {
		p.mode = l.Mode
	}
}
