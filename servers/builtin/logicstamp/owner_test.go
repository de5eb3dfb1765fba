package logicstamp_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
)

func session(client, name string) logicstamp.Call {
	return logicstamp.Call{Client: client, Identity: "id of " + name, Name: name}
}

func (s *stage) refreshAs(call logicstamp.Call) string {
	s.T.Helper()
	r, err := s.Refresh(s.T.Context(), call, logicstamp.RefreshArgs{})
	if err != nil {
		s.T.Fatal(err)
	}
	s.Clock.Add(time.Second)
	return r.SnapshotID
}

func (s *stage) compareAs(call logicstamp.Call) *compare.Result {
	s.T.Helper()
	r, err := s.Compare(s.T.Context(), call, logicstamp.CompareArgs{Baseline: "snapshot"})
	if err != nil {
		s.T.Fatal(err)
	}
	return r
}

// A session's drift is not hidden by what another one, of the same client or
// not, or the user refreshes after the edit.
func TestAnothersSnapshotDoesNotMoveABaseline(t *testing.T) {
	s := newStage(t, standIn{})
	mine := session("1", "claude")
	id := s.refreshAs(mine)
	s.Write("src/parts/Knob.tsx", "// props: size\n")
	for _, other := range []logicstamp.Call{session("2", "claude"), session("3", "codex"), {}} {
		s.refreshAs(other)
		r := s.compareAs(mine)
		if r.Status != compare.Diff || r.BaselineInfo.SnapshotID != id || r.BaselineInfo.MadeBy != "claude" {
			t.Errorf("after a refresh of %q: %s with %+v", other.Name, r.Status, r.BaselineInfo)
		}
		if r := s.compareAs(other); r.Status != compare.Pass || len(r.Warnings) > 0 {
			t.Errorf("%q with its own: %s %v", other.Name, r.Status, r.Warnings)
		}
	}
}

// A baseline that is lost or has expired is an error, also where an older
// snapshot is still there.
func TestALostBaselineIsNotReplacedByAnOlderSnapshot(t *testing.T) {
	for name, row := range map[string]struct {
		lose func(s *stage, id string)
		want problem.Code
	}{
		"lost": {func(s *stage, id string) {
			if err := os.RemoveAll(s.contextDir(id)); err != nil {
				s.T.Fatal(err)
			}
		}, problem.SnapshotLost},
		"expired": {func(s *stage, _ string) { s.Clock.Add(2 * time.Hour) }, problem.SnapshotExpired},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, standIn{})
			mine := session("1", "claude")
			old := s.refreshAs(mine)
			if err := s.PinFor(old, true); err != nil {
				t.Fatal(err)
			}
			s.Write("src/parts/Knob.tsx", "// props: size\n")
			row.lose(s, s.refreshAs(mine))
			if r := s.compareAs(mine); r.Status != compare.Failed || r.ErrorCode != row.want {
				t.Errorf("%s %s with %+v", r.Status, r.ErrorCode, r.BaselineInfo)
			}
			if _, err := s.Monitor(t.Context(), mine, logicstamp.MonitorArgs{Action: "start"}); problem.CodeOf(err) != row.want {
				t.Errorf("the monitor: %v", err)
			}
		})
	}
}

// A session without a snapshot adopts one, and is told whose it is; from then on
// that one stays its baseline.
func TestASessionWithoutASnapshotAdoptsOneAndIsTold(t *testing.T) {
	s := newStage(t, standIn{})
	first := s.refreshAs(session("1", "claude"))
	late := session("2", "codex")
	r := s.compareAs(late)
	said := slices.IndexFunc(r.Warnings, func(w problem.Warning) bool { return w.Code == problem.BaselineAdopted })
	if r.Status != compare.Pass || r.BaselineInfo.SnapshotID != first || said < 0 || !strings.Contains(r.Warnings[said].Message, "claude") {
		t.Fatalf("%s with %+v, %v", r.Status, r.BaselineInfo, r.Warnings)
	}
	s.Write("src/parts/Knob.tsx", "// props: size\n")
	s.refreshAs(session("1", "claude"))
	if r := s.compareAs(late); r.Status != compare.Diff || r.BaselineInfo.SnapshotID != first || len(r.Warnings) > 0 {
		t.Errorf("%s with %+v, %v", r.Status, r.BaselineInfo, r.Warnings)
	}
	// The same client, connected anew, goes on with its own.
	s.ClientGone("1")
	if r := s.compareAs(session("9", "claude")); len(r.Warnings) > 0 || r.BaselineInfo.SnapshotID == first {
		t.Errorf("connected anew: %+v, %v", r.BaselineInfo, r.Warnings)
	}
}
