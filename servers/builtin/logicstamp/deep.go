package logicstamp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/manifest"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/store"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// A project with components that no bundle shows is analysed once more, deeper:
// in the background, since that takes several times as long as the analysis
// itself, or not at all.
const (
	deepBackground = "background"
	deepOff        = "off"
)

func deepWays() []string { return []string{deepBackground, deepOff} }

// deepNodes is more contracts than any bundle has.
const deepNodes = 100_000

// deepAnalysis sees what lies below a's depth: contracts alone, and of a profile
// that does not bound a bundle.
func deepAnalysis(a contract.Analysis) contract.Analysis {
	return contract.Analysis{Profile: "llm-chat", Mode: "none", Depth: MaxDepth, IncludeStyle: a.IncludeStyle}
}

// shows reports whether a context has a contract of every path.
func shows(c *contract.Context, paths []string) bool {
	visible := c.Visible()
	return !slices.ContainsFunc(paths, func(p string) bool { _, ok := visible[p]; return !ok })
}

// DeeperRun is an analysis in the background that reaches deeper.
type DeeperRun struct {
	// Limit is when it is given up.
	Limit  time.Duration
	cancel context.CancelFunc
}

// deepener analyses in the background what lies below the depth of a context.
type deepener struct {
	opts      *Options
	ws        *workspace
	refresher *refresher
	life      *lifetime
	changed   func()

	mu      sync.Mutex
	running map[string]*DeeperRun
	refused map[string]bool // projects that get no more
}

// later does work in the background with a project's turn, unless some is
// on its way, and tells how that stands: running, stopped or off.
func (d *deepener) later(project string, work func(ctx context.Context) error) (state string) {
	if d.opts.DeepContracts == deepOff {
		return compare.DeeperOff
	}
	d.mu.Lock()
	refused := d.refused[project]
	_, running := d.running[project]
	d.mu.Unlock()
	if refused {
		return compare.DeeperStopped
	}
	if running {
		return compare.DeeperRunning
	}
	bound, end, err := d.life.begin(context.Background())
	if err != nil {
		return compare.DeeperStopped
	}
	bound, cancel := context.WithCancel(bound)
	run := &DeeperRun{Limit: d.opts.DeepTimeout, cancel: cancel}
	d.mu.Lock()
	d.running[project] = run
	d.mu.Unlock()
	recovery.Go("analyse deeper", func() {
		defer end()
		defer cancel()
		defer d.changed()
		defer func() {
			d.mu.Lock()
			delete(d.running, project)
			d.mu.Unlock()
		}()
		turn, leave, err := d.refresher.gate.enterBackground(bound, project)
		if err != nil {
			return
		}
		defer leave()
		limited, stop := context.WithTimeout(turn, run.Limit)
		defer stop()
		if err := work(limited); err != nil && turn.Err() == nil && errors.Is(limited.Err(), context.DeadlineExceeded) {
			d.refuse(project)
		}
	})
	d.changed()
	return compare.DeeperRunning
}

// refuse has no more of a project analysed.
func (d *deepener) refuse(project string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refused[project] = true
}

// run is a project's analysis in the background, nil for none.
func (d *deepener) run(project string) *DeeperRun {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.running[project]
}

// stop ends a project's analysis in the background and begins none again.
func (d *deepener) stop(project string) {
	d.refuse(project)
	if run := d.run(project); run != nil {
		run.cancel()
	}
	d.changed()
}

// refresh sees to it that a new snapshot gets a deeper context beside it.
func (d *deepener) refresh(e *store.Entry, sources *manifest.Manifest) {
	if d.entry(e.Project, e.Analysis, sources) != nil {
		return
	}
	d.later(e.Project, func(ctx context.Context) error {
		if d.entry(e.Project, e.Analysis, sources) != nil {
			return nil
		}
		_, err := d.stampDeep(ctx, e.Project, e.Analysis, sources)
		return err
	})
}

// entry finds the deep context of a state of a project; nil for none.
func (d *deepener) entry(project string, a contract.Analysis, sources *manifest.Manifest) *store.Entry {
	want := deepAnalysis(a)
	for _, e := range d.ws.store.List(project, store.Deep) {
		then, err := d.ws.store.Sources(e)
		if err == nil && e.Analysis == want && then.Since(sources).Empty() && d.ws.store.Verify(e) == nil {
			return e
		}
	}
	return nil
}

// stampDeep analyses a project deeply and keeps the outcome if its sources are
// those of want; nil if they are not. The caller holds the project's turn.
func (d *deepener) stampDeep(ctx context.Context, project string, a contract.Analysis, want *manifest.Manifest) (*store.Entry, error) {
	program, staging, remove, err := d.refresher.prepare(ctx, Call{}, project, 0)
	if err != nil {
		return nil, err
	}
	defer remove()
	dir, deep := filepath.Join(staging, "out"), deepAnalysis(a)
	out := &stamped{nodes: deepNodes}
	moved, err := d.refresher.stampOnce(ctx, Call{}, program, project, dir, deep, out, 0)
	if err != nil || len(moved) > 0 || !out.sources.Since(want).Empty() {
		return nil, err
	}
	meta := store.Meta{Kind: store.Deep, Project: project, Analysis: deep, Tool: out.context.Tool}
	e, err := d.ws.store.Seal(dir, namesOf(out.context), meta, out.sources, nil)
	d.refresher.baselines.cleanStore()
	return e, err
}

// side reads an entry. It stays out of the cache, which is for the contexts
// that every comparison needs.
func (d *deepener) side(e *store.Entry) (compare.Side, error) {
	c, err := contract.Read(e.Dir, contract.Options{Project: e.Project})
	if err != nil {
		return compare.Side{}, fmt.Errorf("read the deep context %s: %w", e.ID, err)
	}
	sources, err := d.ws.store.Sources(e)
	return compare.Side{Context: c, Sources: sources, Profile: e.Profile}, err
}

// compare compares what a result could not see with contexts of the same
// two moments that reach deeper, where they are kept. If only that of the
// current side is missing and mayRun, it is made later, and so is a new result.
func (d *deepener) compare(project string, base, cur *side, result *compare.Result, mayRun bool) (later func(tell func(*compare.Result)) string) {
	if result.Coverage == nil || len(result.Coverage.Uncovered) == 0 {
		return nil
	}
	deepBase := base.Side
	if !shows(base.Context, result.Coverage.Uncovered) {
		e := d.entry(project, base.analysis, base.Sources)
		if e == nil {
			return nil
		}
		var err error
		if deepBase, err = d.side(e); err != nil {
			return nil // what is not covered stays so
		}
	}
	seen := slices.DeleteFunc(slices.Clone(result.Coverage.Uncovered), func(p string) bool { return !shows(deepBase.Context, []string{p}) })
	if len(seen) == 0 {
		return nil // cycles that no root reaches
	}
	if shows(cur.Context, seen) {
		compare.Deepen(result, cur.Side, deepBase, cur.Side)
		return nil
	}
	if e := d.entry(project, base.analysis, cur.Sources); e != nil {
		if deepCur, err := d.side(e); err == nil {
			compare.Deepen(result, cur.Side, deepBase, deepCur)
		}
		return nil
	}
	if !mayRun {
		return nil
	}
	return func(tell func(*compare.Result)) string {
		return d.later(project, func(ctx context.Context) error {
			e, err := d.stampDeep(ctx, project, base.analysis, cur.Sources)
			if err != nil || e == nil {
				return err
			}
			deepCur, err := d.side(e)
			if err == nil {
				tell(deepened(base, cur, deepBase, deepCur))
			}
			return err
		})
	}
}

// deepened compares anew, with what lies deeper.
func deepened(base, cur *side, deepBase, deepCur compare.Side) *compare.Result {
	r := compare.Compare(base.Side, cur.Side, compare.Options{IncludeUnchanged: true})
	compare.Deepen(r, cur.Side, deepBase, deepCur)
	return r
}
