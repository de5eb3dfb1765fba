package drift

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/report"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/verb"
)

// Actions are comparing, moving among changes, and what to see of them.
func (p *Page) Actions() []tui.Action {
	return slices.Concat(p.FocusActions("Read what changed", p.whyEmpty), p.viewActions(), p.compareActions(), p.changeActions(),
		p.SearchActions(), p.FilterActions("Show everything", p.whyNoResult, tui.Do(p.unfilter)), p.MoveActions(), p.ScrollActions())
}

func (p *Page) compareActions() []tui.Action {
	return []tui.Action{
		{ID: "drift.force", Title: "Analyse and compare even if nothing changed", Acts: true, Enabled: p.whyRunning, Run: func() tea.Cmd { return p.start(p.baseline(), true) }},
		{ID: "drift.baseline", Title: "Choose the baseline", Enabled: p.whyRunning, Run: p.loadRefs},
		{ID: "drift.snapshot", Title: "Make this the baseline", Verb: verb.Yes, Acts: true, Enabled: p.whyRunning, Run: p.askSnapshot},
		{ID: "drift.stop", Title: "Stop the comparison, or the deeper analysis", Hint: "stop", Verb: verb.Stop, Enabled: func() string { return tui.Because(p.work.run == nil && p.project().Deeper == nil, "nothing runs") }, Run: func() tea.Cmd { return p.work.stop(p.path) }},
		{ID: "drift.monitor", Title: "Turn comparing after every change on or off", Verb: verb.Follow, Acts: true, Enabled: p.whyNoProject, Run: func() tea.Cmd {
			return p.work.monitor(p.path, p.baseline(), !p.project().Watching)
		}},
		{ID: "drift.pin", Title: "Pin or unpin the baseline's snapshot", Acts: true, Enabled: p.whyNoSnapshot, Run: func() tea.Cmd { return p.work.pin(p.snapshotID(), !p.pinned()) }},
		{ID: "drift.install", Title: "Install stamp into mcpdeck's own folder", Verb: verb.Open, Part: partTree, Acts: true, Enabled: p.whyNoInstall, Run: p.work.askInstall},
		{ID: "drift.project", Title: "Next project", Enabled: func() string { return tui.Because(len(p.state.Projects) < 2, "there is only one project") }, Run: p.nextProject},
	}
}

func (p *Page) changeActions() []tui.Action {
	step := func(d int) func() tea.Cmd { return func() tea.Cmd { return p.Move(func() { p.List.Move(d) }) } }
	return []tui.Action{
		{ID: "drift.next", Title: "Next change", Verb: verb.Right, Moves: true, Enabled: p.whyEmpty, Run: step(1)},
		{ID: "drift.previous", Title: "Previous change", Verb: verb.Left, Moves: true, Enabled: p.whyEmpty, Run: step(-1)},
		{ID: "drift.older", Title: "Previous result", Moves: true, Enabled: func() string { return tui.Because(p.at() <= 0, "this is the oldest result") }, Run: tui.Do(func() { p.step(1) })},
		{ID: "drift.newer", Title: "Next result", Moves: true, Enabled: func() string { return tui.Because(p.behind() == 0, "this is the newest result") }, Run: tui.Do(func() { p.step(-1) })},
	}
}

func (p *Page) viewActions() []tui.Action {
	return []tui.Action{
		{ID: "drift.view", Title: "What differs, both contracts, or the source", Hint: "view", Moves: true, Verb: verb.View, Enabled: p.whyNoResult, Run: tui.Do(func() {
			p.mode = (p.mode + 1) % modes
			p.FromTop()
		})},
		{ID: "drift.compare", Title: "Compare again", Hint: "again", Verb: verb.Again, Acts: true, Enabled: p.whyRunning, Run: func() tea.Cmd { return p.start(p.baseline(), false) }},
		{ID: "drift.edit", Title: "Open the source in your editor", Hint: "edit", Verb: verb.Edit, Enabled: func() string {
			switch {
			case p.opts.Editor.Program == "":
				return "$EDITOR is not set"
			case p.sourceFile() == "":
				return "no file is selected"
			}
			return ""
		}, Run: func() tea.Cmd { return tui.Edit(p.opts.Editor, p.sourceFile()) }},
		{ID: "drift.copy", Title: "Copy what changed, the path or the hash", Hint: "copy", Verb: verb.Copy, Enabled: p.whyEmpty, Run: p.copySelected},
		{ID: "drift.message", Title: "Message to the agent", Hint: "message", Verb: verb.Message, Enabled: func() string { return tui.Because(p.agent() == "", "no agent made this baseline") }, Run: func() tea.Cmd {
			return tui.Toast(tui.Info, p.agent()+" takes messages in its own terminal: A, then J")
		}},
		{ID: "drift.details", Title: "Hashes, and what was compared", Moves: true, Verb: verb.Details, Enabled: p.whyNoResult, Run: tui.Do(func() { p.details = !p.details })},
		{ID: "drift.export", Title: "Export the result", Enabled: p.whyNoResult, Run: p.export},
		{ID: "drift.leave", Title: "Show everything", Verb: verb.Back, Part: partTree, Run: func() tea.Cmd {
			if p.Filter.Empty() {
				return tui.Home()
			}
			p.unfilter()
			return nil
		}},
	}
}

// agent is the name of the agent that made the baseline; "" if none did.
func (p *Page) agent() string {
	if r := p.result(); r != nil && r.BaselineInfo != nil && r.BaselineInfo.MadeBy != "" {
		return sanitize.Line(clients.Name(r.BaselineInfo.MadeBy))
	}
	return ""
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

func (p *Page) whyRunning() string {
	if p.work.run != nil {
		return "a comparison is already running"
	}
	return p.whyNoProject()
}

func (p *Page) whyEmpty() string { return tui.Because(len(p.rows) == 0, "nothing changed") }

// unfilter shows everything.
func (p *Page) unfilter() {
	p.Filter.SetText("")
	p.Focus = partTree
	p.lay()
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
	p.rows = nil
	p.lay()
	return tui.Toast(tui.Info, fmt.Sprintf("%s, project %d of %d", sanitize.Line(filepath.Base(p.path)), next+1, n))
}

// export offers the result as Markdown or JSON on the clipboard.
func (p *Page) export() tea.Cmd {
	r := p.result()
	return tui.Open(&tui.Confirm{
		Name: "drift.export", Title: "Export", Text: "Copy this result as Markdown, for a review, or as JSON. `mcpdeck logicstamp diff` prints the same.",
		Choices: []tui.Choice{
			{Text: "Markdown", Run: func() tea.Cmd {
				var b strings.Builder
				_ = report.Markdown(&b, r)
				return tui.Copy(b.String(), "the result as Markdown")
			}},
			{Text: "JSON", Run: func() tea.Cmd {
				data, err := json.MarshalIndent(r, "", "  ")
				if err != nil {
					return tui.Toast(tui.Bad, problem.Of(err).Text)
				}
				return tui.Copy(string(data), "the result as JSON")
			}},
		},
	})
}

// sourceFile is the file behind the selected row, "" when there is none.
func (p *Page) sourceFile() string {
	if x := p.selected(); x != nil && x.file != "" {
		return filepath.Join(p.path, filepath.FromSlash(x.file))
	}
	return ""
}

// copySelected offers the parts of a contract, and copies what is less at once.
func (p *Page) copySelected() tea.Cmd {
	x := p.selected()
	if x.contract == nil {
		return tui.Copy(strings.TrimSpace(strings.Join(append([]string{x.file, x.about}, x.items...), "\n")), "what changed")
	}
	choice := func(what, text string) tui.Choice {
		return tui.Choice{Text: "The " + what, Run: func() tea.Cmd { return tui.Copy(text, "the "+what) }}
	}
	d := &writer{th: theme.New(theme.Options{}), w: 1000}
	d.contract(x.contract, p.result())
	return tui.Open(&tui.Confirm{Name: "drift.copy", Title: "Copy", Text: sanitize.Line(x.name), Choices: []tui.Choice{
		choice("text", ansi.Strip(strings.Join(d.out, "\n"))),
		choice("path", x.file),
		choice("hash", x.contract.SemanticHashAfter),
	}})
}
