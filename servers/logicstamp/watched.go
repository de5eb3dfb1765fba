package logicstamp

import (
	"context"
	"path/filepath"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/manifest"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/store"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/watch"
)

// watchPatience is how long a stale context may catch up while the CLI's watch
// mode runs.
const watchPatience = 3 * time.Second

// copyWatched makes a snapshot of the context that the CLI's watch mode keeps,
// without running the CLI. It answers nil when that context is behind its
// sources and the caller did not insist.
func (s *Service) copyWatched(ctx context.Context, call Call, project string, w watch.Status, a store.Analysis, insist bool) (*Refreshed, error) {
	dir, err := s.watchDir(call, project, w)
	if err != nil {
		return nil, err
	}
	call.stage("read the watched context", 0)
	c, sources, f, err := s.awaitFresh(ctx, dir, project, a.IncludeStyle)
	if err != nil {
		return nil, err
	}
	var warnings []problem.Warning
	if f.State != fresh {
		if !insist {
			return nil, nil
		}
		warnings = append(warnings, problem.Warn(problem.WatchStale, "the watched context is behind its sources; see freshness"))
	}
	if d := c.Depth(); d > 0 {
		a.Depth = d
	}
	a.IncludeStyle = c.HasStyle()
	call.stage("store", 0)
	meta := store.Meta{Kind: store.Snapshot, Project: project, Analysis: a, Tool: c.Tool}
	entry, err := s.store.Seal(dir, namesOf(c), meta, sources, s.store.Latest(project, &a))
	if err != nil {
		return nil, err
	}
	out, err := s.describe(entry, sources, Incremental{}, warnings)
	if err != nil {
		return nil, err
	}
	out.WatchMode, out.Freshness = watchMode(w), f
	s.store.Clean()
	return out, nil
}

// watchDir is where a watch writes, if the caller may read there.
func (s *Service) watchDir(call Call, project string, w watch.Status) (string, error) {
	dir, err := filepath.EvalSymlinks(w.OutputDir)
	if err != nil {
		return w.OutputDir, nil //nolint:nilerr // reading it will say that it is not there
	}
	if dir != project && !s.allowed(call, dir) {
		return "", s.notAllowed(call, w.OutputDir)
	}
	return dir, nil
}

// awaitFresh reads a watched context whole, and waits a little for one that is
// behind its sources.
func (s *Service) awaitFresh(ctx context.Context, dir, project string, style bool) (*contract.Context, *manifest.Manifest, *compare.Freshness, error) {
	end := time.Now().Add(watchPatience)
	for {
		c, err := readSettled(ctx, dir, project)
		if err != nil {
			return nil, nil, nil, err
		}
		sources, err := s.takeManifest(ctx, project, style)
		if err != nil {
			return nil, nil, nil, err
		}
		f := s.diskFreshness(c, project, sources)
		if f.State == fresh || time.Now().After(end) {
			return c, sources, f, nil
		}
		if err := pause(ctx, 250*time.Millisecond); err != nil {
			return nil, nil, nil, err
		}
	}
}

// readSettled reads a context that another program may be writing: the index
// before and after must be the same.
func readSettled(ctx context.Context, dir, project string) (*contract.Context, error) {
	wait := 100 * time.Millisecond
	for attempt := 0; ; attempt++ {
		c, err := contract.Read(dir, contract.Options{Project: project})
		if err == nil {
			var again *contract.Context
			if again, err = contract.Read(dir, contract.Options{Project: project}); err == nil && again.CreatedAt.Equal(c.CreatedAt) {
				return again, nil
			}
		}
		if attempt == 4 || problem.CodeOf(err) == problem.ContextMissing {
			if err == nil {
				return c, nil
			}
			return nil, err
		}
		if err := pause(ctx, wait); err != nil {
			return nil, err
		}
		wait *= 2
	}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
