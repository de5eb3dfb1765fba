package logicstamp_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stamptest"
)

// A monitor's commit stays the one it was when the monitor started, also when
// the branch moves on.
func TestAMonitorsCommitDoesNotMove(t *testing.T) {
	s := newStage(t, standIn{}, func(o *logicstamp.Options) { o.MinInterval = time.Second })
	git(t, s.Project, "init", "-q", "-b", "main")
	git(t, s.Project, "add", "-A")
	git(t, s.Project, "commit", "-qm", "first")
	hash := strings.TrimSpace(git(t, s.Project, "rev-parse", "HEAD"))
	hint, stop := s.Subscribe()
	defer stop()
	if _, err := s.Monitor(t.Context(), logicstamp.Call{}, logicstamp.MonitorArgs{Action: "start", Baseline: "git:HEAD"}); err != nil {
		t.Fatal(err)
	}
	s.Write("src/parts/Knob.tsx", "// props: size\n")
	git(t, s.Project, "commit", "-qam", "second")
	end := stamptest.Patience(t)
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

// The snapshot that a monitor kept may expire again when the deck ends.
func TestMonitorsPinEndsWithTheService(t *testing.T) {
	s := newStage(t, standIn{})
	s.MustRefresh(logicstamp.RefreshArgs{})
	if err := s.MonitorFor(t.Context(), s.Project, "snapshot", true); err != nil {
		t.Fatal(err)
	}
	pinned := func(service *logicstamp.Service) bool { return service.State().Projects[0].Snapshots[0].Pinned }
	if !pinned(s.Service) {
		t.Fatal("the baseline can expire while it is watched")
	}
	s.Close()
	if pinned(s.Open()) {
		t.Error("the baseline stays pinned")
	}
}

// A monitor that takes the place of another keeps what that one kept.
func TestPinOutlivesTheMonitorThatIsReplaced(t *testing.T) {
	s := newStage(t, standIn{})
	s.MustRefresh(logicstamp.RefreshArgs{})
	for range 2 {
		if err := s.MonitorFor(t.Context(), s.Project, "snapshot", true); err != nil {
			t.Fatal(err)
		}
		if !s.State().Projects[0].Snapshots[0].Pinned {
			t.Fatal("the baseline can expire while it is watched")
		}
	}
	if err := s.MonitorFor(t.Context(), s.Project, "snapshot", false); err != nil {
		t.Fatal(err)
	}
	if s.State().Projects[0].Snapshots[0].Pinned {
		t.Error("the baseline stays pinned")
	}
}

// Nor does the pin of a monitor hold when its process died.
func TestPinOfADeadProcessDoesNotHold(t *testing.T) {
	s := newStage(t, standIn{})
	id := s.MustRefresh(logicstamp.RefreshArgs{}).SnapshotID
	pin := filepath.Join(s.Options.Dir, "snapshots", id+".pin")
	dead := exec.Command(os.Args[0], stamptest.StandInFlag, t.TempDir(), "--version")
	_ = dead.Run()
	for holder, want := range map[string]bool{"": true, strconv.Itoa(os.Getpid()): true, strconv.Itoa(dead.Process.Pid): false} {
		if err := os.WriteFile(pin, []byte(holder), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := s.State().Projects[0].Snapshots[0].Pinned; got != want {
			t.Errorf("held by %q: pinned is %v", holder, got)
		}
	}
}

func TestAMonitorEndsWithItsClient(t *testing.T) {
	s := newStage(t, standIn{})
	s.MustRefresh(logicstamp.RefreshArgs{})
	start := func(client string) {
		if _, err := s.Monitor(context.Background(), logicstamp.Call{Client: client}, logicstamp.MonitorArgs{Action: "start"}); err != nil {
			t.Fatal(err)
		}
	}
	start("a1")
	s.ClientGone("a2")
	if !s.State().Projects[0].Watching {
		t.Error("another client's end stopped it")
	}
	s.ClientGone("a1")
	if s.State().Projects[0].Watching {
		t.Error("it outlives its client")
	}
	start("")
	s.ClientGone("")
	if !s.State().Projects[0].Watching {
		t.Error("the user's monitor ended with a client")
	}
}

func FuzzSince(f *testing.F) {
	f.Add("2026-01-02T03:04:05Z")
	f.Add("2026-01-02")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := logicstamp.ParseSince(text); err != nil && problem.CodeOf(err) != problem.BadArgument {
			t.Fatal(err)
		}
	})
}
