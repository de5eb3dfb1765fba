package logicstamp_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stampcli"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stamptest"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// Components deeper than the depth are compared too, whatever the
// baseline; a cycle that no root reaches stays uncovered.
func TestBothSidesAreComparedDeeper(t *testing.T) {
	t.Parallel()
	cli := stamptest.CLI(t, stampcli.Wanted)
	project := stamptest.Shop(t)
	git(t, project, "init", "-q", "-b", "main")
	git(t, project, "add", "-A")
	git(t, project, "commit", "-qm", "first")
	s := newService(t, cli, project, deepInBackground)
	if _, err := s.Refresh(t.Context(), logicstamp.Call{}, logicstamp.RefreshArgs{}); err != nil {
		t.Fatal(err)
	}
	deeperDone(t, s, project)
	stamptest.Replace(t, project, "src/parts/Cog.tsx", "teeth: number }", "teeth: string }")
	stamptest.Replace(t, project, "src/loop/Ping.tsx", "n: number", "n: number; m?: string")
	for _, baseline := range []string{"git:HEAD", "snapshot"} {
		t.Run(baseline, func(t *testing.T) {
			r, err := s.Compare(t.Context(), logicstamp.Call{}, logicstamp.CompareArgs{Baseline: baseline})
			if err != nil {
				t.Fatal(err)
			}
			if r.Status == compare.Failed || r.Coverage.Deeper != compare.DeeperRunning {
				t.Fatalf("%s, deeper %q", r.Error, r.Coverage.Deeper)
			}
			deeperDone(t, s, project)
			results := s.Results(project)
			r = results[len(results)-1]
			checkExpected(t, describeResult(r), expected{
				status: compare.Diff, changes: []string{"src/Shell.tsx hash_changed"},
				contracts: []string{"src/parts/Cog.tsx changed interface.props"}, breaking: []string{"prop_type teeth"},
				uncovered: []string{"src/loop/Ping.tsx"},
			})
			if f := r.Summary; f.ChangedFolders != 1 || f.UnchangedFolders+1 != f.TotalFolders || f.TokenDelta != (compare.TokenDelta{}) {
				t.Errorf("summary = %+v", f)
			}
		})
	}
}

func deepInBackground(o *logicstamp.Options) { o.DeepContracts = "background" }

// deeperDone waits until no analysis in the background is on its way.
func deeperDone(t *testing.T, s *logicstamp.Service, project string) {
	t.Helper()
	testwait.Until(t, "the end of an analysis in the background", func() bool {
		for _, p := range s.State().Projects {
			if p.Path == project && p.Deeper != nil {
				return false
			}
		}
		return true
	})
}

// deepStage has a component, Tooth, below the depth of 2.
func deepStage(t *testing.T, way string) *stage {
	t.Helper()
	st := newStage(t, standIn{}, func(o *logicstamp.Options) { o.DeepContracts = way })
	st.Write("src/parts/Knob.tsx", "// props: size locked\n// uses: src/parts/Cog.tsx\n")
	st.Write("src/parts/Cog.tsx", "// props: teeth\n// uses: src/parts/Tooth.tsx\n")
	st.Write("src/parts/Tooth.tsx", "// props: sharp\n")
	return st
}

func (s *stage) deepCalls() (deep []stamptest.Run) {
	for _, c := range s.Runs() {
		if slices.Contains(c.Args, "64") {
			deep = append(deep, c)
		}
	}
	return deep
}

// deepKept tells how many deep contexts the store has.
func (s *stage) deepKept() int {
	found, _ := filepath.Glob(filepath.Join(s.Options.Dir, "snapshots", "deep_*", "snapshot.json"))
	return len(found)
}

func hasWarning(list []problem.Warning, code problem.Code) bool {
	return slices.ContainsFunc(list, func(w problem.Warning) bool { return w.Code == code })
}

// After the answer of a refresh the same sources are analysed deeper,
// once, and what an edit did below the depth is found.
func TestASnapshotIsAnalysedDeeperInTheBackground(t *testing.T) {
	st := deepStage(t, "")
	r := st.MustRefresh(logicstamp.RefreshArgs{})
	if !slices.Equal(r.Coverage.Hidden, []string{"src/parts/Tooth.tsx"}) {
		t.Fatalf("hidden = %q", r.Coverage.Hidden)
	}
	testwait.Until(t, "a deep context", func() bool { return st.deepKept() == 1 })
	args := strings.Join(st.deepCalls()[0].Args, " ")
	for _, want := range []string{"--include-code none", "--depth 64", "--max-nodes 100000"} {
		if !strings.Contains(args, want) {
			t.Errorf("the deep run was %q, without %s", args, want)
		}
	}
	again := st.MustRefresh(logicstamp.RefreshArgs{})
	if !again.Incremental.Reused || len(st.Runs()) != 2 {
		t.Errorf("an unchanged project was analysed again: %+v, %d runs", again.Incremental, len(st.Runs()))
	}
	st.Write("src/parts/Tooth.tsx", "// props: sharp long\n")
	force := false
	if d := st.MustCompare(logicstamp.CompareArgs{ForceRegenerate: &force}); d.Status != compare.Pass || len(d.Coverage.Uncovered) != 0 || len(st.Runs()) != 2 {
		t.Errorf("a stale side compared as it is: %s, uncovered %q, %d runs", d.Status, d.Coverage.Uncovered, len(st.Runs()))
	}
	first := st.MustCompare(logicstamp.CompareArgs{})
	if first.Status != compare.Pass || first.Coverage.Deeper != compare.DeeperRunning || !hasWarning(first.Warnings, problem.UncoveredChanges) {
		t.Errorf("before the deeper analysis: %s, %+v, %v", first.Status, first.Coverage, first.Warnings)
	}
	deeperDone(t, st.Service, st.Project)
	for i := range 2 {
		results := st.Results(st.Project)
		d := results[len(results)-1]
		if i > 0 {
			d = st.MustCompare(logicstamp.CompareArgs{})
		}
		checkExpected(t, describeResult(d), expected{
			status: compare.Diff, changes: []string{"src/App.tsx hash_changed"}, contracts: []string{"src/parts/Tooth.tsx changed interface.props"}, breaking: []string{"prop_required long"},
		})
		if hasWarning(d.Warnings, problem.UncoveredChanges) {
			t.Errorf("warnings = %v", d.Warnings)
		}
		if n := len(st.deepCalls()); n != 2 {
			t.Errorf("%d deep runs, want one a side", n)
		}
	}
}

// A deep run is kept only if the sources did not move, and gives way to a
// call that somebody waits for.
func TestADeepRunThatNobodyCanUse(t *testing.T) {
	t.Run("sources moved", func(t *testing.T) {
		st := deepStage(t, "off")
		st.MustRefresh(logicstamp.RefreshArgs{})
		st.Behave(standIn{Touch: filepath.Join(st.Project, "src/parts/Tooth.tsx")})
		deeper := *st.Stage
		deeper.Service = st.Open(deepInBackground)
		deeper.MustRefresh(logicstamp.RefreshArgs{})
		deeperDone(t, deeper.Service, st.Project)
		if len(st.deepCalls()) != 1 || st.deepKept() != 0 {
			t.Errorf("%d deep runs, %d kept; want 1 and 0", len(st.deepCalls()), st.deepKept())
		}
		st.Behave(standIn{})
		st.Write("src/parts/Tooth.tsx", "// props: sharp long\n")
		d := st.MustCompare(logicstamp.CompareArgs{})
		if d.Status != compare.Pass || !slices.Equal(d.Coverage.Uncovered, []string{"src/parts/Tooth.tsx"}) || !hasWarning(d.Warnings, problem.UncoveredChanges) {
			t.Errorf("%s, uncovered %q, warnings %v", d.Status, d.Coverage.Uncovered, d.Warnings)
		}
	})
	t.Run("somebody waits", func(t *testing.T) {
		st := deepStage(t, "background")
		st.MustRefresh(logicstamp.RefreshArgs{})
		testwait.Until(t, "a deep context", func() bool { return st.deepKept() == 1 })
		st.Write("src/parts/Tooth.tsx", "// props: sharp long\n")
		st.MustRefresh(logicstamp.RefreshArgs{})
		testwait.Until(t, "a second deep context", func() bool { return st.deepKept() == 2 })

		st.Write("src/parts/Tooth.tsx", "// props: sharp long white\n")
		st.Behave(standIn{Sleep: time.Hour, SleepDeep: true})
		st.MustRefresh(logicstamp.RefreshArgs{})
		testwait.Until(t, "a deep run", func() bool { return len(st.deepCalls()) == 3 })
		st.MustRefresh(logicstamp.RefreshArgs{Force: true}) // would wait for an hour
		if st.deepKept() != 2 {
			t.Errorf("%d deep contexts are kept, want the two that were finished", st.deepKept())
		}
	})
	t.Run("everything is visible", func(t *testing.T) {
		st := newStage(t, standIn{}, deepInBackground)
		st.MustRefresh(logicstamp.RefreshArgs{})
		deeperDone(t, st.Service, st.Project)
		if n := len(st.Runs()); n != 1 {
			t.Errorf("%d runs, want 1", n)
		}
	})
}

// A component that an edit moves below the depth is compared deeper too,
// and told once.
func TestAComponentThatBecomesHiddenIsComparedDeeper(t *testing.T) {
	st := newStage(t, standIn{}, deepInBackground)
	st.MustRefresh(logicstamp.RefreshArgs{})
	st.Write("src/Page.tsx", "// props: id\n// uses: src/Frame.tsx\n")
	st.Write("src/Frame.tsx", "// props: id\n// uses: src/App.tsx\n")
	st.Write("src/parts/Knob.tsx", "// props: size\n")
	deeperDone(t, st.Service, st.Project)
	st.MustCompare(logicstamp.CompareArgs{})
	deeperDone(t, st.Service, st.Project)
	results := st.Results(st.Project)
	d := results[len(results)-1]
	got := describeResult(d)
	want := []string{"src/App.tsx hidden", "src/Frame.tsx added", "src/Page.tsx added", "src/parts/Knob.tsx changed interface.props"}
	if !slices.Contains(got.contracts, want[3]) || slices.Contains(got.contracts, "src/parts/Knob.tsx hidden") || len(d.Coverage.Uncovered) != 0 {
		t.Errorf("contracts = %q, want the last of %q; uncovered %q", got.contracts, want, d.Coverage.Uncovered)
	}
	if !slices.Contains(got.breaking, "prop_removed locked") {
		t.Errorf("breaking = %q", got.breaking)
	}
}

// The deeper analysis takes several times as long as the other. No call waits
// for it, whatever the baseline; it is shown, and given up or stopped for good.
func TestNoCallWaitsForTheDeeperAnalysis(t *testing.T) {
	for _, baseline := range []string{"snapshot", "git:HEAD"} {
		t.Run(baseline, func(t *testing.T) {
			st := deepStage(t, "background")
			git(t, st.Project, "init", "-q", "-b", "main")
			git(t, st.Project, "add", "-A")
			git(t, st.Project, "commit", "-qm", "first")
			st.MustRefresh(logicstamp.RefreshArgs{})
			deeperDone(t, st.Service, st.Project)
			st.Write("src/parts/Tooth.tsx", "// props: sharp long\n")
			st.Behave(standIn{Sleep: time.Hour, SleepDeep: true})
			d := st.MustCompare(logicstamp.CompareArgs{Baseline: baseline}) // would wait for an hour
			if d.Coverage.Deeper != compare.DeeperRunning || !slices.Equal(d.Coverage.Uncovered, []string{"src/parts/Tooth.tsx"}) {
				t.Errorf("coverage = %+v", d.Coverage)
			}
			if run := st.State().Projects[0].Deeper; run == nil || run.Limit != 10*time.Minute {
				t.Errorf("it is shown as %+v", run)
			}
			st.StopDeeper(st.Project)
			deeperDone(t, st.Service, st.Project)
			if d := st.MustCompare(logicstamp.CompareArgs{Baseline: baseline}); d.Coverage.Deeper != compare.DeeperStopped {
				t.Errorf("after it was stopped: %+v", d.Coverage)
			}
		})
	}
	t.Run("given up", func(t *testing.T) {
		st := newStage(t, standIn{Sleep: time.Hour, SleepDeep: true}, func(o *logicstamp.Options) { o.DeepTimeout = 50 * time.Millisecond })
		st.Write("src/parts/Knob.tsx", "// props: size\n// uses: src/parts/Cog.tsx\n")
		st.Write("src/parts/Cog.tsx", "// props: teeth\n// uses: src/parts/Tooth.tsx\n")
		st.Write("src/parts/Tooth.tsx", "// props: sharp\n")
		st.MustRefresh(logicstamp.RefreshArgs{})
		deeperDone(t, st.Service, st.Project)
		st.MustRefresh(logicstamp.RefreshArgs{Force: true})
		deeperDone(t, st.Service, st.Project)
		if n := len(st.deepCalls()); n > 1 {
			t.Errorf("it was tried %d times", n)
		}
	})
}
