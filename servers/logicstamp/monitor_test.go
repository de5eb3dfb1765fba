package logicstamp_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/deck"
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
	end := patience(t)
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
	s.refresh(logicstamp.RefreshArgs{})
	if err := s.MonitorFor(t.Context(), s.project, "snapshot", true); err != nil {
		t.Fatal(err)
	}
	pinned := func(service *logicstamp.Service) bool { return service.State().Projects[0].Snapshots[0].Pinned }
	if !pinned(s.Service) {
		t.Fatal("the baseline can expire while it is watched")
	}
	s.Close()
	if pinned(s.open()) {
		t.Error("the baseline stays pinned")
	}
}

// A monitor that takes the place of another keeps what that one kept.
func TestPinOutlivesTheMonitorThatIsReplaced(t *testing.T) {
	s := newStage(t, standIn{})
	s.refresh(logicstamp.RefreshArgs{})
	for range 2 {
		if err := s.MonitorFor(t.Context(), s.project, "snapshot", true); err != nil {
			t.Fatal(err)
		}
		if !s.State().Projects[0].Snapshots[0].Pinned {
			t.Fatal("the baseline can expire while it is watched")
		}
	}
	if err := s.MonitorFor(t.Context(), s.project, "snapshot", false); err != nil {
		t.Fatal(err)
	}
	if s.State().Projects[0].Snapshots[0].Pinned {
		t.Error("the baseline stays pinned")
	}
}

// Nor does the pin of a monitor hold when its process died.
func TestPinOfADeadProcessDoesNotHold(t *testing.T) {
	s := newStage(t, standIn{})
	id := s.refresh(logicstamp.RefreshArgs{}).SnapshotID
	pin := filepath.Join(s.opts.Dir, "snapshots", id+".pin")
	dead := exec.Command(os.Args[0], standInFlag, t.TempDir(), "--version")
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

// heard is a host that keeps what the module says.
type heard struct {
	updated chan string
	logs    chan logged
	states  chan deck.State
}

type logged struct {
	level mcp.LoggingLevel
	data  string
	to    func(deck.Caller) bool
}

func newHeard() *heard {
	return &heard{make(chan string, 20), make(chan logged, 20), make(chan deck.State, 20)}
}

func (h *heard) SetState(s deck.State)      { h.states <- s }
func (h *heard) Changed()                   {}
func (h *heard) ResourceUpdated(uri string) { h.updated <- uri }
func (h *heard) Warn(string)                {}
func (h *heard) Tell()                      {}

// The deck cuts what a server says at the width it has, so what to do comes
// before what is wrong.
func TestTheDeckSaysFirstHowToInstallStamp(t *testing.T) {
	m := logicstamp.NewModule(newService(t, "", t.TempDir()))
	h := newHeard()
	if err := m.Start(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	<-h.states // ready, until it has looked
	if s := <-h.states; s.Status != deck.Degraded || !strings.HasPrefix(s.Reason, "run `mcpdeck doctor --fix`") || !strings.Contains(s.Reason, "not found") {
		t.Errorf("%s: %q, want the command that installs stamp first", s.Status, s.Reason)
	}
}

func (h *heard) Log(level mcp.LoggingLevel, data any, to func(deck.Caller) bool) {
	text, err := json.Marshal(data)
	if err != nil {
		text = []byte(err.Error())
	}
	h.logs <- logged{level, string(text), to}
}

// What a monitor finds is told to subscribers and, without its body, to the
// logs of those who may read the project; what a call finds to subscribers only.
func TestMonitorLogs(t *testing.T) {
	s := newStage(t, standIn{}, func(o *logicstamp.Options) { o.MinInterval, o.ProjectPath = time.Second, "" })
	h := newHeard()
	if err := s.module.Start(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	s.use("logicstamp_refresh_snapshot", nil)
	s.use("logicstamp_compare_snapshot", nil)
	if uri := <-h.updated; uri != logicstamp.DriftURI(s.project) || len(h.logs) != 0 {
		t.Errorf("after a call: %s was updated, %d messages", uri, len(h.logs))
	}
	if _, failure := s.use("logicstamp_drift_monitor", map[string]any{"action": "start"}); failure != "" {
		t.Fatal(failure)
	}
	next := func() logged {
		t.Helper()
		select {
		case l := <-h.logs:
			return l
		case <-patience(t):
			t.Fatal("nothing was logged")
			return logged{}
		}
	}
	if l := next(); !strings.Contains(l.data, `"status":"pass"`) {
		t.Errorf("at the start: %s", l.data)
	}
	s.write("src/parts/Knob.tsx", "// props: size\n")
	l := next()
	for _, want := range []string{`"status":"diff"`, `"changed":1`, `"src/parts/Knob.tsx: prop removed: locked"`, logicstamp.DriftURI(s.project)} {
		if !strings.Contains(l.data, want) {
			t.Errorf("the message is %s, without %s", l.data, want)
		}
	}
	if l.level != mcp.LoggingLevelInfo || strings.Contains(l.data, "folderDiffs") || len(l.data) > 1000 {
		t.Errorf("level %s, %d bytes", l.level, len(l.data))
	}
	if !l.to(deck.Caller{Root: s.project}) || l.to(deck.Caller{Root: t.TempDir()}) {
		t.Error("it is not for those who may read the project")
	}
}
