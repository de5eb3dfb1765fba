package logicstamp

import (
	"context"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/manifest"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/store"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/watch"
)

// Origin is the context that an answer is read from.
type Origin struct {
	SnapshotID  string             `json:"snapshotId,omitempty"`
	ProjectPath string             `json:"projectPath"`
	Freshness   *compare.Freshness `json:"freshness,omitempty"`
	Warnings    []problem.Warning  `json:"warnings,omitempty"`
	// Stamp changes when the context is replaced.
	Stamp string `json:"-"`
}

// source is the context that a reading tool answers from.
type source struct {
	Origin
	context *contract.Context
	sources *manifest.Manifest
	watch   *WatchMode
}

// source finds the context of a snapshot, else of a project: its own if fresh,
// else the newest kept one.
func (ws *workspace) source(ctx context.Context, call Call, snapshotID, project string) (*source, error) {
	if snapshotID != "" {
		want := ""
		if project != "" {
			full, err := ws.access.project(call, project)
			if err != nil {
				return nil, err
			}
			want = full
		}
		e, err := ws.snapshot(call, snapshotID, want)
		if err != nil {
			return nil, err
		}
		return ws.entrySource(e)
	}
	full, err := ws.access.project(call, project)
	if err != nil {
		return nil, err
	}
	now, err := ws.takeManifest(ctx, full, false)
	if err != nil {
		return nil, err
	}
	own, kept, err := ws.candidates(ctx, full, contract.Analysis{}, now)
	if err != nil {
		return nil, err
	}
	best := kept
	if best == nil || own != nil && own.freshness.State == fresh {
		best = own
	}
	if best == nil {
		_, err := contract.Read(full, contract.Options{Project: full})
		return nil, err
	}
	out := &source{Origin: Origin{ProjectPath: full, Stamp: best.context.Stamp}, context: best.context, sources: now, watch: watchMode(watch.Look(full))}
	if best.entry != nil {
		out.Stamp = best.entry.ID
		ws.store.Touch(best.entry)
	}
	if best.freshness.State != fresh {
		out.Freshness = best.freshness
		out.Warnings = append(out.Warnings, problem.Warn(problem.StaleContext, "the context is older than the sources; call logicstamp_refresh_snapshot to update it"))
	}
	out.Warnings = append(out.Warnings, best.context.Warnings...)
	return out, nil
}

func (ws *workspace) entrySource(e *store.Entry) (*source, error) {
	c, err := ws.entryContext(e, "")
	if err != nil {
		return nil, err
	}
	sources, err := ws.store.Sources(e)
	if err != nil {
		return nil, err
	}
	return &source{Origin{SnapshotID: e.ID, ProjectPath: e.Project, Warnings: c.Warnings, Stamp: e.ID}, c, sources, watchMode(watch.Look(e.Project))}, nil
}
