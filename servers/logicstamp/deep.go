package logicstamp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/manifest"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/store"
	"github.com/mcpdeck/mcpdeck/servers/safe"
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
func deepAnalysis(a store.Analysis) store.Analysis {
	return store.Analysis{Profile: "llm-chat", Mode: "none", Depth: MaxDepth, IncludeStyle: a.IncludeStyle}
}

// shows tells whether a context has a contract of every path.
func shows(c *contract.Context, paths []string) bool {
	visible := c.Visible()
	return !slices.ContainsFunc(paths, func(p string) bool { _, ok := visible[p]; return !ok })
}

// DeeperRun is an analysis in the background that reaches deeper.
type DeeperRun struct {
	Since time.Time
	// Limit is when it is given up.
	Limit  time.Duration
	cancel context.CancelFunc
}

// deeperRuns are the runs by project, and why there are no more of a project.
type deeperRuns struct {
	running map[string]*DeeperRun
	refused map[string]string
}

// deeperLater does work in the background with a project's turn, unless some is
// on its way, and tells how that stands: running, stopped or off.
func (s *Service) deeperLater(project string, work func(ctx context.Context) error) (state string) {
	if s.opts.DeepContracts == deepOff {
		return compare.DeeperOff
	}
	s.mu.Lock()
	_, refused := s.deeper.refused[project]
	_, running := s.deeper.running[project]
	s.mu.Unlock()
	if refused {
		return compare.DeeperStopped
	}
	if running {
		return compare.DeeperRunning
	}
	bound, end, err := s.begin(context.Background())
	if err != nil {
		return compare.DeeperStopped
	}
	bound, cancel := context.WithCancel(bound)
	run := &DeeperRun{Since: s.opts.Now(), Limit: s.opts.DeepTimeout, cancel: cancel}
	s.mu.Lock()
	s.deeper.running[project] = run
	s.mu.Unlock()
	safe.Go("analyse deeper", func() {
		defer end()
		defer cancel()
		defer s.hints.Send()
		defer func() {
			s.mu.Lock()
			delete(s.deeper.running, project)
			s.mu.Unlock()
		}()
		turn, leave, err := s.gate.enterBackground(bound, project)
		if err != nil {
			return
		}
		defer leave()
		limited, stop := context.WithTimeout(turn, run.Limit)
		defer stop()
		if err := work(limited); err != nil && turn.Err() == nil && errors.Is(limited.Err(), context.DeadlineExceeded) {
			s.refuseDeeper(project, fmt.Sprintf("it timed out after %s", run.Limit))
		}
	})
	s.hints.Send()
	return compare.DeeperRunning
}

func (s *Service) refuseDeeper(project, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deeper.refused[project] = why
}

// StopDeeper ends a project's analysis in the background and begins none again.
func (s *Service) StopDeeper(project string) {
	s.refuseDeeper(project, "the user stopped it")
	s.mu.Lock()
	run := s.deeper.running[project]
	s.mu.Unlock()
	if run != nil {
		run.cancel()
	}
	s.hints.Send()
}

// deepenRefresh sees to it that a new snapshot gets a deeper context beside it.
func (s *Service) deepenRefresh(e *store.Entry, sources *manifest.Manifest) {
	if s.deepEntry(e.Project, e.Analysis, sources) != nil {
		return
	}
	s.deeperLater(e.Project, func(ctx context.Context) error {
		if s.deepEntry(e.Project, e.Analysis, sources) != nil {
			return nil
		}
		_, err := s.stampDeep(ctx, e.Project, e.Analysis, sources)
		return err
	})
}

// deepEntry finds the deep context of a state of a project; nil for none.
func (s *Service) deepEntry(project string, a store.Analysis, sources *manifest.Manifest) *store.Entry {
	want := deepAnalysis(a)
	for _, e := range s.store.List(project, store.Deep) {
		then, err := s.store.Sources(e)
		if err == nil && e.Analysis == want && then.Since(sources).Empty() && s.store.Verify(e) == nil {
			return e
		}
	}
	return nil
}

// stampDeep analyses a project deeply and keeps the outcome if its sources are
// those of want; nil if they are not. The caller holds the project's turn.
func (s *Service) stampDeep(ctx context.Context, project string, a store.Analysis, want *manifest.Manifest) (*store.Entry, error) {
	program, staging, remove, err := s.prepare(ctx, Call{}, project, 0)
	if err != nil {
		return nil, err
	}
	defer remove()
	dir, deep := filepath.Join(staging, "out"), deepAnalysis(a)
	out := &stamped{nodes: deepNodes}
	moved, err := s.stampOnce(ctx, Call{}, program, project, dir, deep, out, 0)
	if err != nil || len(moved) > 0 || !out.sources.Since(want).Empty() {
		return nil, err
	}
	meta := store.Meta{Kind: store.Deep, Project: project, Analysis: deep, Tool: out.context.Tool}
	e, err := s.store.Seal(dir, namesOf(out.context), meta, out.sources, nil)
	s.cleanStore()
	return e, err
}

// deepSide reads an entry. It stays out of the cache, which is for the contexts
// that every comparison needs.
func (s *Service) deepSide(e *store.Entry) (compare.Side, error) {
	c, err := contract.Read(e.Dir, contract.Options{Project: e.Project})
	if err != nil {
		return compare.Side{}, fmt.Errorf("read the deep context %s: %w", e.ID, err)
	}
	sources, err := s.store.Sources(e)
	return compare.Side{Context: c, Sources: sources, Profile: e.Profile}, err
}

// compareDeeper compares what a result could not see with contexts of the same
// two moments that reach deeper, where they are kept. If only that of the
// current side is missing and mayRun, it is made later, and so is a new result.
func (s *Service) compareDeeper(project string, base, cur *side, result *compare.Result, mayRun bool) (later func(tell func(*compare.Result)) string) {
	if result.Coverage == nil || len(result.Coverage.Uncovered) == 0 {
		return nil
	}
	deepBase := base.Side
	if !shows(base.Context, result.Coverage.Uncovered) {
		e := s.deepEntry(project, base.analysis, base.Sources)
		if e == nil {
			return nil
		}
		var err error
		if deepBase, err = s.deepSide(e); err != nil {
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
	if e := s.deepEntry(project, base.analysis, cur.Sources); e != nil {
		if deepCur, err := s.deepSide(e); err == nil {
			compare.Deepen(result, cur.Side, deepBase, deepCur)
		}
		return nil
	}
	if !mayRun {
		return nil
	}
	return func(tell func(*compare.Result)) string {
		return s.deeperLater(project, func(ctx context.Context) error {
			e, err := s.stampDeep(ctx, project, base.analysis, cur.Sources)
			if err != nil || e == nil {
				return err
			}
			deepCur, err := s.deepSide(e)
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
