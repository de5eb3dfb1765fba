package logicstamp

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/manifest"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/store"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/watch"
)

// watchPatience is how long a stale context may catch up while the CLI's watch
// mode runs.
const watchPatience = 3 * time.Second

// copyWatched makes a snapshot of the context that the CLI's watch mode keeps,
// without running the CLI. It answers nil when that context is behind its
// sources and the caller did not insist.
func (s *Service) copyWatched(ctx context.Context, call Call, project string, w watch.Status, a contract.Analysis, insist bool) (*Refreshed, error) {
	dir, err := s.workspace.watchDir(call, project, w)
	if err != nil {
		return nil, err
	}
	call.stage("read the watched context", 0)
	c, files, now, f, err := s.workspace.awaitFresh(ctx, dir, project, a.IncludeStyle)
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
	sources, _ := analysed(c, nil, now)
	entry, err := s.workspace.sealCopy(c, files, store.Meta{
		Kind: store.Snapshot, Project: project, Analysis: a, Tool: c.Tool, Owner: call.Identity, MadeBy: call.Name,
	}, sources)
	if err != nil {
		return nil, err
	}
	s.baselines.owns(call, entry)
	out, err := s.workspace.describe(entry, sources, Incremental{}, warnings)
	if err != nil {
		return nil, err
	}
	out.WatchMode, out.Freshness = watchMode(w), f
	s.baselines.cleanStore()
	return out, nil
}

// sealCopy keeps the bytes that a context was read from: its folder may hold
// others by now.
func (ws *workspace) sealCopy(c *contract.Context, files map[string][]byte, meta store.Meta, sources *manifest.Manifest) (*store.Entry, error) {
	staging, err := ws.store.Staging()
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(staging) }()
	for name, data := range files {
		full := filepath.Join(staging, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(full), 0o700)
		if err == nil {
			err = os.WriteFile(full, data, 0o600)
		}
		if err != nil {
			return nil, fmt.Errorf("copy the watched context: %w", err)
		}
	}
	return ws.store.Seal(staging, namesOf(c), meta, sources, ws.store.Latest(meta.Project, &meta.Analysis))
}

// watchDir is where a watch writes, if the caller may read there.
func (ws *workspace) watchDir(call Call, project string, w watch.Status) (string, error) {
	dir, _ := destination(w.OutputDir) // reading it will say that it is not there
	if dir != project && !ws.access.allowed(call, dir) {
		return "", ws.access.notAllowed(call, w.OutputDir)
	}
	return dir, nil
}

// awaitFresh reads a watched context whole, and waits a little for one that is
// behind its sources.
func (ws *workspace) awaitFresh(ctx context.Context, dir, project string, style bool) (*contract.Context, map[string][]byte, *manifest.Manifest, *compare.Freshness, error) {
	end := ws.opts.Now().Add(watchPatience)
	for {
		c, files, err := ws.readSettled(ctx, dir, project)
		if err != nil {
			return nil, nil, nil, nil, err
		}
		now, err := ws.takeSources(ctx, project, style)
		if err != nil {
			return nil, nil, nil, nil, err
		}
		f := ws.diskFreshness(c, project, now)
		if f.State == fresh || ws.opts.Now().After(end) {
			return c, files, now, f, nil
		}
		if err := ws.opts.Pause(ctx, 250*time.Millisecond); err != nil {
			return nil, nil, nil, nil, err
		}
	}
}

// readSettled reads a context that another program may be writing, with the
// bytes of its files: two readings must be the same.
func (ws *workspace) readSettled(ctx context.Context, dir, project string) (*contract.Context, map[string][]byte, error) {
	wait := 100 * time.Millisecond
	for attempt := 0; ; attempt++ {
		c, files, err := contract.ReadCopy(dir, contract.Options{Project: project})
		if err == nil {
			var again map[string][]byte
			if _, again, err = contract.ReadCopy(dir, contract.Options{Project: project}); err == nil && maps.EqualFunc(files, again, bytes.Equal) {
				return c, files, nil
			}
		}
		if problem.CodeOf(err) == problem.ContextMissing || attempt == 4 && err != nil {
			return nil, nil, err
		}
		if attempt == 4 {
			return nil, nil, problem.New(problem.ContextIncomplete, "call again when stamp's watch mode has written its context, or pass skipIfWatchActive: false",
				"stamp's watch mode kept writing the context in %s while it was read", dir)
		}
		if err := ws.opts.Pause(ctx, wait); err != nil {
			return nil, nil, err
		}
		wait *= 2
	}
}
