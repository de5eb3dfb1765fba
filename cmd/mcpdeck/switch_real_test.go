//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// hasNPX has npx find the real servers from the project, without a network.
func hasNPX(d *driver) {
	d.t.Helper()
	npx, err := exec.LookPath("npx")
	if err != nil {
		d.t.Fatal(err)
	}
	d.path = filepath.Dir(realtest.Agent(d.t, "node")) + ":" + filepath.Dir(npx) + ":" + d.path
	modules := filepath.Dir(filepath.Dir(realtest.ServerFromNPM(d.t, "npx")))
	if err := os.Symlink(modules, filepath.Join(d.project, "node_modules")); err != nil {
		d.t.Fatal(err)
	}
}

// offersOf is all that agents are told of what there is, byte by byte, by era, transport
// and question.
func offersOf(d *driver) map[string]string {
	d.t.Helper()
	out := map[string]string{}
	for era, modern := range map[string]bool{"legacy": false, "modern": true} {
		for way, r := range waysIn(d, modern) {
			out[era+" "+way+" greeting"] = string(r.hello("{}"))
			for _, method := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list"} {
				out[era+" "+way+" "+method] = string(r.ask(method, ""))
			}
			r.end()
		}
	}
	return out
}

// TestARealServerCostsNothingWhileItIsOff adds one that does not end with its input, by
// way of npx, and turns it on and off with a key.
func TestARealServerCostsNothingWhileItIsOff(t *testing.T) {
	t.Parallel()
	realtest.On(t)
	d := newDriver(t)
	hasNPX(d)
	d.choosePort()
	open := func() *window {
		t.Helper()
		w := d.window("--port", d.port())
		w.wide()
		w.shows(d, "Inbox")
		return w
	}
	w := open()
	before := offersOf(d)
	out, err := d.command("add", "everything", "--yes", "--", "npx", "-y", "@modelcontextprotocol/server-everything@2026.8.31").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "13 tools") {
		t.Fatalf("add: %v\n%s", err, out)
	}
	w.key("S")
	w.shows(d, "everything")
	same(t, "added", before, offersOf(d))
	if left := d.runs(); len(left) > 0 {
		t.Errorf("it runs while it is off: %v", left)
	}

	a := d.relay()
	a.Handshake("claude")
	w.key("G")
	w.shows(d, "▌○ everything")
	w.key(" ")
	w.agree(d)
	d.until("the tools", func() bool { return a.lists("everything_echo") })
	d.nothingRuns("once its tools are known")
	if !a.lists("everything_echo") || len(d.runs()) > 0 {
		t.Errorf("a list has started it: %v", d.runs())
	}
	w.key("I") // where the next deck opens
	w.key("q")
	w.shows(d, "Quit mcpdeck?")
	w.key("y")
	w.ended()
	w = open()
	d.until("the tools in the next deck", func() bool { return a.lists("everything_echo") })
	if left := d.runs(); len(left) > 0 {
		t.Errorf("a list has started it: %v", left)
	}
	out, err = d.command("call", "everything_echo", "message=hi").CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "Echo: hi" {
		t.Errorf("call: %v\n%s", err, out)
	}
	if failed, said := a.failed("everything_echo", `{"message":"again"}`); failed || !strings.Contains(said, "Echo: again") {
		t.Errorf("the tool says %s", said)
	}
	if len(d.runs()) == 0 {
		t.Error("nothing runs for an agent that has called it")
	}

	w.key("SG")
	w.shows(d, "▌● everything")
	w.key(" ")
	d.until("no tools", func() bool { return !a.lists("everything_echo") })
	same(t, "turned off", before, offersOf(d))
	d.nothingRuns("while it is off")
	if failed, said := a.failed("everything_echo", `{"message":"hi"}`); !failed || !strings.Contains(said, "everything is off. The user can turn it on in mcpdeck") {
		t.Errorf("while it is off, the tool says %s", said)
	}

	// It does not end with its input, and npx has started more than one process.
	w.key(" ")
	d.until("the tools again", func() bool { return a.lists("everything_echo") })
	if failed, said := a.failed("everything_echo", `{"message":"hi"}`); failed {
		t.Errorf("the tool says %s", said)
	}
	d.kill(a.Cmd)
	d.kill(w.cmd)
	open()
	d.nothingRuns("of the deck that was killed")
}
