//go:build linux

package main

import (
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/ask"
)

// TestADeckThatIsKilledWhileADenialIsHeldLeavesItDenied kills a deck that shows what auto mode has denied: its turn goes
// on with that, and the next deck neither shows it nor gives an answer to it. The same call, denied once more, is asked
// anew.
func TestADeckThatIsKilledWhileADenialIsHeldLeavesItDenied(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	d.configure("[denied]\nhold = \"20s\"\n")
	waits := func() string {
		out, _ := d.command("ask", "list").Output() // none before the deck has begun
		return string(out)
	}
	for i := range 2 {
		deck := d.serve()
		if all := waits(); strings.Contains(all, "tried again") {
			t.Errorf("before anything is denied it shows\n%s", all)
		}
		if out, err := d.command("ask", "answer", "1", "Let it try again").CombinedOutput(); err == nil || !strings.Contains(string(out), "no open question has this number") {
			t.Errorf("what nobody waits for is answered: %v, %s", err, out)
		}
		w := d.promptsBy("s1", string(marshalled(t, map[string]any{
			"hook_event_name": "PermissionDenied", "session_id": "s1", "cwd": d.project, "permission_mode": "auto", "tool_name": "Bash",
			"tool_input": map[string]string{"command": "curl example.com"}, "tool_use_id": "t1", "reason": "the task names no such host",
		})))
		d.until("a denial that may be tried again", func() bool { return strings.Contains(waits(), "Let Bash be tried again?") })
		d.until("the denial in the history", func() bool { return len(d.became()) > i })
		d.kill(deck)
		w.silent(t, "the hook")
	}
	d.serve()
	if all := waits(); strings.Contains(all, "tried again") {
		t.Errorf("the next deck shows\n%s", all)
	}
	for _, end := range d.became() {
		if end != ask.EndDenied {
			t.Errorf("the history says %s", end)
		}
	}
	out, err := d.command("rules", "denied").Output()
	if err != nil || strings.Count(string(out), "curl example.com") != 1 || !strings.Contains(string(out), "2 times") {
		t.Errorf("it is listed as %s, %v", out, err)
	}
}
