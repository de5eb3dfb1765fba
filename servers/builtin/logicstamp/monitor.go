package logicstamp

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/store"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/watch"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// Limits of the monitors.
const (
	maxMonitors = 4
	quietTime   = 500 * time.Millisecond
	minPause    = time.Second
	maxPause    = 10 * time.Minute
)

// MonitorArgs are the arguments of Monitor.
type MonitorArgs struct {
	// Action is start, stop or status.
	Action, Project, Baseline string
	MinIntervalMs             int
}

// MonitorState tells how a project's monitor is.
type MonitorState struct {
	Action      string    `json:"action"`
	ProjectPath string    `json:"projectPath"`
	Active      bool      `json:"active"`
	Baseline    string    `json:"baseline,omitempty"`
	StartedAt   time.Time `json:"startedAt,omitzero"`
	LastRunAt   time.Time `json:"lastRunAt,omitzero"`
	LastStatus  string    `json:"lastStatus,omitempty"`
	Runs        int       `json:"runs"`
	// Events counts results that differed from the one before.
	Events        int    `json:"events"`
	MinIntervalMs int    `json:"minIntervalMs,omitempty"`
	Resource      string `json:"resource"`
	Message       string `json:"message"`
}

// monitor compares a project with a fixed baseline whenever its sources change.
type monitor struct {
	comparer  *comparer
	call      Call
	project   string
	baseline  string
	ref       string // as asked for, when the baseline is a commit
	pinned    string
	interval  time.Duration
	startedAt time.Time
	cancel    context.CancelFunc
	done      chan struct{}

	mu      sync.Mutex
	runs    int
	events  int
	lastRun time.Time
	last    *compare.Result
}

// monitors are the drift monitors, by project.
type monitors struct {
	opts     *Options
	comparer *comparer
	life     *lifetime

	mu   sync.Mutex
	list map[string]*monitor
}

// DriftURI is the address of a project's drift resource.
func DriftURI(project string) string { return "logicstamp://drift/" + hashOf(project) }

// of is a project's monitor, nil for none.
func (ms *monitors) of(project string) *monitor {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	return ms.list[project]
}

// remove takes away the monitors that match, and ends them.
func (ms *monitors) remove(match func(*monitor) bool) {
	var ended []*monitor
	ms.mu.Lock()
	for project, m := range ms.list {
		if match(m) {
			ended = append(ended, m)
			delete(ms.list, project)
		}
	}
	ms.mu.Unlock()
	for _, m := range ended {
		m.end()
	}
}

// start watches a project, in place of the monitor it had.
func (ms *monitors) start(ctx context.Context, call Call, project string, args MonitorArgs) (*MonitorState, error) {
	args.Baseline = cmp.Or(args.Baseline, "snapshot")
	interval := ms.opts.MinInterval
	if args.MinIntervalMs > 0 {
		interval = time.Duration(args.MinIntervalMs) * time.Millisecond
	}
	m := &monitor{
		comparer: ms.comparer, call: Call{Root: call.Root, Refused: call.Refused, Hint: call.Hint, Client: call.Client}, project: project, baseline: args.Baseline,
		interval: min(max(interval, minPause), maxPause), startedAt: ms.opts.Now(), done: make(chan struct{}),
	}
	if err := m.fix(ctx, call); err != nil {
		return nil, err
	}
	life, cancel := context.WithCancel(context.Background())
	m.cancel = cancel
	run, end, err := ms.life.begin(life)
	if err != nil {
		cancel()
		m.unpin()
		return nil, err
	}
	ms.mu.Lock()
	if _, ok := ms.list[project]; !ok && len(ms.list) >= maxMonitors {
		ms.mu.Unlock()
		end()
		cancel()
		m.unpin()
		return nil, problem.New(problem.Busy, "stop another monitor first", "%d monitors are already running", maxMonitors)
	}
	old := ms.list[project]
	ms.list[project] = m
	if old != nil && "snapshot:"+old.pinned == m.baseline {
		m.pinned, old.pinned = old.pinned, "" // it goes on being watched
	}
	ms.mu.Unlock()
	if old != nil {
		old.end()
	}
	recovery.Go("drift monitor", func() {
		defer end()
		defer close(m.done)
		m.loop(run)
	})
	out := m.state(project, "start")
	out.Message = "watching; call logicstamp_get_last_compare_result or subscribe to the resource to see drift"
	return out, ctx.Err()
}

// fix makes the baseline one that does not move, and keeps its snapshot.
func (m *monitor) fix(ctx context.Context, call Call) error {
	if ref, ok := strings.CutPrefix(m.baseline, "git:"); ok {
		commit, err := m.comparer.ws.repo(m.project).Resolve(ctx, ref)
		if err != nil {
			return err
		}
		m.baseline, m.ref = "git:"+commit.Hash, commit.Ref
		return nil
	}
	e, _, err := m.comparer.named(call, m.project, m.baseline)
	if e == nil || err != nil {
		return err
	}
	m.baseline = "snapshot:" + e.ID
	if !m.comparer.ws.store.Pinned(e.ID) {
		m.pinned = e.ID
		return m.comparer.ws.store.Hold(e.ID)
	}
	return nil
}

func (m *monitor) unpin() {
	if m.pinned != "" {
		_ = m.comparer.ws.store.Pin(m.pinned, false)
	}
}

// end stops the monitor and waits for it.
func (m *monitor) end() {
	m.cancel()
	<-m.done
	m.unpin()
}

// state is safe on a nil monitor.
func (m *monitor) state(project, action string) *MonitorState {
	out := &MonitorState{Action: action, ProjectPath: project, Resource: DriftURI(project), Message: "no monitor is watching this project"}
	if m == nil {
		return out
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	out.Active, out.Baseline, out.StartedAt, out.MinIntervalMs = true, m.baseline, m.startedAt, int(m.interval.Milliseconds())
	out.Runs, out.Events, out.LastRunAt, out.Message = m.runs, m.events, m.lastRun, "watching"
	if m.last != nil {
		out.LastStatus = string(m.last.Status)
	}
	return out
}

// loop compares at the start and whenever the sources are quiet after a change.
func (m *monitor) loop(ctx context.Context) {
	changed := watch.Sources(ctx, m.project)
	var took time.Duration
	for {
		start := time.Now()
		m.compare(ctx)
		took = time.Since(start)
		select {
		case <-ctx.Done():
			return
		case _, ok := <-changed:
			if !ok {
				return
			}
		}
		if !awaitQuiet(ctx, changed) {
			return
		}
		if wait := time.Until(start.Add(max(m.interval, 2*took))); wait > 0 && process.Pause(ctx, wait) != nil {
			return
		}
	}
}

// awaitQuiet waits until nothing has changed for quietTime; it returns false when
// ctx ends or changed is closed.
func awaitQuiet(ctx context.Context, changed <-chan struct{}) bool {
	for {
		t := time.NewTimer(quietTime)
		select {
		case <-ctx.Done():
			t.Stop()
			return false
		case _, ok := <-changed:
			t.Stop()
			if !ok {
				return false
			}
		case <-t.C:
			return true
		}
	}
}

// compare runs once. Only a result that differs from the one before is stored
// and told.
func (m *monitor) compare(ctx context.Context) {
	start := time.Now()
	result, later, err := m.comparer.compareSides(ctx, m.call, m.project, CompareArgs{Baseline: m.baseline, Publish: new(false)})
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		result = failedResult(err)
	}
	result.Baseline, result.ProjectPath = m.baseline, m.project
	if m.ref != "" {
		result.Baseline = "git:" + m.ref
		if result.BaselineInfo != nil {
			info := *result.BaselineInfo
			info.Ref = m.ref
			result.BaselineInfo = &info
		}
	}
	result.ComparedAt, result.DurationMs = m.comparer.opts.Now().UTC(), time.Since(start).Milliseconds()
	m.mu.Lock()
	m.runs++
	m.lastRun = result.ComparedAt
	same := m.last != nil && essence(m.last) == essence(result)
	if !same {
		m.last = result
		m.events++
	}
	m.mu.Unlock()
	if !same {
		m.comparer.keep(result, later, true)
	}
}

// essence is what of a result makes it differ from another.
func essence(r *compare.Result) string {
	data, err := json.Marshal([]any{r.Status, r.ErrorCode, r.Summary, r.FolderDiffs, r.ContractChanges, r.ContentOnly, r.Coverage})
	if err != nil {
		return ""
	}
	return store.Digest(data)
}
