package drift

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
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

// work is what the page has done in the background, one thing at a time.
type work struct {
	source Source
	run    *run // nil when nothing runs

	notInstalled string // why the last try to install the command failed
}

// run is a comparison, or other work, on its way.
type run struct {
	what   string
	since  time.Time
	cancel context.CancelFunc
}

// begin does something that can be stopped; do returns the message that ends it.
func (w *work) begin(what string, do func(ctx context.Context, me *run) tea.Msg) tea.Cmd {
	ctx, cancel := context.WithCancel(context.Background())
	me := &run{what: what, since: time.Now(), cancel: cancel}
	w.run = me
	return func() tea.Msg {
		defer cancel()
		return do(ctx, me)
	}
}

// start compares in the background.
func (p *Page) start(baseline string, force bool) tea.Cmd {
	p.back, p.chosen, p.made = 0, true, ""
	project, source := p.path, p.opts.Source
	return p.work.begin("comparing with "+baselineWords(baseline), func(ctx context.Context, me *run) tea.Msg {
		_, err := source.CompareFor(ctx, project, baseline, force)
		return doneMsg{run: me, err: err}
	})
}

// first compares a project that has a snapshot and no result yet, once, when it is looked
// at. One whose snapshot was made here is as it was.
func (p *Page) first() tea.Cmd {
	one := p.project()
	if !p.shown || p.work.run != nil || p.begun[p.path] || p.made == p.path || len(one.Results) > 0 || len(one.Snapshots) == 0 {
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
func (w *work) stop(project string) tea.Cmd {
	if w.run != nil {
		w.run.cancel()
		return nil
	}
	return func() tea.Msg {
		w.source.StopDeeper(project)
		return tui.Toast(tui.Info, "the deeper analysis was stopped")()
	}
}

// snapshot makes one in the background.
func (w *work) snapshot(project string) tea.Cmd {
	return tea.Sequence(tui.Toast(tui.Info, "making a snapshot of "+filepath.Base(project)+"; x stops"), w.begin("making a snapshot", func(ctx context.Context, me *run) tea.Msg {
		id, err := w.source.SnapshotFor(ctx, project)
		return doneMsg{run: me, project: project, snapshot: id, err: err}
	}))
}

func (p *Page) done(m doneMsg) tea.Cmd {
	if p.work.run == m.run {
		p.work.run = nil
	}
	switch {
	case errors.Is(m.err, context.Canceled):
		return tui.Toast(tui.Info, "stopped")
	case problem.CodeOf(m.err) == problem.CLINotFound:
		return tui.Toast(tui.Bad, "stamp command not found; use :install")
	case m.err != nil:
		return tui.Toast(tui.Bad, problem.Of(m.err).Text)
	case m.snapshot != "":
		p.made = m.project
		return tui.Toast(tui.Good, "snapshot made; after editing, press r to compare")
	}
	return nil
}

// monitor turns comparing after every change on or off.
func (w *work) monitor(project, baseline string, on bool) tea.Cmd {
	return func() tea.Msg {
		err := w.source.MonitorFor(context.Background(), project, baseline, on)
		switch {
		case err != nil:
			return tui.Toast(tui.Bad, problem.Of(err).Text)()
		case on:
			return tui.Toast(tui.Good, "monitor on: compares after every change")()
		}
		return tui.Toast(tui.Info, "monitor off")()
	}
}

// pin keeps a snapshot, or lets it expire.
func (w *work) pin(id string, on bool) tea.Cmd {
	return func() tea.Msg {
		if err := w.source.PinFor(id, on); err != nil {
			return tui.Toast(tui.Bad, problem.Of(err).Text)()
		}
		if on {
			return tui.Toast(tui.Good, "snapshot "+shortID(id)+" is kept")()
		}
		return tui.Toast(tui.Info, "snapshot "+shortID(id)+" may expire")()
	}
}

// askInstall asks before anything is downloaded.
func (w *work) askInstall() tea.Cmd {
	return tui.Open(&tui.Confirm{
		Name: "drift.install", Title: "Install stamp?",
		Text: "npm will download logicstamp-context into mcpdeck's own data folder; nothing else on this machine changes. mcpdeck then runs it to analyse projects.",
		Choices: []tui.Choice{
			{Key: "y", Text: "Install", Run: w.install},
			{Key: "n", Text: "Not now"},
		},
	})
}

func (w *work) install() tea.Cmd {
	w.notInstalled = ""
	return w.begin("npm install logicstamp-context", func(ctx context.Context, _ *run) tea.Msg {
		_, version, err := w.source.InstallCLI(ctx, nil)
		return installMsg{version: version, err: err}
	})
}

func (p *Page) installed(m installMsg) tea.Cmd {
	p.work.run = nil
	if m.err != nil {
		p.work.notInstalled = problem.Of(m.err).Text
		return tui.Toast(tui.Bad, p.work.notInstalled)
	}
	return tea.Batch(tui.Toast(tui.Good, "stamp "+m.version+" is installed"), p.start(p.baseline(), false))
}

// shortID is the end of a snapshot's id, which is what differs.
func shortID(id string) string {
	id = strings.TrimPrefix(id, "snap_")
	if len(id) > 7 {
		id = "…" + id[len(id)-7:]
	}
	return id
}
