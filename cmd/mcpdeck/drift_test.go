//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stamptest"
)

// analysing makes a driver whose deck analyses with a stand-in for stamp.
func analysing(t *testing.T, files map[string]string) *driver {
	t.Helper()
	stamp, err := exec.LookPath("stamp")
	if err != nil {
		t.Fatal(err)
	}
	d := newDriver(t)
	stamptest.Write(t, d.home, map[string]string{".config/mcpdeck/config.toml": fmt.Sprintf("[logicstamp]\ncommand = %q\n", stamp)})
	stamptest.Write(t, d.project, files)
	return d
}

// analyses are how often the stand-in ran.
func analyses(d *driver) int {
	found, _ := filepath.Glob(filepath.Join(standInDir(d.home), "call-*"))
	return len(found)
}

func (a *agent) tool(name string) string {
	a.t.Helper()
	text, err := json.Marshal(a.Request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{}}`, name)))
	if err != nil {
		a.t.Fatal(err)
	}
	return string(text)
}

// Two agents work in one project: what one refreshes after an edit does not hide
// the drift of the other.
func TestADeckKeepsABaselineForEachAgent(t *testing.T) {
	t.Parallel()
	d := analysing(t, map[string]string{"src/App.tsx": "// props: title dense\n"})
	d.serve()
	first, second := d.relay("logicstamp"), d.relay("logicstamp")
	first.Handshake("one")
	second.Handshake("one")
	first.tool("logicstamp_refresh_snapshot")
	stamptest.Write(t, d.project, map[string]string{"src/App.tsx": "// props: title\n"})
	second.tool("logicstamp_refresh_snapshot")
	if out := first.tool("logicstamp_compare_snapshot"); !strings.Contains(out, "prop removed: dense") {
		t.Errorf("the first agent does not see its edit: %s", out)
	}
	if out := second.tool("logicstamp_compare_snapshot"); strings.Contains(out, "prop removed") || strings.Contains(out, "BASELINE_ADOPTED") {
		t.Errorf("the second agent compares with another's snapshot: %s", out)
	}
	found, _ := filepath.Glob(filepath.Join(d.home, ".local/state/mcpdeck/logicstamp/snapshots/snap_*/snapshot.json"))
	for _, f := range found {
		if err := os.RemoveAll(filepath.Dir(f)); err != nil {
			t.Fatal(err)
		}
	}
	if out := first.tool("logicstamp_compare_snapshot"); !strings.Contains(out, "SNAPSHOT_LOST") {
		t.Errorf("a lost baseline: %s", out)
	}
}

// An agent that cancels its call does not end the analysis that another waits
// for.
func TestADeckGoesOnAnalysingForTheSecondCaller(t *testing.T) {
	t.Parallel()
	d := analysing(t, map[string]string{"src/App.tsx": "// props: title\n"})
	release := filepath.Join(d.home, "release")
	stamptest.Behave(t, standInDir(d.home), stamptest.StandIn{Until: release})
	d.serve()
	first, second := d.relay("logicstamp"), d.relay("logicstamp")
	first.Handshake("one")
	second.Handshake("two")
	call := `{"name":"logicstamp_refresh_snapshot","arguments":{},"_meta":{"progressToken":7}}`
	first.Send(70, "tools/call", call)
	d.until("an analysis", func() bool { return analyses(d) == 1 })
	second.Send(70, "tools/call", call)
	second.until("stamp")
	first.Send(nil, "notifications/cancelled", `{"requestId":70}`)
	first.Request("ping", "{}")
	if err := os.WriteFile(release, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, _ := json.Marshal(second.Answer(70.0)); !strings.Contains(string(out), "snapshotId") {
		t.Errorf("the second caller: %s", out)
	}
	if n := analyses(d); n != 1 {
		t.Errorf("%d analyses", n)
	}
}

// until waits for progress with a message.
func (a *agent) until(message string) {
	a.t.Helper()
	for m := range a.Lines {
		params, _ := m["params"].(map[string]any)
		if m["method"] == "notifications/progress" && params["message"] == message {
			return
		}
	}
	a.t.Fatal("the relay has ended")
}

// A call that finds a change below the depth answers at once; what the deeper
// analysis finds comes after it.
func TestADeckAnswersBeforeTheDeeperAnalysisIsDone(t *testing.T) {
	t.Parallel()
	d := analysing(t, map[string]string{
		"src/App.tsx": "// props: title\n// uses: src/B.tsx\n", "src/B.tsx": "// props: b\n// uses: src/C.tsx\n",
		"src/C.tsx": "// props: c\n// uses: src/D.tsx\n", "src/D.tsx": "// props: deep\n",
	})
	d.serve()
	a := d.relay("logicstamp")
	a.Handshake("one")
	a.tool("logicstamp_refresh_snapshot")
	d.until("a deeper analysis", func() bool {
		found, _ := filepath.Glob(filepath.Join(d.home, ".local/state/mcpdeck/logicstamp/snapshots/deep_*/snapshot.json"))
		return len(found) == 1
	})
	release := filepath.Join(d.home, "release")
	stamptest.Behave(t, standInDir(d.home), stamptest.StandIn{Until: release, UntilDeep: true})
	stamptest.Write(t, d.project, map[string]string{"src/D.tsx": "// props: other\n"})
	if out := a.tool("logicstamp_compare_snapshot"); !strings.Contains(out, `"deeper":"running"`) {
		t.Errorf("the answer: %s", out)
	}
	if err := os.WriteFile(release, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.until("the deeper result", func() bool {
		return strings.Contains(a.tool("logicstamp_get_last_compare_result"), "prop removed: deep")
	})
}
