package fake

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
)

// Drift is a source of comparisons that a test may change.
type Drift struct {
	mu    sync.Mutex
	state logicstamp.State
	hint  chan struct{}

	// Next is what CompareFor answers, after Delay.
	Next  *compare.Result
	Delay time.Duration
	// SnapshotDelay is how long SnapshotFor takes.
	SnapshotDelay time.Duration
	// Err is what SnapshotFor fails with.
	Err error
	// InstallErr is what InstallCLI fails with.
	InstallErr error
	// Asked are the calls that were made, as words.
	Asked []string
}

// NewDrift has one project with these results, oldest first, and, if there are any, with
// snapshots.
func NewDrift(now time.Time, results ...*compare.Result) *Drift {
	one := logicstamp.ProjectState{Path: "/home/ann/shop", Results: results}
	if len(results) > 0 {
		one.Snapshots = DriftSnapshots(now)
	}
	return &Drift{hint: make(chan struct{}, 1), state: logicstamp.State{Projects: []logicstamp.ProjectState{one}}}
}

// DriftSnapshots are two, the newest first.
func DriftSnapshots(now time.Time) []logicstamp.SnapshotInfo {
	return []logicstamp.SnapshotInfo{
		{ID: "snap_1764033034172", CreatedAt: now.Add(-2 * time.Hour), Pinned: true},
		{ID: "snap_1764029034999", CreatedAt: now.Add(-5 * time.Hour)},
	}
}

// State is the project.
func (d *Drift) State() logicstamp.State {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state
}

// Subscribe hints at changes.
func (d *Drift) Subscribe() (<-chan struct{}, func()) { return d.hint, func() {} }

// Change replaces the project.
func (d *Drift) Change(f func(p *logicstamp.ProjectState)) {
	d.mu.Lock()
	one := d.state.Projects[0]
	f(&one)
	d.state = logicstamp.State{Projects: []logicstamp.ProjectState{one}}
	d.mu.Unlock()
	notify.Poke(d.hint)
}

// AddProject adds a project without results.
func (d *Drift) AddProject(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state = logicstamp.State{Projects: append(slices.Clone(d.state.Projects), logicstamp.ProjectState{Path: path})}
	notify.Poke(d.hint)
}

// Add stores a result.
func (d *Drift) Add(r *compare.Result) {
	d.Change(func(p *logicstamp.ProjectState) {
		p.Results = append(append([]*compare.Result(nil), p.Results...), r)
	})
}

func (d *Drift) asked(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Asked = append(d.Asked, fmt.Sprintf(format, args...))
}

// CompareFor answers Next after Delay.
func (d *Drift) CompareFor(ctx context.Context, _, baseline string, force bool) (*compare.Result, error) {
	d.asked("compare %s %v", baseline, force)
	select {
	case <-time.After(d.Delay):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if d.Next == nil {
		return nil, problem.New(problem.Internal, "", "nothing to answer")
	}
	d.Add(d.Next)
	return d.Next, nil
}

// StopDeeper is remembered.
func (d *Drift) StopDeeper(project string) {
	d.asked("stop deeper")
	d.Change(func(p *logicstamp.ProjectState) { p.Deeper = nil })
}

// SnapshotFor answers an id after SnapshotDelay.
func (d *Drift) SnapshotFor(ctx context.Context, _ string) (string, error) {
	d.asked("snapshot")
	select {
	case <-time.After(d.SnapshotDelay):
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if d.Err != nil {
		return "", d.Err
	}
	return "snap_1764033099000", nil
}

// MonitorFor switches the monitor.
func (d *Drift) MonitorFor(_ context.Context, _, baseline string, on bool) error {
	d.asked("monitor %s %v", baseline, on)
	d.Change(func(p *logicstamp.ProjectState) { p.Watching = on })
	return nil
}

// PinFor is remembered.
func (d *Drift) PinFor(id string, on bool) error {
	d.asked("pin %s %v", id, on)
	return nil
}

// Refs are some.
func (d *Drift) Refs(context.Context, string) []string {
	return []string{"HEAD", "origin/main", "main", "v1.2.0"}
}

// InstallCLI is remembered.
func (d *Drift) InstallCLI(context.Context, func(string)) (string, string, error) {
	d.asked("install")
	if d.InstallErr != nil {
		return "", "", d.InstallErr
	}
	return "/data/stamp", "0.8.8", nil
}

func typed(props map[string]string, optional ...string) map[string]contract.Type {
	out := map[string]contract.Type{}
	for name, text := range props {
		out[name] = contract.Type{Text: text}
	}
	for _, name := range optional {
		t := out[name]
		t.Optional = true
		out[name] = t
	}
	return out
}

// DriftResult is a comparison with something of everything.
func DriftResult(now time.Time) *compare.Result {
	words := contract.Vocabulary{Composition: "composition", Interface: "interface"}
	knob := contract.Contract{
		ID: "src/parts/Knob.tsx", Kind: "react:component", Words: words,
		Props:      typed(map[string]string{"size": "number", "locked": "boolean", "tone": `"calm" | "loud"`}, "locked", "tone"),
		Components: []string{"Cog"}, Functions: []string{"Knob"}, Variables: []string{"Knob"}, Imports: []string{"./Cog", "react"},
		Exports: contract.Exports{Unnamed: true, Raw: `"named"`},
	}
	after := knob
	after.Props = typed(map[string]string{"size": "number | string", "tone": `"calm" | "loud"`}, "tone")
	after.Hooks = []string{"useState"}
	r := &compare.Result{
		Baseline: "git:main", Status: compare.Diff, ProjectPath: "/home/ann/shop", ComparedAt: now.Add(-4 * time.Second), DurationMs: 3900,
		BaselineInfo: &compare.SideInfo{Kind: "git", Ref: "main", Commit: "b6d03df1a9c0ffee", Describe: "main", CreatedAt: now.Add(-2 * time.Hour)},
		CurrentInfo:  &compare.SideInfo{Source: "regenerated", Options: &contract.Analysis{Profile: "llm-chat", Mode: "none", Depth: 2}},
		Freshness:    &compare.Freshness{State: "fresh"},
		Coverage:     &compare.Coverage{Components: 31, Visible: 26, Uncovered: []string{"src/loop/Ping.tsx", "src/parts/Cog.tsx"}},
		ContentOnly:  []string{"src/Page.tsx", "src/util/clock.ts", "src/日本語/設定画面.tsx"},
		Summary: compare.Summary{
			TotalFolders: 12, UnchangedFolders: 9, ChangedFolders: 2, AddedFolders: 1, TokensBefore: 15_000,
			TokenDelta: compare.TokenDelta{GPT4oMini: 90, Claude: 94},
			Contracts:  compare.Contracts{Added: 1, Changed: 2, Moved: 1}, Breaking: compare.BreakingCount{Errors: 1, Warnings: 1}, ContentOnly: 3,
		},
		Warnings: []problem.Warning{{Code: problem.UncoveredChanges, Message: "2 changed files lie deeper than the depth or in a cycle, so nothing could be compared: src/loop/Ping.tsx, src/parts/Cog.tsx"}},
	}
	r.FolderDiffs = []compare.FolderDiff{
		{Path: "src", Status: compare.FolderChanged, Changes: []compare.ComponentChange{{
			RootComponent: "Shell", EntryID: "src/Shell.tsx", Type: compare.HashChanged, TokenDelta: -11, TokensBefore: 812, TokensAfter: 801,
			SemanticHashBefore: "uif:e4e8b6aee2e3743597daa9ad", SemanticHashAfter: "uif:e4e8b6aee2e3743597daa9ad",
			BundleHashBefore: "uifb:c12e89aeccc959511b5b21df", BundleHashAfter: "uifb:90b1d2aeccc959511b5b21df",
			Details: &compare.Details{ChangedDependencies: []compare.Dependency{{EntryID: "src/parts/Knob.tsx", Type: compare.ContractChanged, ModifiedFields: []string{"composition.hooks", "interface.props"}}}},
		}}},
		{Path: "src/lib", Status: compare.FolderAdded, Changes: []compare.ComponentChange{{
			RootComponent: "format", EntryID: "src/lib/format.ts", Type: compare.BundleAdded, TokenDelta: 362, TokensAfter: 362,
			Details: &compare.Details{Reason: "moved", MovedFrom: "src/util/format.ts"},
		}}},
		{Path: "src/util", Status: compare.FolderChanged, Changes: []compare.ComponentChange{
			{RootComponent: "extra", EntryID: "src/util/extra.ts", Type: compare.BundleAdded, TokenDelta: 96, TokensAfter: 96, Details: &compare.Details{Reason: "new"}},
			{RootComponent: "format", EntryID: "src/util/format.ts", Type: compare.BundleRemoved, TokenDelta: -366, TokensBefore: 366, Details: &compare.Details{Reason: "moved", MovedTo: "src/lib/format.ts"}},
			{
				RootComponent: "useClock", EntryID: "src/util/useClock.ts", Type: compare.ContractChanged, TokenDelta: 9, TokensBefore: 201, TokensAfter: 210,
				SemanticHashBefore: "uif:aa00b6aee2e3743597daa9ad", SemanticHashAfter: "uif:bb11b6aee2e3743597daa9ad",
				Details: &compare.Details{ModifiedFields: []string{"composition.imports"}, AddedImports: []string{"./format"}},
			},
		}},
	}
	r.ContractChanges = []compare.ContractChange{
		{
			EntryID: "src/parts/Knob.tsx", Name: "Knob", Kind: "react:component", Role: "dependency", Change: compare.Changed,
			SemanticHashBefore: "uif:eac24976e2e3743597daa9ad", SemanticHashAfter: "uif:3ae77185e2e3743597daa9ad",
			FileHashBefore: "uif:70e961a6e2e3743597daa9ad", FileHashAfter: "uif:24d986bee2e3743597daa9ad",
			Affects: []string{"src/Shell.tsx"}, Before: &knob, After: &after,
			Details: &compare.Details{
				ModifiedFields: []string{"composition.hooks", "interface.props"}, RemovedProps: []string{"locked"}, AddedHooks: []string{"useState"},
				ChangedProps: []compare.TypeChange{{Name: "size", Before: "size: number", After: "size: number | string"}},
				Totals:       map[string]int{"interface.props": 3, "composition.hooks": 1, "composition.components": 1, "composition.functions": 1, "composition.variables": 1, "composition.imports": 2, "exports": 1},
			},
			Breaking: []compare.Breaking{
				{Severity: compare.Error, Kind: "prop_removed", Name: "locked", Message: "prop removed: locked", LineBefore: 5, Line: 3, Source: "  locked?: boolean; // at rest"},
				{Severity: compare.Caution, Kind: "prop_type", Name: "size", Message: "prop type changed: size: number → size: number | string", LineBefore: 4, Line: 4, Source: "  size: number | string;"},
			},
			Importers: []compare.Importer{{EntryID: "src/parts/Tile.tsx", Line: 2}, {EntryID: "src/parts/index.ts", Line: 1, PassesOn: true}},
		},
		{EntryID: "src/util/extra.ts", Name: "extra", Kind: "ts:module", Role: "root", Change: compare.Added, Details: &compare.Details{Reason: "new"}, Affects: []string{"src/util/extra.ts"}, After: &contract.Contract{
			ID: "src/util/extra.ts", Kind: "ts:module", Functions: []string{"extra"}, Imports: []string{"./format"}, Exports: contract.Exports{Unnamed: true, Raw: `"named"`},
		}},
		{EntryID: "src/util/format.ts", Name: "format", Kind: "ts:module", Role: "root", Change: compare.Moved, Details: &compare.Details{Reason: "moved", MovedTo: "src/lib/format.ts"}, Affects: []string{"src/util/format.ts"}},
		{
			EntryID: "src/util/useClock.ts", Name: "useClock", Kind: "react:hook", Role: "root", Change: compare.Changed, Affects: []string{"src/util/useClock.ts"},
			SemanticHashBefore: "uif:aa00b6aee2e3743597daa9ad", SemanticHashAfter: "uif:bb11b6aee2e3743597daa9ad",
			Details: &compare.Details{ModifiedFields: []string{"composition.imports"}, AddedImports: []string{"./format"}, Totals: map[string]int{"composition.imports": 2}},
		},
	}
	return r
}

// DriftPass is a comparison in which nothing changed.
func DriftPass(now time.Time) *compare.Result {
	return &compare.Result{
		Baseline: "snapshot", Status: compare.Pass, ProjectPath: "/home/ann/shop", ComparedAt: now.Add(-90 * time.Second), DurationMs: 120,
		BaselineInfo: &compare.SideInfo{Kind: "snapshot", SnapshotID: "snap_1764033034172", CreatedAt: now.Add(-2 * time.Hour)},
		CurrentInfo:  &compare.SideInfo{Source: "private", Options: &contract.Analysis{Depth: 2}},
		Freshness:    &compare.Freshness{State: "fresh"}, Coverage: &compare.Coverage{Components: 31, Visible: 28},
		Summary:     compare.Summary{TotalFolders: 12, UnchangedFolders: 12, ContentOnly: 2, TokensBefore: 15_000},
		ContentOnly: []string{"src/Page.tsx", "src/util/clock.ts"}, FolderDiffs: []compare.FolderDiff{}, ContractChanges: []compare.ContractChange{},
	}
}

// DriftStale is a pass that cannot be trusted.
func DriftStale(now time.Time) *compare.Result {
	r := DriftPass(now)
	r.Freshness = &compare.Freshness{State: "stale", ChangedFiles: []string{"src/Page.tsx"}}
	r.Warnings = []problem.Warning{{Code: problem.StaleContext, Message: "the current side is older than the sources (src/Page.tsx); pass forceRegenerate: true to analyse them"}}
	return r
}

// DriftError is a comparison that could not be made.
func DriftError(now time.Time, code problem.Code, text string) *compare.Result {
	return &compare.Result{Baseline: "git:main", Status: compare.Failed, ErrorCode: code, Error: text, ProjectPath: "/home/ann/shop", ComparedAt: now}
}

// DriftMany is a comparison with n changed roots.
func DriftMany(now time.Time, n int) *compare.Result {
	r := DriftResult(now)
	r.FolderDiffs, r.ContractChanges, r.ContentOnly, r.Coverage.Uncovered = nil, nil, nil, nil
	for i := range n {
		folder := fmt.Sprintf("src/area%02d/module%03d", i/250, i/10)
		if i%10 == 0 {
			r.FolderDiffs = append(r.FolderDiffs, compare.FolderDiff{Path: folder, Status: compare.FolderChanged})
		}
		f := &r.FolderDiffs[len(r.FolderDiffs)-1]
		name := fmt.Sprintf("Widget%04d", i)
		d := &compare.Details{
			ModifiedFields: []string{"interface.props"}, RemovedProps: []string{"size"}, AddedProps: []string{"scale"},
			Totals: map[string]int{"interface.props": 4},
		}
		f.Changes = append(f.Changes, compare.ComponentChange{RootComponent: name, EntryID: folder + "/" + name + ".tsx", Type: compare.PropsChanged, TokenDelta: i % 17, TokensAfter: 100, TokensBefore: 100 - i%17, Details: d})
		change := compare.ContractChange{EntryID: folder + "/" + name + ".tsx", Name: name, Kind: "react:component", Role: "root", Change: compare.Changed, Details: d}
		if i%7 == 0 {
			change.Breaking = []compare.Breaking{{Severity: compare.Error, Kind: "prop_removed", Name: "size", Message: "prop removed: size"}}
		}
		r.ContractChanges = append(r.ContractChanges, change)
	}
	r.Summary.ChangedFolders, r.Summary.TotalFolders, r.Summary.AddedFolders = len(r.FolderDiffs), len(r.FolderDiffs)+9, 0
	r.Summary.Contracts = compare.Contracts{Changed: n}
	r.Summary.Breaking = compare.BreakingCount{Errors: (n + 6) / 7}
	return r
}

// FrontDrift is what an edit of claude's broke in a shop, as the frames of the page show it.
func FrontDrift(now time.Time) *compare.Result {
	words := contract.Vocabulary{Composition: "composition", Interface: "interface"}
	button := contract.Contract{
		ID: "src/parts/Button.tsx", Kind: "react:component", Words: words, Functions: []string{"Button"}, Exports: contract.Exports{Names: []string{"Button", "ButtonProps"}},
		Props: typed(map[string]string{"label": "string", "disabled": "boolean", "onPress": "() => void"}, "disabled"),
	}
	after := button
	after.Props = typed(map[string]string{"label": "string", "tone": "'calm' | 'loud'", "onPress": "() => void"})
	root := func(id, name string) compare.ComponentChange {
		return compare.ComponentChange{
			RootComponent: name, EntryID: id, Type: compare.HashChanged,
			Details: &compare.Details{ChangedDependencies: []compare.Dependency{{EntryID: "src/parts/Button.tsx", Type: compare.ContractChanged}}},
		}
	}
	return &compare.Result{
		Baseline: "snapshot", Status: compare.Diff, ProjectPath: "/home/ana/src/shop", ComparedAt: now.Add(-4 * time.Second),
		BaselineInfo: &compare.SideInfo{Kind: "snapshot", SnapshotID: "snap_1764033034172", MadeBy: "claude-code", CreatedAt: now.Add(-20 * time.Second)},
		CurrentInfo:  &compare.SideInfo{Source: "regenerated", Options: &contract.Analysis{Depth: 2}},
		Freshness:    &compare.Freshness{State: "fresh"}, Coverage: &compare.Coverage{Components: 12, Visible: 12},
		Summary:     compare.Summary{TotalFolders: 3, ChangedFolders: 2, UnchangedFolders: 1, Contracts: compare.Contracts{Changed: 2}, Breaking: compare.BreakingCount{Errors: 2, Warnings: 1}},
		FolderDiffs: []compare.FolderDiff{{Path: "src", Status: compare.FolderChanged, Changes: []compare.ComponentChange{root("src/Cart.tsx", "Cart"), root("src/Checkout.tsx", "Checkout")}}},
		ContractChanges: []compare.ContractChange{
			{
				EntryID: "src/parts/Button.tsx", Name: "Button", Kind: "react:component", Role: "dependency", Change: compare.Changed,
				SemanticHashBefore: "uif:eac24976e2e3743597daa9ad", SemanticHashAfter: "uif:3ae77185e2e3743597daa9ad",
				FileHashBefore: "uif:70e961a6e2e3743597daa9ad", FileHashAfter: "uif:24d986bee2e3743597daa9ad",
				Affects: []string{"src/Cart.tsx", "src/Checkout.tsx"}, Before: &button, After: &after,
				Details: &compare.Details{ModifiedFields: []string{"interface.props"}, RemovedProps: []string{"disabled"}, AddedProps: []string{"tone"}, Totals: map[string]int{"interface.props": 4}},
				Breaking: []compare.Breaking{
					{Severity: compare.Error, Kind: "prop_removed", Name: "disabled", Message: "prop removed: disabled", LineBefore: 5, Source: "  disabled?: boolean;"},
					{Severity: compare.Error, Kind: "prop_required", Name: "tone", Message: "new required prop: tone", Line: 5, Source: "  tone: 'calm' | 'loud';"},
				},
				Importers: []compare.Importer{{EntryID: "src/Cart.tsx", Line: 2, Lost: []string{"Button"}}, {EntryID: "src/Checkout.tsx", Line: 2, Lost: []string{"Button"}}},
				Lines: []compare.SourceLine{
					{Old: 3, New: 3, Text: "export interface ButtonProps {"},
					{Old: 4, New: 4, Text: "  label: string;"},
					{Old: 5, Text: "  disabled?: boolean;"},
					{New: 5, Text: "  tone: 'calm' | 'loud';"},
					{Old: 6, New: 6, Text: "  onPress(): void;"},
					{Old: 7, New: 7, Text: "}"},
				},
			},
			{
				EntryID: "src/Price.tsx", Name: "Price", Kind: "react:component", Role: "root", Change: compare.Changed, Affects: []string{"src/Price.tsx"},
				Details: &compare.Details{ModifiedFields: []string{"interface.props"}, ChangedProps: []compare.TypeChange{{Name: "cents", Before: "cents: number", After: "cents: number | null"}}},
				Breaking: []compare.Breaking{
					{Severity: compare.Caution, Kind: "prop_type", Name: "cents", Message: "prop type changed: cents: number → cents: number | null", LineBefore: 4, Line: 4, Source: "  cents: number | null;"},
				},
			},
		},
		Warnings: []problem.Warning{},
	}
}
