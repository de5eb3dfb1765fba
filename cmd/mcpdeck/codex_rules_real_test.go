//go:build linux

package main

import (
	"encoding/json"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// TestNoRuleAllowsWhatARuleOfTheRealCodexAsks is about a rule of the user's in Codex's own file, also where the
// model wishes for another one.
func TestNoRuleAllowsWhatARuleOfTheRealCodexAsks(t *testing.T) {
	t.Parallel()
	realtest.Agent(t, "codex") // or the test is skipped
	call := func(args string) mockmodel.Step {
		return mockmodel.Step{Tool: "exec_command", Args: json.RawMessage(`{"sandbox_permissions":"require_escalated","justification":"j",` + args + `}`)}
	}
	c, m := prepareCodex(
		t,
		call(`"cmd":"head -n 1 a.txt"`),
		call(`"cmd":"cat a.txt"`),
		call(`"cmd":"cat a.txt","prefix_rule":["cat"]`),
		call(`"cmd":"head -n 2 a.txt | cat","prefix_rule":["head"]`),
	)
	c.write("home/.codex/rules/default.rules", "prefix_rule(pattern=[\"cat\"], decision=\"prompt\")\n")
	c.start()
	c.ready()
	c.open()
	c.say("go")
	for i, may := range []bool{true, false, false, false} {
		it := c.asks("like to run")
		if got := it.Request.Prompt.Runs != nil; got != may {
			t.Errorf("a rule may allow %q: %v, want %v", it.Request.Prompt.Command, got, may)
		}
		c.answer(it, chosen("Allow once"))
		c.until("its result", func() bool { return m.Seen()[i].Result != "" })
	}
}
