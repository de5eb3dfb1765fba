package logicstamp

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/store"
)

// State is what a screen shows of the service. It is not changed after it was
// handed out.
type State struct {
	// Projects are those with a snapshot or a result, the latest in use first.
	Projects []ProjectState
}

// ProjectState is one project for a user to look at.
type ProjectState struct {
	Path string
	// Results are the last comparisons, oldest first.
	Results   []*compare.Result
	Snapshots []SnapshotInfo
	Watching  bool
	// Deeper is an analysis in the background, nil for none.
	Deeper *DeeperRun
}

// Subscribe gives a channel of one slot that is told when State may have
// changed; stop ends it.
func (s *Service) Subscribe() (hint <-chan struct{}, stop func()) { return s.hints.Subscribe() }

// State collects what a screen shows. It reads the snapshot store.
func (s *Service) State() State {
	latest := map[string]time.Time{}
	results := map[string][]*compare.Result{}
	s.comparer.results.mu.Lock()
	for p, list := range s.comparer.results.byProject {
		results[p] = list
		latest[p] = list[len(list)-1].ComparedAt
	}
	s.comparer.results.mu.Unlock()
	snapshots := map[string][]SnapshotInfo{}
	for _, e := range s.workspace.store.List("", store.Snapshot) {
		snapshots[e.Project] = append(snapshots[e.Project], SnapshotInfo{e.ID, e.CreatedAt, s.workspace.store.Pinned(e.ID), e.MadeBy})
		if latest[e.Project].Before(e.CreatedAt) {
			latest[e.Project] = e.CreatedAt
		}
	}
	paths := slices.SortedFunc(maps.Keys(latest), func(a, b string) int { return latest[b].Compare(latest[a]) })
	var out State
	for _, p := range paths {
		out.Projects = append(out.Projects, ProjectState{
			Path: p, Results: results[p], Snapshots: snapshots[p], Watching: s.monitors.of(p) != nil, Deeper: s.deeper.run(p),
		})
	}
	return out
}

// person is the call of one who sits at the deck: any project may be looked at.
func person(project string) Call { return Call{Root: project} }

// CompareFor compares for a user.
func (s *Service) CompareFor(ctx context.Context, project, baseline string, force bool) (*compare.Result, error) {
	args := CompareArgs{Project: project, Baseline: baseline, IncludeUnchanged: true}
	if force {
		args.ForceRegenerate = &force
	}
	return s.Compare(ctx, person(project), args)
}

// SnapshotFor makes a snapshot for a user.
func (s *Service) SnapshotFor(ctx context.Context, project string) (id string, err error) {
	r, err := s.Refresh(ctx, person(project), RefreshArgs{Project: project})
	if err != nil {
		return "", err
	}
	return r.SnapshotID, nil
}

// MonitorFor starts or stops a project's monitor for a user; it outlives every
// connection.
func (s *Service) MonitorFor(ctx context.Context, project, baseline string, on bool) error {
	action := "stop"
	if on {
		action = "start"
	}
	_, err := s.Monitor(ctx, person(project), MonitorArgs{Action: action, Project: project, Baseline: baseline})
	s.hints.Send()
	return err
}

// PinFor pins a snapshot for a user, or lets it go.
func (s *Service) PinFor(id string, on bool) error {
	defer s.hints.Send()
	return s.workspace.store.Pin(id, on)
}

// Refs are revisions of a project that make good baselines.
func (s *Service) Refs(ctx context.Context, project string) []string {
	return s.workspace.repo(project).Refs(ctx)
}

// StopDeeper ends a project's analysis in the background and begins none again.
func (s *Service) StopDeeper(project string) { s.deeper.stop(project) }
