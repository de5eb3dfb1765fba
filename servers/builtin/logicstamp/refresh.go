package logicstamp

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/manifest"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stampcli"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/store"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/watch"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// refresher runs the stamp command and keeps what it makes.
type refresher struct {
	ws        *workspace
	baselines *baselines
	cli       *stampcli.Runner
	gate      *gate
	flights   flights

	mu       sync.Mutex
	duration map[string]time.Duration
}

// AnalysisArgs are the analysis options of a call; nil means not given.
type AnalysisArgs struct {
	Profile      *string
	Mode         *string
	Depth        *int
	IncludeStyle *bool
}

// given is the value of an argument, or what stands for one that is not given.
func given[T any](arg *T, otherwise T) T {
	if arg != nil {
		return *arg
	}
	return otherwise
}

// over fills what was not given from base.
func (a AnalysisArgs) over(base contract.Analysis) contract.Analysis {
	if a.Profile != nil && a.Mode == nil {
		base.Mode = "" // the one that the profile means
	}
	base = contract.Analysis{
		Profile: given(a.Profile, base.Profile), Mode: given(a.Mode, base.Mode),
		Depth: given(a.Depth, base.Depth), IncludeStyle: given(a.IncludeStyle, base.IncludeStyle),
	}
	if base.Mode == "" {
		base.Mode = "header"
		if base.Profile == "ci-strict" {
			base.Mode = "none"
		}
	}
	return base
}

// differs names the given options that are not those of base.
func (a AnalysisArgs) differs(base contract.Analysis) []string {
	var out []string
	for _, option := range []struct {
		name  string
		other bool
	}{
		{"profile", given(a.Profile, base.Profile) != base.Profile},
		{"mode", given(a.Mode, base.Mode) != base.Mode},
		{"depth", given(a.Depth, base.Depth) != base.Depth},
		{"includeStyle", given(a.IncludeStyle, base.IncludeStyle) != base.IncludeStyle},
	} {
		if option.other {
			out = append(out, option.name)
		}
	}
	return out
}

// RefreshArgs are the arguments of Refresh; nil means not given.
type RefreshArgs struct {
	Project string
	AnalysisArgs
	CleanCache        bool
	Force             bool
	SkipIfWatchActive *bool
	Publish           *bool
}

// Refreshed is the result of Refresh.
type Refreshed struct {
	SnapshotID  string `json:"snapshotId"`
	ProjectPath string `json:"projectPath"`
	contract.Analysis
	CreatedAt   time.Time          `json:"createdAt"`
	Tool        string             `json:"tool"`
	Summary     RefreshSummary     `json:"summary"`
	Folders     []FolderInfo       `json:"folders"`
	Coverage    HiddenCoverage     `json:"coverage"`
	Incremental Incremental        `json:"incremental"`
	Published   bool               `json:"published"`
	Orphans     []string           `json:"orphans,omitempty"`
	WatchMode   *WatchMode         `json:"watchMode,omitempty"`
	Freshness   *compare.Freshness `json:"freshness,omitempty"`
	ExpiresAt   time.Time          `json:"expiresAt,omitzero"`
	Warnings    []problem.Warning  `json:"warnings"`
}

// RefreshSummary counts what a context holds.
type RefreshSummary struct {
	TotalComponents     int            `json:"totalComponents"`
	TotalBundles        int            `json:"totalBundles"`
	TotalFolders        int            `json:"totalFolders"`
	TotalTokenEstimate  int            `json:"totalTokenEstimate"`
	TokenEstimates      map[string]any `json:"tokenEstimates"`
	MissingDependencies []string       `json:"missingDependencies"`
	MissingTotal        int            `json:"missingTotal,omitempty"`
}

// FolderInfo is one folder of a context.
type FolderInfo struct {
	Path          string   `json:"path"`
	Bundles       int      `json:"bundles"`
	Components    []string `json:"components"`
	TokenEstimate int      `json:"tokenEstimate"`
	ContextFile   string   `json:"contextFile"`
	IsRoot        bool     `json:"isRoot"`
	RootLabel     string   `json:"rootLabel,omitempty"`
}

// HiddenCoverage tells which components no bundle shows.
type HiddenCoverage struct {
	Components int `json:"components"`
	Visible    int `json:"visible"`
	// Hidden names 50 at most; HiddenTotal counts them when there are more.
	Hidden      []string `json:"hidden"`
	HiddenTotal int      `json:"hiddenTotal,omitempty"`
}

// Incremental reports whether the CLI had to run.
type Incremental struct {
	Reused       bool     `json:"reused"`
	BasedOn      string   `json:"basedOn,omitempty"`
	ChangedFiles []string `json:"changedFiles,omitempty"`
	NewFiles     []string `json:"newFiles,omitempty"`
	DeletedFiles []string `json:"deletedFiles,omitempty"`
}

// WatchMode is the state of the command's own watch mode.
type WatchMode struct {
	Active      bool      `json:"active"`
	Message     string    `json:"message"`
	PID         int       `json:"pid,omitempty"`
	StartedAt   time.Time `json:"startedAt,omitzero"`
	StrictWatch *bool     `json:"strictWatch,omitempty"`
}

func watchMode(w watch.Status) *WatchMode {
	if !w.Active {
		return nil
	}
	return &WatchMode{
		Active: true, PID: w.PID, StartedAt: w.StartedAt, StrictWatch: w.StrictWatch,
		Message: "stamp watches this project; its context can lag behind an edit by seconds, so look at freshness",
	}
}

// Refresh makes a snapshot of a project: a copy of its context with the hashes
// of its sources. The CLI runs only when the newest snapshot does not already
// say the same.
func (s *Service) Refresh(ctx context.Context, call Call, args RefreshArgs) (*Refreshed, error) {
	project, ctx, end, err := s.beginIn(ctx, call, args.Project)
	if err != nil {
		return nil, err
	}
	defer end()
	a := args.over(s.opts.Defaults)
	w := watch.Look(project)
	if w.Active && given(args.SkipIfWatchActive, true) {
		out, err := s.copyWatched(ctx, call, project, w, a, args.SkipIfWatchActive != nil)
		if out != nil || err != nil {
			return out, err
		}
	}
	if args.CleanCache {
		s.refresher.clean(project, true)
	}
	made, err := s.refresher.analyse(ctx, call, project, a, args.Force)
	if err != nil {
		return nil, err
	}
	entry, err := s.refresher.snapshotOf(call, made)
	if err != nil {
		return nil, err
	}
	out, err := s.workspace.describe(entry, made.sources, made.inc, made.warnings)
	if err != nil {
		return nil, err
	}
	out.WatchMode = watchMode(w)
	if len(made.doubt) > 0 {
		out.Freshness = freshnessOf(manifest.Changes{Changed: made.doubt})
	}
	if given(args.Publish, s.opts.Publish) && !w.Active {
		c, err := s.workspace.entryContext(entry, "")
		if err != nil {
			return nil, err
		}
		warnings, orphans, err := s.refresher.publish(ctx, call, entry, c, made.sources)
		if err != nil {
			return nil, err
		}
		out.Published, out.Orphans = true, orphans
		out.Warnings = append(out.Warnings, warnings...)
	}
	if len(out.Coverage.Hidden) > 0 {
		s.deeper.refresh(entry, made.sources)
	}
	s.baselines.cleanStore()
	s.hints.Send()
	return out, nil
}

// snapshotOf makes the caller's own snapshot of what was analysed, which is
// their baseline from then on.
func (rf *refresher) snapshotOf(call Call, made *stamped) (*store.Entry, error) {
	entry, err := rf.ws.store.Again(made.entry, made.sources, call.Identity, call.Name)
	if err != nil {
		return nil, err
	}
	if made.context != nil {
		c := *made.context
		c.Dir = entry.Dir
		rf.ws.contexts.put(entry.Dir, &c)
	}
	rf.baselines.owns(call, entry)
	return entry, nil
}

// analyse gives a kept context of a project as it is: an old one that still
// says the same unless force, else a new one. Callers that want the same at the
// same time share it.
func (rf *refresher) analyse(ctx context.Context, call Call, project string, a contract.Analysis, force bool) (*stamped, error) {
	for {
		made, joined, err := share(ctx, &rf.flights, runKey(project, a, force), call, func(ctx context.Context, call Call) (*stamped, error) {
			leave, err := rf.gate.enter(ctx, project)
			if err != nil {
				return nil, err
			}
			defer leave()
			rf.clean(project, false)
			inc, old, err := rf.reuse(ctx, project, a, force)
			if old != nil || err != nil {
				return old, err
			}
			made, err := rf.stamp(ctx, call, project, a)
			if made != nil {
				made.inc = inc
			}
			return made, err
		})
		if err != nil || !joined {
			return made, err
		}
		// What changed before this caller came may have been read before it did.
		now, err := rf.ws.takeSources(ctx, project, a.IncludeStyle)
		if err != nil || now.Since(made.sources).Empty() || len(made.doubt) > 0 {
			return made, err
		}
	}
}

// publish writes a kept context into its project, when no analysis of that runs.
func (rf *refresher) publish(ctx context.Context, call Call, e *store.Entry, c *contract.Context, sources *manifest.Manifest) (warnings []problem.Warning, orphans []string, err error) {
	leave, err := rf.gate.enter(ctx, e.Project)
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	call.stage("publish", 0)
	return rf.ws.publish(ctx, e, c, sources)
}

func runKey(project string, a contract.Analysis, force bool) string {
	return fmt.Sprintf("%s\x00%+v %v", project, a, force)
}

// reuse finds the newest context when options and sources are the same; else it
// tells what changed.
func (rf *refresher) reuse(ctx context.Context, project string, a contract.Analysis, force bool) (Incremental, *stamped, error) {
	last := rf.ws.store.Latest(project, &a)
	if last == nil {
		return Incremental{}, nil, nil
	}
	then, err := rf.ws.store.Sources(last)
	if err != nil {
		return Incremental{}, nil, nil //nolint:nilerr // an unreadable old snapshot is no reason to refuse a new one
	}
	now, err := rf.ws.takeSources(ctx, project, a.IncludeStyle)
	if err != nil {
		return Incremental{}, nil, err
	}
	changes := now.Since(then)
	if force || !changes.Empty() || rf.ws.store.Verify(last) != nil || !rf.sameTool(ctx, project, last) {
		f := freshnessOf(changes)
		return Incremental{ChangedFiles: f.ChangedFiles, NewFiles: f.NewFiles, DeletedFiles: f.DeletedFiles}, nil, nil
	}
	return Incremental{}, &stamped{entry: last, sources: now, warnings: leftOut(now), inc: Incremental{Reused: true, BasedOn: last.ID}}, nil
}

// sameTool reports whether the command is still the one that made an entry. That
// none can be found is no difference: nothing newer could be made.
func (rf *refresher) sameTool(ctx context.Context, project string, e *store.Entry) bool {
	program, err := rf.cli.Locate(ctx, project)
	return err != nil || e.Tool == "" || e.Tool == program.Version.Tool()
}

// clean removes what the CLI can rebuild, when asked or when the index is not
// JSON.
func (rf *refresher) clean(project string, asked bool) {
	_, err := contract.Read(project, contract.Options{})
	// One that is being written is not broken.
	broken := problem.CodeOf(err) == problem.BadJSON && !watch.Look(project).Active
	if !asked && !broken {
		return
	}
	root, err := file.Root(project) // a link may lead out of it
	if err != nil {
		return
	}
	defer root.Close()
	_ = root.RemoveAll(".logicstamp/compare")
	for _, pattern := range []string{"*.tmp", "*.lock"} {
		found, _ := fs.Glob(file.FS(root), ".logicstamp/"+pattern)
		for _, f := range found {
			_ = root.Remove(f)
		}
	}
	watch.Clean(project)
	if broken {
		_ = root.Remove(contract.IndexFile)
	}
}

// describe makes the answer for a snapshot.
func (ws *workspace) describe(e *store.Entry, sources *manifest.Manifest, inc Incremental, warnings []problem.Warning) (*Refreshed, error) {
	c, err := ws.entryContext(e, "")
	if err != nil {
		return nil, err
	}
	out := &Refreshed{
		SnapshotID: e.ID, ProjectPath: e.Project, Analysis: e.Analysis, CreatedAt: e.CreatedAt, Tool: c.Tool,
		Folders: []FolderInfo{}, Incremental: inc, ExpiresAt: ws.store.Expires(e),
		Warnings: append(append([]problem.Warning{}, warnings...), c.Warnings...),
		Coverage: hiddenOf(c, sources),
	}
	out.Summary = RefreshSummary{
		TotalComponents: c.Summary.Components, TotalBundles: c.Summary.Bundles, TotalFolders: c.Summary.Folders,
		TotalTokenEstimate: c.Summary.Tokens, TokenEstimates: estimates(c, e.Mode, sources),
	}
	missing := map[string]bool{}
	for _, f := range c.Folders {
		out.Folders = append(out.Folders, FolderInfo{
			Path: f.Path, Bundles: len(f.Bundles), Components: f.Components, TokenEstimate: f.Tokens,
			ContextFile: f.File, IsRoot: f.IsRoot, RootLabel: f.RootLabel,
		})
		for _, b := range f.Bundles {
			for _, m := range b.Missing {
				missing[m.Name] = true
			}
		}
	}
	names := slices.Sorted(maps.Keys(missing))
	if len(names) > 200 {
		out.Summary.MissingTotal = len(names)
		names = names[:200]
	}
	out.Summary.MissingDependencies = append([]string{}, names...)
	return out, nil
}

func hiddenOf(c *contract.Context, sources *manifest.Manifest) HiddenCoverage {
	visible := c.Visible()
	cov := HiddenCoverage{Visible: len(visible), Hidden: []string{}}
	all := sources.Components()
	cov.Components = cmp.Or(len(all), c.Summary.Components)
	for _, p := range all {
		if _, ok := visible[p]; !ok {
			cov.Hidden = append(cov.Hidden, p)
		}
	}
	if len(cov.Hidden) > 50 {
		cov.HiddenTotal = len(cov.Hidden)
		cov.Hidden = cov.Hidden[:50]
	}
	return cov
}

// estimates are the tokens per model and mode; no version of the CLI writes
// them, so they are computed from its one count.
func estimates(c *contract.Context, mode string, sources *manifest.Manifest) map[string]any {
	if len(c.Summary.Estimates) > 0 {
		out := map[string]any{}
		for name, n := range c.Summary.Estimates {
			out[name] = n
		}
		return out
	}
	chars := 0
	for _, f := range sources.Files {
		if f.FileHash != "" {
			chars += int(f.Size)
		}
	}
	plain := c.Summary.Tokens
	full := plain
	if mode != "full" {
		full += (chars + 3) / 4
	}
	claude := func(n int) int { return int(compare.ClaudeFactor*float64(n) + 0.5) }
	return map[string]any{
		"gpt4oMini": plain, "gpt4oMiniFullCode": full, "claude": claude(plain), "claudeFullCode": claude(full),
		"method": "index count; claude = 1.04 × it; full code adds source characters / 4",
	}
}
