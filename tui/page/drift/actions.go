package drift

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/report"
	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/servers/process"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// do makes an action of something that needs no command.
func do(f func()) func() tea.Cmd {
	return func() tea.Cmd { f(); return nil }
}

// Actions are comparing, moving among changes, and what to see of them.
func (p *Page) Actions() []tui.Action {
	out := slices.Concat(p.compareActions(), p.moveActions(), p.changeActions(""), p.viewActions())
	out = append(out, tui.ListActions("drift.tree", partTree, &p.list, p.fromTop)...)
	out = append(out, p.search.Actions("drift.detail")...)
	out = append(out, p.changeActions(partDetail)...) // n goes on among changes where nothing is searched for
	return append(out, tui.ScrollActions("drift.detail", partDetail, &p.scroll)...)
}

// fromTop is called when something else stands in the details.
func (p *Page) fromTop() {
	p.scroll = widget.Scroll{}
	p.search.Stop()
}

func (p *Page) compareActions() []tui.Action {
	return []tui.Action{
		{ID: "drift.compare", Title: "Compare again", Hint: "compare", Keys: []string{"r"}, Acts: true, Enabled: p.whyRunning, Run: func() tea.Cmd { return p.start(p.baseline(), false) }},
		{ID: "drift.force", Title: "Analyse and compare even if nothing changed", Keys: []string{"F"}, Acts: true, Enabled: p.whyRunning, Run: func() tea.Cmd { return p.start(p.baseline(), true) }},
		{ID: "drift.baseline", Title: "Choose the baseline", Hint: "baseline", Keys: []string{"B"}, Enabled: p.whyRunning, Run: p.loadRefs},
		{ID: "drift.snapshot", Title: "Make a snapshot to compare with later", Keys: []string{"S"}, Acts: true, Enabled: p.whyRunning, Run: p.snapshot},
		{ID: "drift.stop", Title: "Stop the comparison, or the deeper analysis", Keys: []string{"x"}, Enabled: func() string {
			if p.run == nil && p.project().Deeper == nil {
				return "nothing runs"
			}
			return ""
		}, Run: p.stop},
		{ID: "drift.monitor", Title: "Turn comparing after every change on or off", Hint: "monitor", Keys: []string{"w"}, Acts: true, Enabled: p.whyNoProject, Run: p.toggleMonitor},
		{ID: "drift.pin", Title: "Pin or unpin the baseline's snapshot", Keys: []string{"p"}, Acts: true, Enabled: p.whyNoSnapshot, Run: p.togglePin},
		{ID: "drift.install", Title: "Install stamp into mcpdeck's own folder", Keys: []string{"I"}, Acts: true, Enabled: func() string {
			if p.run != nil {
				return "a comparison is running"
			}
			return ""
		}, Run: p.askInstall},
		{ID: "drift.project", Title: "Next project", Keys: []string{"P"}, Enabled: func() string {
			if len(p.state.Projects) < 2 {
				return "there is only one project"
			}
			return ""
		}, Run: p.nextProject},
	}
}

func (p *Page) changeActions(part string) []tui.Action {
	return []tui.Action{
		{ID: "drift.next", Title: "Next change", Moves: true, Hint: "next", Keys: []string{"n"}, Part: part, Enabled: p.whyEmpty, Run: do(func() { p.seek(1, row.isChange) })},
		{ID: "drift.previous", Title: "Previous change", Moves: true, Keys: []string{"N"}, Part: part, Enabled: p.whyEmpty, Run: do(func() { p.seek(-1, row.isChange) })},
	}
}

func (p *Page) moveActions() []tui.Action {
	breaks := func(x row) bool { return x.isChange() && x.breaking > 0 }
	return []tui.Action{
		{ID: "drift.enter", Title: "Look closer", Hint: "look", Keys: []string{"enter"}, Part: partTree, Enabled: p.whyEmpty, Run: do(p.enter)},
		{ID: "drift.detail", Title: "To the details", Keys: []string{"tab"}, Part: partTree, Enabled: p.whyEmpty, Run: do(func() { p.part = partDetail })},
		{ID: "drift.tree", Title: "Back to the tree", Hint: "tree", Keys: []string{"esc", "tab", "h", "left", "shift+tab"}, Part: partDetail, Run: do(func() { p.part = partTree })},
		{ID: "drift.return", Title: "Back to before the jump", Keys: []string{"backspace"}, Run: do(p.goBack)},
		{ID: "drift.open", Title: "Unfold", Moves: true, Keys: []string{"right", "l"}, Part: partTree, Hidden: true, Run: do(func() { p.fold(true) })},
		{ID: "drift.fold", Title: "Fold", Moves: true, Keys: []string{"left", "h"}, Part: partTree, Hidden: true, Run: do(func() { p.fold(false) })},
		{ID: "drift.nextbreaking", Title: "Next breaking change", Moves: true, Keys: []string{"]"}, Enabled: p.whyEmpty, Run: do(func() { p.seek(1, breaks) })},
		{ID: "drift.previousbreaking", Title: "Previous breaking change", Moves: true, Keys: []string{"["}, Enabled: p.whyEmpty, Run: do(func() { p.seek(-1, breaks) })},
		{ID: "drift.older", Title: "Previous result", Moves: true, Keys: []string{"<"}, Enabled: func() string {
			if p.at() <= 0 {
				return "this is the oldest result"
			}
			return ""
		}, Run: do(func() { p.step(1) })},
		{ID: "drift.newer", Title: "Next result", Moves: true, Keys: []string{">"}, Enabled: func() string {
			if p.behind() == 0 {
				return "this is the newest result"
			}
			return ""
		}, Run: do(func() { p.step(-1) })},
	}
}

func (p *Page) viewActions() []tui.Action {
	return []tui.Action{
		{ID: "drift.filter", Title: "Filter", Hint: "filter", Keys: []string{"/"}, Enabled: p.whyEmptyUnfiltered, Run: do(func() { p.part = partFilter })},
		{ID: "drift.filtered", Title: "Apply the filter", Hint: "keep", Keys: []string{"enter", "down", "tab"}, Part: partFilter, InText: true, Run: do(func() { p.part = partTree })},
		{ID: "drift.unfilter", Title: "Show everything", Hint: "show all", Keys: []string{"esc"}, Part: partFilter, InText: true, Run: do(p.unfilter)},
		{ID: "drift.leave", Title: "Show everything", Keys: []string{"esc"}, Part: partTree, Run: func() tea.Cmd {
			if !p.view.narrowed() {
				return tui.Home()
			}
			p.unfilter()
			return nil
		}},
		{ID: "drift.breaking", Title: "Only breaking changes", Moves: true, Hint: "breaking", Keys: []string{"b"}, Enabled: p.whyEmptyUnfiltered, Run: do(func() {
			p.view.breaking = !p.view.breaking
			p.reflow()
		})},
		{ID: "drift.type", Title: "Only one kind of change", Moves: true, Keys: []string{"f"}, Enabled: p.whyEmptyUnfiltered, Run: p.nextType},
		{ID: "drift.unchanged", Title: "List unchanged folders", Moves: true, Keys: []string{"u"}, Enabled: p.whyEmptyUnfiltered, Run: do(func() {
			p.view.same = !p.view.same
			p.reflow()
		})},
		{ID: "drift.side", Title: "Contracts side by side", Moves: true, Keys: []string{"s"}, Run: do(func() { p.toggle(beside) })},
		{ID: "drift.raw", Title: "Whole contracts", Moves: true, Keys: []string{"R"}, Run: do(func() { p.toggle(raw) })},
		{ID: "drift.copy", Title: "Copy the path and its hash", Keys: []string{"c"}, Enabled: p.whyEmpty, Run: p.copySelected},
		{ID: "drift.export", Title: "Export the result", Keys: []string{"e"}, Enabled: p.whyNoResult, Run: p.export},
		{ID: "drift.edit", Title: "Open the source in your editor", Keys: []string{"o"}, Enabled: func() string {
			switch {
			case p.opts.Editor.Program == "":
				return "$EDITOR is not set"
			case p.sourceFile() == "":
				return "no file is selected"
			}
			return ""
		}, Run: p.openEditor},
	}
}

func (p *Page) whyRunning() string {
	if p.run != nil {
		return "a comparison is already running"
	}
	return p.whyNoProject()
}

func (p *Page) whyNoProject() string {
	if p.path == "" {
		return "there is no project yet"
	}
	return ""
}

func (p *Page) whyNoResult() string {
	if p.result() == nil {
		return "nothing compared yet"
	}
	return ""
}

func (p *Page) whyEmpty() string {
	if len(p.rows) == 0 {
		return "nothing to show"
	}
	return ""
}

func (p *Page) whyEmptyUnfiltered() string {
	if r := p.result(); p.board == nil || r == nil {
		return "nothing compared yet"
	} else if r.Status == compare.Failed {
		return "the comparison failed"
	}
	return ""
}

// snapshotID is the snapshot of the result's baseline, else the newest.
func (p *Page) snapshotID() string {
	if r := p.result(); r != nil && r.BaselineInfo != nil && r.BaselineInfo.SnapshotID != "" {
		return r.BaselineInfo.SnapshotID
	}
	if list := p.project().Snapshots; len(list) > 0 {
		return list[0].ID
	}
	return ""
}

func (p *Page) whyNoSnapshot() string {
	if p.snapshotID() == "" {
		return "no snapshot; S makes one"
	}
	return ""
}

// enter looks closer: it unfolds, jumps from a root to what changed it, or goes
// to the details.
func (p *Page) enter() {
	x, ok := p.selected()
	if !ok {
		return
	}
	if x.opens {
		p.fold(!x.open)
		return
	}
	if x.kind == bundleRow && x.bundle.Type == compare.HashChanged && x.bundle.Details != nil && len(x.bundle.Details.ChangedDependencies) > 0 {
		from := x.key
		if p.reveal("c:" + p.cause(x.bundle.Details.ChangedDependencies)) {
			p.from = from
			return
		}
	}
	p.part = partDetail
}

// cause is the dependency to look at first: one that breaks, else the first.
func (p *Page) cause(deps []compare.Dependency) string {
	for _, d := range deps {
		if p.board.errors[d.EntryID] > 0 {
			return d.EntryID
		}
	}
	return deps[0].EntryID
}

func (p *Page) goBack() {
	switch {
	case p.part == partDetail && p.w < wide:
		p.part = partTree
	case p.from != "":
		p.reveal(p.from)
		p.from, p.part = "", partTree
	}
}

// fold opens or closes the row under the cursor; on a row without others below
// it, it closes the one above it, or goes to the details.
func (p *Page) fold(open bool) {
	x, ok := p.selected()
	if !ok {
		return
	}
	switch {
	case x.kind == sameRow:
		p.view.same = open
	case x.opens && x.open != open:
		if open {
			delete(p.view.closed, x.key)
		} else {
			p.view.closed[x.key] = true
		}
	case !open && x.depth > 0:
		for i := p.list.Cursor; i >= 0; i-- {
			if p.rows[i].depth == 0 {
				p.list.MoveTo(i)
				return
			}
		}
	case open && !x.opens:
		p.part = partDetail
		return
	default:
		return
	}
	p.reflow()
}

// seek moves to the next row in a direction that fits, past the ends.
func (p *Page) seek(d int, fits func(row) bool) {
	n := len(p.rows)
	for i := 1; i <= n; i++ {
		at := ((p.list.Cursor+d*i)%n + n) % n
		if fits(p.rows[at]) {
			p.list.MoveTo(at)
			p.fromTop()
			return
		}
	}
}

// step goes to an older or newer result.
func (p *Page) step(d int) {
	p.back = max(p.behind()+d, 0)
	p.lay()
}

func (p *Page) unfilter() {
	p.edit.SetValue("")
	p.view.filter, p.view.breaking, p.view.sign, p.typeAt, p.part = nil, false, 0, 0, partTree
	if p.board != nil {
		p.reflow()
	}
}

// kinds are the signs that the list is narrowed to, one after the other.
func kinds() []report.Sign {
	return []report.Sign{0, report.Added, report.Removed, report.Changed, report.Through, report.Moved, report.Unseen}
}

// look is what the page keeps between runs.
type look struct {
	Filter         string
	Kind           int
	Breaking, Same bool
	Mode           mode
	Folds          []string `json:",omitempty"` // of sections, where they are not as at first
}

// Kept implements tui.Keeper.
func (p *Page) Kept() string {
	return tui.Keep(look{p.edit.Value(), p.typeAt, p.view.breaking, p.view.same, p.mode, p.view.unusual()})
}

// Restore implements tui.Keeper.
func (p *Page) Restore(kept string) {
	var l look
	if !tui.Kept(kept, &l) || l.Kind < 0 || l.Kind >= len(kinds()) || l.Mode < unified || l.Mode > raw {
		return
	}
	p.edit.SetValue(plain.Line(l.Filter))
	p.view.filter = strings.Fields(strings.ToLower(p.edit.Value()))
	p.view.breaking, p.view.same, p.mode = l.Breaking, l.Same, l.Mode
	p.typeAt, p.view.sign = l.Kind, kinds()[l.Kind]
	for _, title := range l.Folds {
		if slices.Contains(sections(), title) {
			key := "s:" + title
			p.view.closed[key] = !folded()[key]
		}
	}
}

// nextType narrows to one sign after the other, then to none.
func (p *Page) nextType() tea.Cmd {
	signs := kinds()
	p.typeAt = (p.typeAt + 1) % len(signs)
	p.view.sign = signs[p.typeAt]
	p.reflow()
	if p.view.sign == 0 {
		return tui.Toast(tui.Info, "showing all kinds of change")
	}
	return tui.Toast(tui.Info, "only "+string(rune(p.view.sign))+"; f for the next kind")
}

func (p *Page) toggle(m mode) {
	if p.mode == m {
		m = unified
	}
	p.mode = m
	p.fromTop()
}

func (p *Page) nextProject() tea.Cmd {
	p.chosen = true
	n, next := len(p.state.Projects), 0
	for i, one := range p.state.Projects {
		if one.Path == p.path {
			next = (i + 1) % n
		}
	}
	p.path, p.back = p.state.Projects[next].Path, 0
	p.rows, p.list.Cursor = nil, -1
	p.lay()
	return tui.Toast(tui.Info, fmt.Sprintf("%s, project %d of %d", plain.Line(filepath.Base(p.path)), next+1, n))
}

func (p *Page) copySelected() tea.Cmd {
	x, _ := p.selected()
	switch x.kind {
	case bundleRow:
		return tui.Copy(strings.TrimSpace(x.bundle.EntryID+" "+x.bundle.SemanticHashAfter), "the path and hash")
	case signatureRow:
		return tui.Copy(x.signature.EntryID+" "+x.signature.After, "the signature")
	case contractRow:
		return tui.Copy(strings.TrimSpace(x.contract.EntryID+" "+x.contract.SemanticHashAfter), "the path and hash")
	default:
		return tui.Copy(x.name, "the line")
	}
}

// export offers the result as Markdown or JSON on the clipboard.
func (p *Page) export() tea.Cmd {
	r := p.result()
	return tui.Open(&tui.Confirm{
		Name: "drift.export", Title: "Export", Text: "Copy this result as Markdown, for a review, or as JSON. `mcpdeck logicstamp diff` prints the same.",
		Choices: []tui.Choice{
			{Key: "m", Text: "Markdown", Run: func() tea.Cmd {
				var b strings.Builder
				_ = report.Markdown(&b, r)
				return tui.Copy(b.String(), "the result as Markdown")
			}},
			{Key: "j", Text: "JSON", Run: func() tea.Cmd {
				data, err := json.MarshalIndent(r, "", "  ")
				if err != nil {
					return tui.Toast(tui.Bad, problem.Of(err).Text)
				}
				return tui.Copy(string(data), "the result as JSON")
			}},
		},
	})
}

func (p *Page) openEditor() tea.Cmd {
	return tea.Exec(&process.Foreground{Command: p.opts.Editor.With(p.sourceFile())}, func(err error) tea.Msg {
		if err != nil {
			return tui.Toast(tui.Bad, "the editor ended with an error: "+err.Error())()
		}
		return nil
	})
}
