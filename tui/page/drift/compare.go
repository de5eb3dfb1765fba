package drift

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/tui"
)

type (
	// doneMsg ends a run: a comparison, or the making of a snapshot.
	doneMsg struct {
		run *run
		// snapshot is the one made, project its project; "" for a comparison.
		snapshot, project string
		err               error
	}
	refsMsg    struct{ refs []string }
	installMsg struct {
		version string
		err     error
	}
)

// baseline is what to compare with next: the snapshot just made, else as in the
// result on screen, else the newest snapshot, else the last commit.
func (p *Page) baseline() string {
	if p.made == p.path && p.path != "" {
		return "snapshot"
	}
	if r := p.result(); r != nil && r.Baseline != "" {
		// The snapshot on screen, whoever made it, and not the user's own.
		if i := r.BaselineInfo; i != nil && i.SnapshotID != "" {
			return "snapshot:" + i.SnapshotID
		}
		return r.Baseline
	}
	if len(p.project().Snapshots) == 0 {
		return "git:HEAD"
	}
	return "snapshot"
}

// start compares in the background.
func (p *Page) start(baseline string, force bool) tea.Cmd {
	ctx, cancel := context.WithCancel(context.Background())
	me := &run{what: "comparing with " + baselineWords(baseline), since: time.Now(), cancel: cancel}
	p.run, p.back, p.chosen, p.made = me, 0, true, ""
	project, source := p.path, p.opts.Source
	return func() tea.Msg {
		defer cancel()
		_, err := source.CompareFor(ctx, project, baseline, force)
		return doneMsg{run: me, err: err}
	}
}

// first compares a project that has a snapshot and no result yet, once, when it is looked
// at. One whose snapshot was made here is as it was.
func (p *Page) first() tea.Cmd {
	one := p.project()
	if !p.shown || p.run != nil || p.begun[p.path] || p.made == p.path || len(one.Results) > 0 || len(one.Snapshots) == 0 {
		return nil
	}
	p.begun[p.path] = true
	chosen := p.chosen
	start := p.start("snapshot", false)
	p.chosen = chosen
	return start
}

// baselineWords are a baseline without what nobody reads of an id.
func baselineWords(baseline string) string {
	if id, ok := strings.CutPrefix(baseline, "snapshot:"); ok {
		return "snapshot " + shortID(id)
	}
	return baseline
}

// stop ends what the user waits for, else the deeper analysis in the background.
func (p *Page) stop() tea.Cmd {
	if p.run != nil {
		p.run.cancel()
		return nil
	}
	project, source := p.path, p.opts.Source
	return func() tea.Msg {
		source.StopDeeper(project)
		return tui.Toast(tui.Info, "the deeper analysis was stopped")()
	}
}

// snapshot makes one in the background.
func (p *Page) snapshot() tea.Cmd {
	ctx, cancel := context.WithCancel(context.Background())
	me := &run{what: "making a snapshot", since: time.Now(), cancel: cancel}
	p.run = me
	project, source := p.path, p.opts.Source
	return tea.Batch(tui.Toast(tui.Info, "making a snapshot of "+filepath.Base(project)+"; x stops"), func() tea.Msg {
		defer cancel()
		id, err := source.SnapshotFor(ctx, project)
		return doneMsg{run: me, project: project, snapshot: id, err: err}
	})
}

func (p *Page) done(m doneMsg) tea.Cmd {
	if p.run == m.run {
		p.run = nil
	}
	switch {
	case errors.Is(m.err, context.Canceled):
		return tui.Toast(tui.Info, "stopped")
	case problem.CodeOf(m.err) == problem.CLINotFound:
		return tui.Toast(tui.Bad, "stamp command not found; press I to install it")
	case m.err != nil:
		return tui.Toast(tui.Bad, problem.Of(m.err).Text)
	case m.snapshot != "":
		p.made = m.project
		return tui.Toast(tui.Good, "snapshot made; after editing, press r to compare")
	}
	return nil
}

func (p *Page) toggleMonitor() tea.Cmd {
	on, project, baseline, source := !p.project().Watching, p.path, p.baseline(), p.opts.Source
	return func() tea.Msg {
		err := source.MonitorFor(context.Background(), project, baseline, on)
		switch {
		case err != nil:
			return tui.Toast(tui.Bad, problem.Of(err).Text)()
		case on:
			return tui.Toast(tui.Good, "monitor on: compares after every change")()
		}
		return tui.Toast(tui.Info, "monitor off")()
	}
}

func (p *Page) togglePin() tea.Cmd {
	id, source := p.snapshotID(), p.opts.Source
	on := true
	for _, s := range p.project().Snapshots {
		if s.ID == id {
			on = !s.Pinned
		}
	}
	return func() tea.Msg {
		if err := source.PinFor(id, on); err != nil {
			return tui.Toast(tui.Bad, problem.Of(err).Text)()
		}
		if on {
			return tui.Toast(tui.Good, "snapshot "+shortID(id)+" is kept")()
		}
		return tui.Toast(tui.Info, "snapshot "+shortID(id)+" may expire")()
	}
}

// missingCLI tells whether the result on screen failed for want of the command.
func (p *Page) missingCLI() bool {
	r := p.result()
	return r != nil && r.Status == compare.Failed && r.ErrorCode == problem.CLINotFound
}

// askInstall asks before anything is downloaded.
func (p *Page) askInstall() tea.Cmd {
	return tui.Open(&tui.Confirm{
		Name: "drift.install", Title: "Install stamp?",
		Text: "npm will download logicstamp-context into mcpdeck's own data folder; nothing else on this machine changes. mcpdeck then runs it to analyse projects.",
		Choices: []tui.Choice{
			{Key: "y", Text: "Install", Run: p.install},
			{Key: "n", Text: "Not now"},
		},
	})
}

func (p *Page) install() tea.Cmd {
	ctx, cancel := context.WithCancel(context.Background())
	me := &run{what: "npm install logicstamp-context", since: time.Now(), cancel: cancel}
	p.run, p.notInstalled = me, ""
	source := p.opts.Source
	return func() tea.Msg {
		defer cancel()
		_, version, err := source.InstallCLI(ctx, nil)
		return installMsg{version: version, err: err}
	}
}

func (p *Page) installed(m installMsg) tea.Cmd {
	p.run = nil
	if m.err != nil {
		p.notInstalled = problem.Of(m.err).Text
		return tui.Toast(tui.Bad, p.notInstalled)
	}
	return tea.Batch(tui.Toast(tui.Good, "stamp "+m.version+" is installed"), p.start(p.baseline(), false))
}
