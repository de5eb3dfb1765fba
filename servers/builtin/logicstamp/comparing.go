package logicstamp

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/store"
)

// comparer finds what changed between a baseline and the present.
type comparer struct {
	opts      *Options
	ws        *workspace
	baselines *baselines
	refresher *refresher
	deeper    *deepener
	changed   func()
	results   results
	notify    func(r *compare.Result, monitored bool)
}

// CompareArgs are the arguments of Compare; nil means not given.
type CompareArgs struct {
	Project string
	// Baseline is disk, snapshot, snapshot:<id>, git:<ref> or a path; "" is
	// disk.
	Baseline string
	AnalysisArgs
	ForceRegenerate  *bool
	Publish          *bool
	IncludeUnchanged bool
	CleanCache       bool
}

// Compare finds what changed between a baseline and the present. An error means
// that the arguments were refused; a comparison that failed later is a result
// with the status error.
func (s *Service) Compare(ctx context.Context, call Call, args CompareArgs) (*compare.Result, error) {
	project, ctx, end, err := s.beginIn(ctx, call, args.Project)
	if err != nil {
		return nil, err
	}
	defer end()
	args.Baseline = cmp.Or(args.Baseline, "disk")
	start := time.Now()
	if args.CleanCache {
		s.refresher.clean(project, true)
	}
	result, later, err := s.comparer.compareSides(ctx, call, project, args)
	if err != nil {
		result = failedResult(err)
	}
	result.Baseline, result.ProjectPath = args.Baseline, project
	result.ComparedAt, result.DurationMs = s.opts.Now().UTC(), time.Since(start).Milliseconds()
	if errors.Is(err, context.Canceled) {
		return result, err
	}
	s.comparer.keep(result, later, false)
	return result, nil
}

// keep stores a result and tells of it, and lets what comes later begin. The
// result that comes later is stored if none came in between.
func (cp *comparer) keep(result *compare.Result, later laterFunc, monitored bool) {
	stored := make(chan struct{})
	if later != nil {
		start := time.Now()
		state := later(func(r *compare.Result) {
			<-stored
			r.Baseline, r.ProjectPath, r.BaselineInfo = result.Baseline, result.ProjectPath, result.BaselineInfo
			r.CurrentInfo, r.Freshness = result.CurrentInfo, result.Freshness
			r.ComparedAt, r.DurationMs = cp.opts.Now().UTC(), time.Since(start).Milliseconds()
			if cp.results.follow(result, r) {
				cp.tell(r, monitored)
			}
		})
		result.Coverage.Deeper = state
		if i := slices.IndexFunc(result.Warnings, func(w problem.Warning) bool { return w.Code == problem.UncoveredChanges }); i >= 0 {
			result.Warnings[i].Message += deeperWords(state)
		}
	}
	cp.results.add(result)
	close(stored)
	cp.tell(result, monitored)
}

// deeperWords say what becomes of what could not be compared.
func deeperWords(state string) string {
	switch state {
	case compare.DeeperRunning:
		return ". A deeper analysis is running in the background; call logicstamp_get_last_compare_result later for its result"
	case compare.DeeperStopped:
		return ". The deeper analysis was stopped or took too long; raise logicstamp.deep_seconds, or compare with a greater depth"
	}
	return ". The deeper analysis is turned off (logicstamp.deep_contracts)"
}

func failedResult(err error) *compare.Result {
	p := problem.Of(err)
	text := p.Text
	if p.Next != "" {
		text += ". Next: " + p.Next
	}
	return &compare.Result{
		Status: compare.Failed, Error: text, ErrorCode: p.Code, FolderDiffs: []compare.FolderDiff{},
		ContractChanges: []compare.ContractChange{}, Warnings: []problem.Warning{},
	}
}

// laterFunc begins what makes a better result, which it tells, and says how that
// stands.
type laterFunc func(tell func(*compare.Result)) (state string)

func (cp *comparer) compareSides(ctx context.Context, call Call, project string, args CompareArgs) (*compare.Result, laterFunc, error) {
	o, err := cp.bothSides(ctx, call, project, args)
	if err != nil {
		return nil, nil, err
	}
	base, cur, result := o.base, o.cur, o.result
	result.BaselineInfo, result.CurrentInfo = base.info, cur.info
	result.Freshness, result.Published = cur.freshness, cur.published
	warnings := slices.Concat(cur.warnings, base.warnings)
	if names := args.differs(base.analysis); len(names) > 0 {
		warnings = append(warnings, problem.Warn(problem.OptionsDiffer, "%s differ from those of the baseline; only what both sides record is compared", strings.Join(names, ", ")))
	}
	result.Warnings = append(warnings, result.Warnings...)
	if result.Warnings == nil {
		result.Warnings = []problem.Warning{}
	}
	return result, o.later, nil
}

// outcome is two sides and how they differ.
type outcome struct {
	base, cur *side
	result    *compare.Result
	later     laterFunc
}

// bothSides makes and compares the two sides.
func (cp *comparer) bothSides(ctx context.Context, call Call, project string, args CompareArgs) (*outcome, error) {
	if ref, ok := strings.CutPrefix(args.Baseline, "git:"); ok {
		return cp.compareGit(ctx, call, project, ref, args)
	}
	base, err := cp.baseline(call, project, args.Baseline)
	if err != nil {
		return nil, err
	}
	cur, err := cp.current(ctx, call, project, args.over(base.analysis), args.ForceRegenerate, args.Publish)
	if err != nil {
		return nil, err
	}
	for _, one := range []*side{base, cur} {
		if err := one.Context.NeedBundles(); err != nil {
			return nil, err
		}
	}
	o, err := newOutcome(ctx, call, base, cur, args)
	if err == nil {
		o.later = cp.deeper.compare(project, base, cur, o.result, given(args.ForceRegenerate, true))
	}
	return o, err
}

func newOutcome(ctx context.Context, call Call, base, cur *side, args CompareArgs) (*outcome, error) {
	call.stage("compare", 0)
	result := compare.Compare(base.Side, cur.Side, compare.Options{IncludeUnchanged: args.IncludeUnchanged, Context: ctx})
	return &outcome{base: base, cur: cur, result: result}, ctx.Err()
}

// baseline finds the side to compare with, apart from git's.
func (cp *comparer) baseline(call Call, project, name string) (*side, error) {
	e, said, err := cp.named(call, project, name)
	switch {
	case err != nil:
		return nil, err
	case e == nil:
		return cp.pathSide(call, project, name)
	}
	out, err := cp.entrySide(e)
	if said != nil && err == nil {
		out.warnings = append(out.warnings, *said)
	}
	return out, err
}

// named is the snapshot that the name of a baseline means, which becomes that of a caller
// without one; nil if the name means something else. said is as in own.
func (cp *comparer) named(call Call, project, name string) (e *store.Entry, said *problem.Warning, err error) {
	if id, is := strings.CutPrefix(name, "snapshot:"); is {
		e, err = cp.ws.snapshot(call, id, project)
	} else if name == "disk" || name == "snapshot" {
		if e, said, err = cp.baselines.own(call, project); e == nil && err == nil {
			word := map[string]string{"disk": "disk "}[name]
			err = problem.New(problem.NoSnapshot, "call logicstamp_refresh_snapshot before the edit; to see drift since a commit use baseline git:HEAD",
				"No snapshot found for %scomparison", word)
		}
	}
	if e != nil && err == nil {
		cp.baselines.adopts(call, e)
	}
	return e, said, err
}

// snapshot finds a snapshot that the caller may use; project is "" for any.
func (ws *workspace) snapshot(call Call, id, project string) (*store.Entry, error) {
	e, err := ws.store.Get(id)
	if err != nil {
		return nil, err
	}
	if project != "" && e.Project != project {
		return nil, problem.New(problem.BadArgument, "omit projectPath or pass the snapshot's", "the snapshot %s does not belong to projectPath", id)
	}
	if !ws.access.allowed(call, e.Project) {
		return nil, ws.access.notAllowed(call, e.Project)
	}
	ws.store.Touch(e)
	return e, nil
}

func (cp *comparer) entrySide(e *store.Entry) (*side, error) {
	if err := cp.ws.store.Verify(e); err != nil {
		return nil, err
	}
	cp.ws.store.Touch(e)
	c, err := cp.ws.entryContext(e, "baseline")
	if err != nil {
		return nil, err
	}
	sources, err := cp.ws.store.Sources(e)
	if err != nil {
		return nil, err
	}
	out := &side{analysis: e.Analysis, info: &compare.SideInfo{
		Kind: "snapshot", SnapshotID: e.ID, MadeBy: e.MadeBy, CreatedAt: e.CreatedAt, Tool: c.Tool, Options: &e.Analysis,
		AgeSeconds: int64(cp.opts.Now().Sub(e.CreatedAt).Seconds()),
	}}
	out.Context, out.Sources, out.Profile = c, sources, e.Profile
	return out, nil
}

// pathSide reads a baseline from a folder with an index.
func (cp *comparer) pathSide(call Call, project, name string) (*side, error) {
	full := name
	if !filepath.IsAbs(full) {
		full = filepath.Join(project, full)
	}
	full, found, err := cp.ws.access.resolve(call, full)
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, problem.New(problem.ContextMissing, "use disk, snapshot, snapshot:<id>, git:<ref> or a folder with a "+contract.IndexFile,
			"the baseline %q is not a context folder: %s not found", name, contract.IndexFile)
	}
	// The context's own word on its project wins: it may be a copy of another.
	c, err := cp.ws.diskContext(full, "", "baseline")
	if err != nil {
		return nil, err
	}
	out := &side{analysis: cp.opts.Defaults}
	out.analysis.Depth = cmp.Or(c.Depth(), out.analysis.Depth)
	out.analysis.IncludeStyle = c.HasStyle()
	out.Context = c
	out.analysis = AnalysisArgs{}.over(out.analysis)
	out.info = &compare.SideInfo{Kind: "path", Path: full, CreatedAt: c.CreatedAt, Tool: c.Tool}
	if !c.CreatedAt.IsZero() {
		out.info.AgeSeconds = int64(cp.opts.Now().Sub(c.CreatedAt).Seconds())
	}
	return out, nil
}

// maxResults is how many results a project keeps.
const maxResults = 20

// results are the last comparisons of every project, oldest first.
type results struct {
	mu        sync.Mutex
	byProject map[string][]*compare.Result
}

func (r *results) add(result *compare.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := append(r.byProject[result.ProjectPath], result)
	if len(list) > maxResults {
		list = list[len(list)-maxResults:]
	}
	r.byProject[result.ProjectPath] = slices.Clone(list)
}

// follow adds next after the result it makes better, if that is the newest
// still.
func (r *results) follow(result, next *compare.Result) bool {
	r.mu.Lock()
	list := r.byProject[result.ProjectPath]
	newest := len(list) > 0 && list[len(list)-1] == result
	r.mu.Unlock()
	if newest {
		r.add(next)
	}
	return newest
}

// FindResult is the newest stored result that matches, of a project that the
// caller may read; nil for none.
func (s *Service) FindResult(call Call, match func(*compare.Result) bool) *compare.Result {
	s.comparer.results.mu.Lock()
	defer s.comparer.results.mu.Unlock()
	var newest *compare.Result
	for project, list := range s.comparer.results.byProject {
		if !s.access.allowed(call, project) {
			continue
		}
		for _, r := range list {
			if match(r) && (newest == nil || !r.ComparedAt.Before(newest.ComparedAt)) {
				newest = r
			}
		}
	}
	return newest
}

// OnResult makes fn hear of every result that is stored, and whether a monitor
// found it. It must return at once; set it before the first call.
func (s *Service) OnResult(fn func(r *compare.Result, monitored bool)) { s.comparer.notify = fn }

func (cp *comparer) tell(result *compare.Result, monitored bool) {
	if cp.notify != nil {
		cp.notify(result, monitored)
	}
	cp.changed()
}
