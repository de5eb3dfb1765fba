package mcpserver_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stamptest"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// heard is a host that keeps what the module says.
type heard struct {
	updated chan string
	logs    chan logged
	states  chan snapshot.State
}

type logged struct {
	level string
	data  string
	to    func(snapshot.Caller) bool
}

func newHeard() *heard {
	return &heard{make(chan string, 20), make(chan logged, 20), make(chan snapshot.State, 20)}
}

func (h *heard) SetState(s snapshot.State)  { h.states <- s }
func (h *heard) Changed()                   {}
func (h *heard) ResourceUpdated(uri string) { h.updated <- uri }

func (h *heard) Pass(string, string, json.RawMessage) {}
func (h *heard) Warn(string)                          {}
func (h *heard) Tell()                                {}

// The deck cuts what a server says at the width it has, so what to do comes
// before what is wrong.
func TestTheDeckSaysFirstHowToInstallStamp(t *testing.T) {
	m := newStage(t, func(o *logicstamp.Options) { o.CLI.Command = []string{filepath.Join(t.TempDir(), "no-such-stamp")} }).module
	h := newHeard()
	if err := m.Start(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	<-h.states // ready, until it has looked
	if s := <-h.states; s.Status != snapshot.Degraded || s.Lacks != "stamp not found" || !strings.HasPrefix(s.Reason, "run `mcpdeck doctor --fix`") || !strings.Contains(s.Reason, "not found") {
		t.Errorf("%s: %q, want the command that installs stamp first", s.Status, s.Reason)
	}
}

func (h *heard) Log(level string, data any, to func(snapshot.Caller) bool) {
	text, err := json.Marshal(data)
	if err != nil {
		text = []byte(err.Error())
	}
	h.logs <- logged{level, string(text), to}
}

// What a monitor finds is told to subscribers and, without its body, to the
// logs of those who may read the project; what a call finds to subscribers only.
func TestMonitorLogs(t *testing.T) {
	s := newStage(t, func(o *logicstamp.Options) { o.MinInterval, o.ProjectPath = time.Second, "" })
	h := newHeard()
	if err := s.module.Start(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	s.use("logicstamp_refresh_snapshot", nil)
	s.use("logicstamp_compare_snapshot", nil)
	if uri := <-h.updated; uri != logicstamp.DriftURI(s.Project) || len(h.logs) != 0 {
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
		case <-stamptest.Patience(t):
			t.Fatal("nothing was logged")
			return logged{}
		}
	}
	if l := next(); !strings.Contains(l.data, `"status":"pass"`) {
		t.Errorf("at the start: %s", l.data)
	}
	s.Write("src/parts/Knob.tsx", "// props: size\n")
	l := next()
	for _, want := range []string{`"status":"diff"`, `"changed":1`, `"src/parts/Knob.tsx: prop removed: locked"`, logicstamp.DriftURI(s.Project)} {
		if !strings.Contains(l.data, want) {
			t.Errorf("the message is %s, without %s", l.data, want)
		}
	}
	if l.level != "info" || strings.Contains(l.data, "folderDiffs") || len(l.data) > 1000 {
		t.Errorf("level %s, %d bytes", l.level, len(l.data))
	}
	if !l.to(snapshot.Caller{Root: s.Project}) || l.to(snapshot.Caller{Root: t.TempDir()}) {
		t.Error("it is not for those who may read the project")
	}
}
