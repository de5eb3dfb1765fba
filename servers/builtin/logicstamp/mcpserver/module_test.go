package mcpserver_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/backendtest"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// The deck cuts what a server says at the width it has, so what to do comes
// before what is wrong.
func TestTheDeckSaysFirstHowToInstallStamp(t *testing.T) {
	deck := newStage(t, func(o *logicstamp.Options) { o.CLI.Command = []string{filepath.Join(t.TempDir(), "no-such-stamp")} }).deck
	var e backendtest.Events
	if err := deck.Start(t.Context(), &e); err != nil {
		t.Fatal(err)
	}
	testwait.Until(t, "it has looked", func() bool { return e.State().Status != snapshot.Ready })
	if s := e.State(); s.Status != snapshot.Degraded || s.Lacks != "stamp not installed" || !strings.HasPrefix(s.Reason, "run `mcpdeck doctor --fix`") || !strings.Contains(s.Reason, "not found") {
		t.Errorf("%s: %q, want the command that installs stamp first", s.Status, s.Reason)
	}
}

// What a monitor finds is told to subscribers and, without its body, to the
// logs of those who may read the project; what a call finds to subscribers only.
func TestMonitorLogs(t *testing.T) {
	s := newStage(t, func(o *logicstamp.Options) { o.MinInterval, o.ProjectPath = time.Second, "" })
	var e backendtest.Events
	if err := s.deck.Start(t.Context(), &e); err != nil {
		t.Fatal(err)
	}
	s.deck.Subscribed("here", backend.Subscriptions{Level: "info", Root: s.Project})
	s.deck.Subscribed("deaf", backend.Subscriptions{Root: s.Project})
	s.deck.Subscribed("elsewhere", backend.Subscriptions{Level: "info", Root: t.TempDir()})
	of := func(method string) (all []backendtest.Said) {
		return slices.DeleteFunc(e.Said(), func(n backendtest.Said) bool { return n.Method != method })
	}
	s.use("logicstamp_refresh_snapshot", nil)
	s.use("logicstamp_compare_snapshot", nil)
	testwait.Until(t, "an update of the drift", func() bool { return len(of("notifications/resources/updated")) > 0 })
	if u := e.Said(); len(u) != 1 || u[0].Params != `{"uri":"`+logicstamp.DriftURI(s.Project)+`"}` {
		t.Errorf("after a call: %+v", u)
	}
	if _, failure := s.use("logicstamp_drift_monitor", map[string]any{"action": "start"}); failure != "" {
		t.Fatal(failure)
	}
	logs := func(n int) backendtest.Said {
		t.Helper()
		return testwait.For(t, "a message", func() []backendtest.Said { return of("notifications/message") }, func(all []backendtest.Said) bool { return len(all) >= n })[n-1]
	}
	if l := logs(1); !strings.Contains(l.Params, `"status":"pass"`) {
		t.Errorf("at the start: %+v", l)
	}
	s.Write("src/parts/Knob.tsx", "// props: size\n")
	l := logs(2)
	for _, want := range []string{`"level":"info"`, `"status":"diff"`, `"changed":1`, `"src/parts/Knob.tsx: prop removed: locked"`, logicstamp.DriftURI(s.Project)} {
		if !strings.Contains(l.Params, want) {
			t.Errorf("the message is %s, without %s", l.Params, want)
		}
	}
	if strings.Contains(l.Params, "folderDiffs") || len(l.Params) > 1100 {
		t.Errorf("%d bytes", len(l.Params))
	}
	for _, l := range of("notifications/message") {
		if l.Session != "here" {
			t.Errorf("%s got it, who may not read the project or wants no logs", l.Session)
		}
	}
}
