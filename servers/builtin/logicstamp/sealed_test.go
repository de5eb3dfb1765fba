package logicstamp_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
)

// watching is a stage whose context lies in the project, where a watch mode
// keeps it.
func watching(t *testing.T) *stage {
	t.Helper()
	yes := true
	s := newStage(t, standIn{})
	s.MustRefresh(logicstamp.RefreshArgs{Publish: &yes})
	s.watched(fmt.Sprint(os.Getpid()), time.Now().Format(time.RFC3339), s.Project)
	return s
}

func (s *stage) remove(name string) {
	s.T.Helper()
	if err := os.Remove(filepath.Join(s.Project, name)); err != nil {
		s.T.Fatal(err)
	}
}

// A snapshot of a context that lags behind its sources is of the sources that
// the context was made from: what is deleted, edited or new since is found.
func TestASnapshotOfALaggingWatchIsOfWhatTheWatchHadRead(t *testing.T) {
	for name, row := range map[string]struct {
		edit func(s *stage)
		want string
	}{
		"deleted": {func(s *stage) { s.remove("src/parts/helpers.ts") }, "src/parts/helpers.ts removed"},
		"edited":  {func(s *stage) { s.Write("src/parts/Knob.tsx", "// props: size\n") }, "src/parts/Knob.tsx changed interface.props"},
		"new":     {func(s *stage) { s.Write("src/New.tsx", "// props: x\n") }, "src/New.tsx added"},
	} {
		t.Run(name, func(t *testing.T) {
			yes := true
			s := watching(t)
			row.edit(s)
			lagging := s.MustRefresh(logicstamp.RefreshArgs{SkipIfWatchActive: &yes})
			if !hasWarning(lagging.Warnings, problem.WatchStale) {
				t.Fatalf("warnings = %v", lagging.Warnings)
			}
			s.remove(".logicstamp/context_watch-status.json")
			r := s.MustCompare(logicstamp.CompareArgs{Baseline: "snapshot:" + lagging.SnapshotID})
			if got := describeResult(r); r.Status != compare.Diff || len(got.contracts) != 1 || got.contracts[0] != row.want {
				t.Errorf("%s %q, want %s", r.Status, got.contracts, row.want)
			}
			if again := s.MustRefresh(logicstamp.RefreshArgs{}); again.Incremental.BasedOn == lagging.SnapshotID {
				t.Error("the lagging context is taken for the present")
			}
		})
	}
}

// What a run of the command did not read is not taken for what it read: when a
// source changes each time after it was read, nothing is called fresh.
func TestASourceThatChangedAfterItWasReadIsReadAgain(t *testing.T) {
	s := newStage(t, standIn{})
	s.MustRefresh(logicstamp.RefreshArgs{})
	file := filepath.Join(s.Project, "src/App.tsx")
	s.Write("src/App.tsx", "// props: title\n")
	s.Behave(standIn{TouchLate: file})
	r := s.MustCompare(logicstamp.CompareArgs{})
	if r.Freshness.State != "stale" || !hasWarning(r.Warnings, problem.SourcesMoving) {
		t.Errorf("freshness = %+v, warnings %v", r.Freshness, r.Warnings)
	}
	s.Behave(standIn{})
	runs := len(s.Runs())
	if again := s.MustRefresh(logicstamp.RefreshArgs{}); again.Incremental.Reused || len(s.Runs()) != runs+1 {
		t.Errorf("%+v after %d more runs", again.Incremental, len(s.Runs())-runs)
	}
	if again := s.MustRefresh(logicstamp.RefreshArgs{}); !again.Incremental.Reused {
		t.Errorf("a quiet project is analysed again: %+v", again.Incremental)
	}
}

// What is kept of a watched context are the bytes that were read, whatever the
// watch writes in between.
func TestAWatchThatWritesWhileItsContextIsKeptTearsNothing(t *testing.T) {
	s := watching(t)
	call := logicstamp.Call{Progress: func(stage string, _ time.Duration) {
		if stage == "store" {
			s.Write("src/context.json", `[{"entryId":`)
		}
	}}
	r, err := s.Refresh(t.Context(), call, logicstamp.RefreshArgs{})
	if err != nil {
		t.Fatal(err)
	}
	if list, err := s.List(t.Context(), logicstamp.Call{}, logicstamp.ListArgs{SnapshotID: r.SnapshotID}); err != nil || list.TotalBundles != 2 {
		t.Errorf("%+v, %v", list, err)
	}
}

// A context that is being written is read again, also to list it.
func TestListingWaitsForAWatchThatWrites(t *testing.T) {
	s := watching(t)
	file := filepath.Join(s.Project, "src/context.json")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	written := errors.New("never waited")
	other := s.Open(func(o *logicstamp.Options) {
		o.Dir = t.TempDir() // has no snapshot to fall back on
		o.Pause = func(context.Context, time.Duration) error {
			written = os.WriteFile(file, whole, 0o600)
			return nil
		}
	})
	s.Write("src/context.json", string(whole[:len(whole)/2]))
	list, err := other.List(t.Context(), logicstamp.Call{}, logicstamp.ListArgs{Project: s.Project})
	if written != nil || err != nil || list.TotalBundles != 2 {
		t.Errorf("got %+v, %v; the watch: %v", list, err, written)
	}
}
