package logicstamp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/manifest"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/store"
	"github.com/mcpdeck/mcpdeck/servers/safe"
)

// When a snapshot of a project with components that no bundle shows is analysed
// once more, deeper: after the answer, before it, or not at all.
const (
	deepBackground = "background"
	deepInline     = "inline"
	deepOff        = "off"
)

func deepWays() []string { return []string{deepBackground, deepInline, deepOff} }

// deepNodes is more contracts than any bundle has.
const deepNodes = 100_000

// deepAnalysis sees what lies below a's depth: contracts alone, and of a profile
// that does not bound a bundle.
func deepAnalysis(a store.Analysis) store.Analysis {
	return store.Analysis{Profile: "llm-chat", Mode: "none", Depth: maxDepth, IncludeStyle: a.IncludeStyle}
}

// shows tells whether a context has a contract of every path.
func shows(c *contract.Context, paths []string) bool {
	visible := c.Visible()
	return !slices.ContainsFunc(paths, func(p string) bool { _, ok := visible[p]; return !ok })
}

// deepenRefresh sees to it that a new snapshot has a deeper context beside it.
// The caller holds the project's turn.
func (s *Service) deepenRefresh(ctx context.Context, call Call, e *store.Entry, sources *manifest.Manifest) error {
	if s.opts.DeepContracts == deepOff || s.deepEntry(e.Project, e.Analysis, sources) != nil {
		return nil
	}
	if s.opts.DeepContracts == deepInline {
		call.stage("analyse what lies deeper", 0)
		_, err := s.stampDeep(ctx, e.Project, e.Analysis, sources)
		if ctx.Err() != nil {
			return err
		}
		return nil // the snapshot is good without it
	}
	bound, end, err := s.begin(context.WithoutCancel(ctx))
	if err != nil {
		return nil //nolint:nilerr // the service is closing
	}
	safe.Go("analyse a snapshot deeper", func() {
		defer end()
		bound, leave, err := s.gate.enterBackground(bound, e.Project)
		if err != nil {
			return
		}
		defer leave()
		if s.deepEntry(e.Project, e.Analysis, sources) == nil {
			_, _ = s.stampDeep(bound, e.Project, e.Analysis, sources)
		}
	})
	return nil
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
	program, err := s.cli.Locate(ctx, project)
	if err != nil {
		return nil, err
	}
	staging, err := s.store.Staging()
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(staging) }()
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
// two moments that reach deeper, where the baseline has one. The command runs
// for the current side only when mayRun.
func (s *Service) compareDeeper(ctx context.Context, call Call, project string, base, cur *side, result *compare.Result, mayRun bool) error {
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
			return nil //nolint:nilerr // what is not covered stays so
		}
	}
	seen := slices.DeleteFunc(slices.Clone(result.Coverage.Uncovered), func(p string) bool { return !shows(deepBase.Context, []string{p}) })
	if len(seen) == 0 {
		return nil // cycles that no root reaches
	}
	deepCur := cur.Side
	if !shows(cur.Context, seen) {
		e := s.deepEntry(project, base.analysis, cur.Sources)
		if e == nil && mayRun {
			call.stage("compare what lies deeper", 0)
			var err error
			if e, err = s.stampDeepNow(ctx, project, base.analysis, cur.Sources); ctx.Err() != nil {
				return err
			}
		}
		if e == nil {
			return nil
		}
		var err error
		if deepCur, err = s.deepSide(e); err != nil {
			return nil //nolint:nilerr // as above
		}
	}
	compare.Deepen(result, cur.Side, deepBase, deepCur)
	return nil
}

// stampDeepNow is stampDeep for a caller without the project's turn.
func (s *Service) stampDeepNow(ctx context.Context, project string, a store.Analysis, want *manifest.Manifest) (*store.Entry, error) {
	leave, err := s.gate.enter(ctx, project)
	if err != nil {
		return nil, err
	}
	defer leave()
	if e := s.deepEntry(project, a, want); e != nil {
		return e, nil // made while this one waited
	}
	return s.stampDeep(ctx, project, a, want)
}
