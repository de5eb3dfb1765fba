package logicstamp_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/logicstamp"
)

// A monitor's commit stays the one it was when the monitor started, also when
// the branch moves on.
func TestAMonitorsCommitDoesNotMove(t *testing.T) {
	s := newStage(t, standIn{}, func(o *logicstamp.Options) { o.MinInterval = time.Second })
	git(t, s.project, "init", "-q", "-b", "main")
	git(t, s.project, "add", "-A")
	git(t, s.project, "commit", "-qm", "first")
	hash := strings.TrimSpace(git(t, s.project, "rev-parse", "HEAD"))
	hint, stop := s.Subscribe()
	defer stop()
	if _, err := s.Monitor(t.Context(), logicstamp.Call{}, logicstamp.MonitorArgs{Action: "start", Baseline: "git:HEAD"}); err != nil {
		t.Fatal(err)
	}
	s.write("src/parts/Knob.tsx", "// props: size\n")
	git(t, s.project, "commit", "-qam", "second")
	end := time.After(30 * time.Second)
	for {
		if projects := s.State().Projects; len(projects) > 0 {
			r := projects[0].Results[len(projects[0].Results)-1]
			if r.BaselineInfo == nil || r.BaselineInfo.Commit != hash || r.Baseline != "git:HEAD" || r.BaselineInfo.Ref != "HEAD" {
				t.Fatalf("result = %+v %+v", r, r.BaselineInfo)
			}
			if r.Status == "diff" {
				return
			}
		}
		select {
		case <-hint:
		case <-end:
			t.Fatal("no drift was found")
		}
	}
}
