package logicstamp_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
)

func (s *stage) contextDir(id string) string {
	s.T.Helper()
	found, _ := filepath.Glob(filepath.Join(filepath.Dir(s.Dir), "*", "snapshots", id))
	if len(found) != 1 {
		s.T.Fatalf("the folder of %s: %q", id, found)
	}
	return found[0]
}

func TestASnapshotIsACopyThatNothingChanges(t *testing.T) {
	s := newStage(t, standIn{})
	snap := s.MustRefresh(logicstamp.RefreshArgs{})
	dir := s.contextDir(snap.SnapshotID)
	before := treeState(t, dir)
	s.Write("src/parts/Knob.tsx", "// props: size\n")
	yes := true
	r := s.MustCompare(logicstamp.CompareArgs{ForceRegenerate: &yes, Publish: &yes})
	if r.Status != compare.Diff || !r.Published {
		t.Errorf("result = %+v", r)
	}
	s.MustRefresh(logicstamp.RefreshArgs{Force: true})
	sameTree(t, "the snapshot", before, treeState(t, dir))
}

func TestSnapshotsExpireAreLostOrDamagedNeverEmpty(t *testing.T) {
	for name, row := range map[string]struct {
		do   func(s *stage, id string)
		want problem.Code
	}{
		"unknown":  {func(s *stage, id string) {}, problem.SnapshotUnknown},
		"not used": {func(s *stage, id string) { s.Clock.Add(61 * time.Minute) }, problem.SnapshotExpired},
		"not used and cleaned up": {func(s *stage, id string) {
			s.Clock.Add(61 * time.Minute)
			s.Write("src/parts/Knob.tsx", "// props: other\n")
			s.MustRefresh(logicstamp.RefreshArgs{})
		}, problem.SnapshotExpired},
		"folder gone": {func(s *stage, id string) {
			if err := os.RemoveAll(s.contextDir(id)); err != nil {
				s.T.Fatal(err)
			}
		}, problem.SnapshotLost},
		"file changed": {func(s *stage, id string) {
			file := filepath.Join(s.contextDir(id), "src/context.json")
			if err := os.Remove(file); err != nil {
				s.T.Fatal(err)
			}
			if err := os.WriteFile(file, []byte("[]"), 0o600); err != nil {
				s.T.Fatal(err)
			}
		}, problem.SnapshotCorrupt},
		"file gone": {func(s *stage, id string) {
			if err := os.Remove(filepath.Join(s.contextDir(id), "src/context.json")); err != nil {
				s.T.Fatal(err)
			}
		}, problem.SnapshotLost},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, standIn{})
			id := s.MustRefresh(logicstamp.RefreshArgs{}).SnapshotID
			row.do(s, id)
			if row.want == problem.SnapshotUnknown {
				id = "snap_1"
			}
			r := s.MustCompare(logicstamp.CompareArgs{Baseline: "snapshot:" + id})
			if r.Status != compare.Failed || r.ErrorCode != row.want || r.Summary != (compare.Summary{}) || len(r.FolderDiffs) > 0 {
				t.Errorf("result = %+v", r)
			}
		})
	}
}

func TestUseKeepsASnapshotAndPinsHoldIt(t *testing.T) {
	s := newStage(t, standIn{})
	id := s.MustRefresh(logicstamp.RefreshArgs{}).SnapshotID
	for range 3 {
		s.Clock.Add(50 * time.Minute)
		if _, err := s.List(t.Context(), logicstamp.Call{}, logicstamp.ListArgs{SnapshotID: id}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.PinFor(id, true); err != nil {
		t.Fatal(err)
	}
	s.Clock.Add(48 * time.Hour)
	if _, err := s.List(t.Context(), logicstamp.Call{}, logicstamp.ListArgs{SnapshotID: id}); err != nil {
		t.Error(err)
	}
}

func TestOnlySoManySnapshotsAreKept(t *testing.T) {
	s := newStage(t, standIn{}, func(o *logicstamp.Options) { o.MaxSnapshots = 3 })
	var ids []string
	for range 5 {
		ids = append(ids, s.MustRefresh(logicstamp.RefreshArgs{}).SnapshotID)
	}
	for i, id := range ids {
		_, err := s.List(t.Context(), logicstamp.Call{}, logicstamp.ListArgs{SnapshotID: id})
		if kept := err == nil; kept != (i >= 2) {
			t.Errorf("snapshot %d kept: %v (%v)", i, kept, err)
		}
	}
}

func TestAnotherProcessAdoptsASnapshot(t *testing.T) {
	s := newStage(t, standIn{})
	id := s.MustRefresh(logicstamp.RefreshArgs{}).SnapshotID
	other := s.Open()
	if list, err := other.List(t.Context(), logicstamp.Call{}, logicstamp.ListArgs{SnapshotID: id}); err != nil || list.TotalBundles == 0 {
		t.Errorf("list = %+v, %v", list, err)
	}
	foreign := s.Open(func(o *logicstamp.Options) { o.ProjectPath = t.TempDir() })
	if _, err := foreign.List(t.Context(), logicstamp.Call{}, logicstamp.ListArgs{SnapshotID: id}); problem.CodeOf(err) != problem.ProjectNotAllowed {
		t.Errorf("another project's snapshot: %v", err)
	}
}

func TestWithoutASnapshotComparingSaysSo(t *testing.T) {
	s := newStage(t, standIn{})
	for baseline, words := range map[string]string{"disk": "No snapshot found for disk comparison", "snapshot": "No snapshot found for comparison"} {
		r := s.MustCompare(logicstamp.CompareArgs{Baseline: baseline})
		if r.ErrorCode != problem.NoSnapshot || !strings.Contains(r.Error, words) || !strings.Contains(r.Error, "git:HEAD") {
			t.Errorf("%s: %+v", baseline, r)
		}
	}
	last, _, _, err := s.LastResult(logicstamp.Call{}, logicstamp.LastArgs{})
	if err != nil || last == nil || last.Status != compare.Failed {
		t.Errorf("a failed comparison is not kept: %+v, %v", last, err)
	}
}

func TestTheCurrentSide(t *testing.T) {
	yes, no := true, false
	for name, row := range map[string]struct {
		edit    bool
		force   *bool
		source  string
		runs    int
		status  compare.Status
		warning problem.Code
		state   string
	}{
		"unchanged":            {false, nil, "private", 1, compare.Pass, "", "fresh"},
		"unchanged, forced":    {false, &yes, "regenerated", 2, compare.Pass, "", "fresh"},
		"unchanged, forbidden": {false, &no, "private", 1, compare.Pass, "", "fresh"},
		"changed":              {true, nil, "regenerated", 2, compare.Diff, "", "fresh"},
		"changed, forced":      {true, &yes, "regenerated", 2, compare.Diff, "", "fresh"},
		"changed, forbidden":   {true, &no, "private", 1, compare.Pass, problem.StaleContext, "stale"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, standIn{})
			s.MustRefresh(logicstamp.RefreshArgs{})
			if row.edit {
				s.Write("src/parts/Knob.tsx", "// props: size\n")
			}
			r := s.MustCompare(logicstamp.CompareArgs{ForceRegenerate: row.force})
			if r.Status != row.status || r.CurrentInfo == nil || r.CurrentInfo.Source != row.source || len(s.Runs()) != row.runs || r.Freshness.State != row.state {
				t.Errorf("status %s, current %+v, %d runs, %+v", r.Status, r.CurrentInfo, len(s.Runs()), r.Freshness)
			}
			got := problem.Code("")
			if len(r.Warnings) > 0 {
				got = r.Warnings[0].Code
			}
			if got != row.warning {
				t.Errorf("warnings = %v", r.Warnings)
			}
			if left, _ := filepath.Glob(filepath.Join(s.Project, "*.json")); len(left) > 0 || r.Published {
				t.Errorf("written into the project: %q", left)
			}
		})
	}
}

func TestAChangedProjectWithoutACommandIsComparedAsItWas(t *testing.T) {
	s := newStage(t, standIn{})
	s.MustRefresh(logicstamp.RefreshArgs{})
	s.Write("src/parts/Knob.tsx", "// props: size\n")
	s.Behave(standIn{Version: "none", Exit: 3})
	s.Service = s.Open()
	r := s.MustCompare(logicstamp.CompareArgs{})
	if len(r.Warnings) < 2 || r.Warnings[0].Code != problem.StaleContext || r.Warnings[1].Code != problem.CLIWrong {
		t.Errorf("result = %+v", r)
	}
}

func TestOptionsOfTheBaselineAreUsed(t *testing.T) {
	s := newStage(t, standIn{})
	depth, other := 5, 3
	s.MustRefresh(logicstamp.RefreshArgs{AnalysisArgs: logicstamp.AnalysisArgs{Depth: &depth}})
	s.Write("src/parts/Knob.tsx", "// props: size\n")
	s.MustCompare(logicstamp.CompareArgs{})
	if args := strings.Join(s.Runs()[1].Args, " "); !strings.Contains(args, "--depth 5") {
		t.Errorf("ran %s", args)
	}
	r := s.MustCompare(logicstamp.CompareArgs{AnalysisArgs: logicstamp.AnalysisArgs{Depth: &other}})
	if len(r.Warnings) == 0 || r.Warnings[0].Code != problem.OptionsDiffer {
		t.Errorf("warnings = %v", r.Warnings)
	}
}

func TestPublishingLeavesForeignFilesAlone(t *testing.T) {
	s := newStage(t, standIn{})
	s.Write("src/parts/context.json", `{"mine":true}`)
	s.Write("src/parts/Free.tsx", "// props: x\n")
	yes := true
	r := s.MustRefresh(logicstamp.RefreshArgs{Publish: &yes})
	if !r.Published || len(r.Warnings) != 1 || r.Warnings[0].Code != problem.PublishSkipped {
		t.Errorf("refreshed = %+v", r.Warnings)
	}
	if data, _ := os.ReadFile(filepath.Join(s.Project, "src/parts/context.json")); string(data) != `{"mine":true}` {
		t.Errorf("an application's file was overwritten: %s", data)
	}
	if err := os.Remove(filepath.Join(s.Project, "src/App.tsx")); err != nil {
		t.Fatal(err)
	}
	stamp := func() time.Time {
		info, err := os.Stat(filepath.Join(s.Project, "context_main.json"))
		if err != nil {
			t.Fatal(err)
		}
		return info.ModTime()
	}
	before := stamp()
	r = s.MustRefresh(logicstamp.RefreshArgs{Publish: &yes})
	if len(r.Orphans) != 1 || r.Orphans[0] != "src/context.json" || stamp().Equal(before) {
		t.Errorf("orphans = %q", r.Orphans)
	}
	before = stamp()
	if s.MustRefresh(logicstamp.RefreshArgs{Publish: &yes, Force: true}); !stamp().Equal(before) {
		t.Error("a file was written although it says the same")
	}
	if c := s.MustCompare(logicstamp.CompareArgs{}); c.CurrentInfo == nil || c.CurrentInfo.Source == "regenerated" {
		t.Errorf("the published context is not taken for fresh: %+v %s", c.CurrentInfo, c.Error)
	}
}

func TestSnapshotsOfSeveralCallersAtOnce(t *testing.T) {
	s := newStage(t, standIn{}, func(o *logicstamp.Options) { o.Now = time.Now; o.MaxSnapshots = 3 })
	ctx, call := t.Context(), logicstamp.Call{}
	if _, err := s.Refresh(ctx, call, logicstamp.RefreshArgs{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Monitor(ctx, call, logicstamp.MonitorArgs{Action: "start"}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			switch i % 4 {
			case 0:
				if _, err := s.Refresh(ctx, call, logicstamp.RefreshArgs{Force: i == 4}); err != nil {
					t.Error(err)
				}
			case 1:
				if _, err := s.List(ctx, call, logicstamp.ListArgs{}); err != nil {
					t.Error(err)
				}
			case 2:
				if _, err := s.Read(ctx, call, logicstamp.ReadArgs{BundlePath: "src/context.json"}); err != nil {
					t.Error(err)
				}
			default:
				if r, err := s.Compare(ctx, call, logicstamp.CompareArgs{}); err != nil || r.Status != compare.Pass {
					t.Errorf("%+v, %v", r, err)
				}
				s.State()
			}
		})
	}
	wg.Wait()
	if st, err := s.Monitor(ctx, call, logicstamp.MonitorArgs{Action: "stop"}); err != nil || st.Active {
		t.Errorf("stop = %+v, %v", st, err)
	}
}

// A source that is written again with the size and the time that it had is compared as it
// is now, whether or not it is analysed anew.
func TestASourceOfEqualSizeAndTimeIsNoPass(t *testing.T) {
	yes := true
	for name, args := range map[string]logicstamp.CompareArgs{"as it is": {}, "forced": {ForceRegenerate: &yes}} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, standIn{})
			file := filepath.Join(s.Project, "src/App.tsx")
			s.Write("src/App.tsx", "// props: title\n")
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			s.MustRefresh(logicstamp.RefreshArgs{})
			s.Write("src/App.tsx", "// props: label\n")
			if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
			if r := s.MustCompare(args); r.Status != compare.Diff || len(r.ContractChanges) != 1 {
				t.Errorf("%s, %+v", r.Status, r.ContractChanges)
			}
		})
	}
}
