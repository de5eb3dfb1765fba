//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/rules/book"
	"github.com/mcpdeck/mcpdeck/servers/rules/book/booktest"
)

// TestADeckThatIsKilledWhileARuleAnswersLosesAndRepeatsNothing kills decks between the verdict of a rule and its
// reply, and before and after both: each prompt has one answer or is asked in its terminal, and the history says of
// none that it was taken that its agent did not get.
func TestADeckThatIsKilledWhileARuleAnswersLosesAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	rounds := 10
	if n, err := strconv.Atoi(os.Getenv("MCPDECK_TEST_ROUNDS")); err == nil {
		rounds = n
	}
	d := newDriverOnDisk(t)
	hasRules(d)
	state := filepath.Join(d.home, ".local", "state", "mcpdeck")
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	s := book.NewStore(filepath.Join(d.home, ".config", "mcpdeck"), state)
	booktest.Accept(t, s)
	d.makes(filepath.Join(d.home, ".claude", "shell-snapshots", "snapshot-bash-1-a.sh"), "export PATH='/usr/bin:/bin'\n")
	got := map[string]string{} // what hooks have printed, by command
	for i := range rounds {
		deck := d.serve()
		command := fmt.Sprintf("head -n %d a.txt", i+1)
		id := fmt.Sprintf("s%d", i)
		w := d.promptsBy(id, string(marshalled(t, map[string]any{
			"hook_event_name": "PermissionRequest", "session_id": id, "cwd": d.project, "permission_mode": "default", "tool_name": "Bash",
			"tool_input":             map[string]string{"command": command},
			"permission_suggestions": []any{map[string]any{"type": "addRules", "rules": []any{map[string]string{"toolName": "Bash", "ruleContent": command}}, "behavior": "allow", "destination": "localSettings"}},
		})))
		done := make(chan error, 1)
		go func() { done <- w.c.Wait() }()
		if i > 0 {
			time.Sleep(time.Duration(rand.IntN(40<<rand.IntN(5))) * time.Millisecond) // somewhere in between, also on a busy machine
			d.kill(deck)
		}
		if err := <-done; err != nil {
			t.Errorf("%s: the hook fails: %v, %s", command, err, &w.err)
		}
		d.kill(deck)
		got[command] = w.out.String()
	}
	d.serve()
	allowed, recorded := 0, 0
	b, err := os.ReadFile(filepath.Join(state, "history.jsonl"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	last := map[string]ask.Record{}
	for line := range strings.Lines(string(b)) {
		var r ask.Record
		if json.Unmarshal([]byte(line), &r) == nil { // but for the last one, which may be half written
			last[r.Request.Prompt.Command] = r
		}
	}
	for command, out := range got {
		r, is := last[command]
		switch n := strings.Count(out, `"behavior":"allow"`); {
		case n > 1 || n == 0 && strings.TrimSpace(out) != "":
			t.Errorf("%s: the hook prints %q", command, out)
		case n == 1:
			if allowed++; !is || r.Rule == nil {
				t.Errorf("%s was allowed, and the history does not say by which rule: %+v", command, r)
			}
		case is && (r.Delivery == ask.Sent || r.Delivery == ask.Delivered):
			t.Errorf("%s was not answered, and the history says %s", command, r.Delivery)
		}
		if is {
			recorded++
		}
	}
	if allowed == 0 {
		t.Error("the rule allowed nothing, not even where no deck was killed")
	}
	t.Logf("of %d prompts, %d were allowed, %d are in the history, none twice", rounds, allowed, recorded)
}
