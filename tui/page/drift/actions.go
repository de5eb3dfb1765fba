package drift

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/report"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/browser"
)

// Actions are comparing, moving among changes, and what to see of them.
func (p *Page) Actions() []tui.Action {
	return slices.Concat(p.compareActions(), p.moveActions(), p.changeActions(""), p.viewActions(), p.MoveActions(), p.SearchActions(),
		p.changeActions(browser.PartDetail), // n goes on among changes where nothing is searched for
		p.ScrollActions())
}

func (p *Page) compareActions() []tui.Action {
	return []tui.Action{
		{ID: "drift.compare", Title: "Compare again", Hint: "again", Keys: []string{"r"}, Acts: true, Enabled: p.whyRunning, Run: func() tea.Cmd { return p.start(p.baseline(), false) }},
		{ID: "drift.force", Title: "Analyse and compare even if nothing changed", Acts: true, Enabled: p.whyRunning, Run: func() tea.Cmd { return p.start(p.baseline(), true) }},
		{ID: "drift.baseline", Title: "Choose the baseline", Enabled: p.whyRunning, Run: p.loadRefs},
		{ID: "drift.snapshot", Title: "Make this the baseline", Keys: []string{"y"}, Acts: true, Enabled: p.whyRunning, Run: p.askSnapshot},
		{ID: "drift.stop", Title: "Stop the comparison, or the deeper analysis", Hint: "stop", Keys: []string{"x"}, Enabled: func() string { return tui.Because(p.work.run == nil && p.project().Deeper == nil, "nothing runs") }, Run: func() tea.Cmd { return p.work.stop(p.path) }},
		{ID: "drift.monitor", Title: "Turn comparing after every change on or off", Hint: "follow", Keys: []string{"f"}, Acts: true, Enabled: p.whyNoProject, Run: func() tea.Cmd {
			return p.work.monitor(p.path, p.baseline(), !p.project().Watching)
		}},
		{ID: "drift.pin", Title: "Pin or unpin the baseline's snapshot", Acts: true, Enabled: p.whyNoSnapshot, Run: func() tea.Cmd { return p.work.pin(p.snapshotID(), !p.pinned()) }},
		{ID: "drift.install", Title: "Install stamp into mcpdeck's own folder", Keys: []string{"enter"}, Part: partTree, Acts: true, Enabled: p.whyNoInstall, Run: p.work.askInstall},
		{ID: "drift.project", Title: "Next project", Enabled: func() string { return tui.Because(len(p.state.Projects) < 2, "there is only one project") }, Run: p.nextProject},
	}
}

func (p *Page) changeActions(part string) []tui.Action {
	return []tui.Action{
		{ID: "drift.next", Title: "Next change", Keys: []string{"right", "l"}, Moves: true, Part: part, Enabled: p.whyEmpty, Run: tui.Do(func() { p.seek(1, row.isChange) })},
		{ID: "drift.previous", Title: "Previous change", Keys: []string{"left", "h"}, Moves: true, Part: part, Enabled: p.whyEmpty, Run: tui.Do(func() { p.seek(-1, row.isChange) })},
	}
}

func (p *Page) moveActions() []tui.Action {
	breaks := func(x row) bool { return x.isChange() && x.breaking > 0 }
	return []tui.Action{
		{ID: "drift.enter", Title: "Look closer", Hint: "open", Keys: []string{"enter"}, Part: partTree, Enabled: p.whyEmpty, Run: tui.Do(p.enter)},
		{ID: "drift.detail", Title: "To the details", Keys: []string{"tab"}, Part: partTree, Enabled: p.whyEmpty, Run: p.Go(browser.PartDetail)},
		{ID: "drift.tree", Title: "Back to the tree", Hint: "back", Keys: []string{"esc", "tab", "shift+tab"}, Part: browser.PartDetail, Run: p.Go(partTree)},
		{ID: "drift.return", Title: "Back to before the jump", Run: tui.Do(func() { p.goBack(p.w < wide) })},
		{ID: "drift.open", Title: "Unfold", Keys: []string{"space"}, Moves: true, Part: partTree, Hidden: true, Enabled: p.whyNoFold(true), Run: tui.Do(func() { p.fold(true) })},
		{ID: "drift.fold", Title: "Fold", Keys: []string{"space"}, Moves: true, Part: partTree, Hidden: true, Enabled: p.whyNoFold(false), Run: tui.Do(func() { p.fold(false) })},
		{ID: "drift.nextbreaking", Title: "Next breaking change", Moves: true, Enabled: p.whyEmpty, Run: tui.Do(func() { p.seek(1, breaks) })},
		{ID: "drift.previousbreaking", Title: "Previous breaking change", Moves: true, Enabled: p.whyEmpty, Run: tui.Do(func() { p.seek(-1, breaks) })},
		{ID: "drift.older", Title: "Previous result", Moves: true, Enabled: func() string { return tui.Because(p.at() <= 0, "this is the oldest result") }, Run: tui.Do(func() { p.step(1) })},
		{ID: "drift.newer", Title: "Next result", Moves: true, Enabled: func() string { return tui.Because(p.behind() == 0, "this is the newest result") }, Run: tui.Do(func() { p.step(-1) })},
	}
}

func (p *Page) viewActions() []tui.Action {
	return append(p.FilterActions("Show everything", p.whyEmptyUnfiltered, tui.Do(p.unfilter)), []tui.Action{
		{ID: "drift.leave", Title: "Show everything", Keys: []string{"esc"}, Part: partTree, Run: func() tea.Cmd {
			if !p.view.narrowed() {
				return tui.Home()
			}
			p.unfilter()
			return nil
		}},
		{ID: "drift.breaking", Title: "Only breaking changes", Moves: true, Enabled: p.whyEmptyUnfiltered, Run: tui.Do(func() {
			p.view.breaking = !p.view.breaking
			p.reflow()
		})},
		{ID: "drift.type", Title: "Only one kind of change", Moves: true, Enabled: p.whyEmptyUnfiltered, Run: p.nextType},
		{ID: "drift.unchanged", Title: "List unchanged folders", Moves: true, Enabled: p.whyEmptyUnfiltered, Run: tui.Do(func() {
			p.view.same = !p.view.same
			p.reflow()
		})},
		{ID: "drift.view", Title: "What differs, contracts side by side, or whole", Hint: "view", Moves: true, Keys: []string{"v"}, Run: tui.Do(func() {
			p.mode = (p.mode + 1) % (raw + 1)
			p.FromTop()
		})},
		{ID: "drift.side", Title: "Contracts side by side", Moves: true, Run: tui.Do(func() { p.toggle(beside) })},
		{ID: "drift.raw", Title: "Whole contracts", Moves: true, Run: tui.Do(func() { p.toggle(raw) })},
		{ID: "drift.copy", Title: "Copy the path and its hash", Hint: "copy", Keys: []string{"c"}, Enabled: p.whyEmpty, Run: p.copySelected},
		{ID: "drift.export", Title: "Export the result", Enabled: p.whyNoResult, Run: p.export},
		{ID: "drift.edit", Title: "Open the source in your editor", Hint: "edit", Keys: []string{"e"}, Enabled: func() string {
			switch {
			case p.opts.Editor.Program == "":
				return "$EDITOR is not set"
			case p.sourceFile(p.path) == "":
				return "no file is selected"
			}
			return ""
		}, Run: p.openEditor},
	}...)
}

// askSnapshot asks whether to compare with the contracts as they are now from here on.
func (p *Page) askSnapshot() tea.Cmd {
	return tui.Open(&tui.Confirm{
		Name: "drift.snapshot", Title: "Make this the baseline?",
		Text: "A snapshot of the contracts as they are now is made; later changes are compared with it.",
		Choices: []tui.Choice{
			{Key: "y", Text: "Make it the baseline", Run: func() tea.Cmd { return p.work.snapshot(p.path) }},
			{Key: "n", Text: "Keep the baseline"},
		},
	})
}

// whyNoInstall says why stamp is not to be installed now.
func (p *Page) whyNoInstall() string {
	switch r := p.result(); {
	case p.work.run != nil:
		return "a comparison is running"
	case r == nil || r.Status != compare.Failed || !p.missingCLI():
		return "it is installed"
	}
	return ""
}

// whyNoFold says why the row under the cursor cannot be unfolded, or folded.
func (p *Page) whyNoFold(open bool) func() string {
	return func() string {
		x, ok := p.selected()
		return tui.Because(!ok || x.kind != sameRow && (!x.opens || x.open == open) || x.kind == sameRow && p.view.same == open, "there is nothing to fold")
	}
}

func (p *Page) whyRunning() string {
	if p.work.run != nil {
		return "a comparison is already running"
	}
	return p.whyNoProject()
}

func (p *Page) whyEmptyUnfiltered() string {
	if r := p.result(); p.board == nil || r == nil {
		return "nothing compared yet"
	} else if r.Status == compare.Failed {
		return "the comparison failed"
	}
	return ""
}

// step goes to an older or newer result.
func (p *Page) step(d int) {
	p.back = max(p.behind()+d, 0)
	p.lay()
}

func (p *Page) nextProject() tea.Cmd {
	p.chosen = true
	n := len(p.state.Projects)
	next := (p.place() + 1) % n
	p.path, p.back = p.state.Projects[next].Path, 0
	p.rows, p.List.Cursor = nil, -1
	p.lay()
	return tui.Toast(tui.Info, fmt.Sprintf("%s, project %d of %d", sanitize.Line(filepath.Base(p.path)), next+1, n))
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
	return tea.Exec(&process.Foreground{Command: p.opts.Editor.With(p.sourceFile(p.path))}, func(err error) tea.Msg {
		if err != nil {
			return tui.Toast(tui.Bad, "the editor ended with an error: "+err.Error())()
		}
		return nil
	})
}
