//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
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

// TestARuleAllowsEditsOfTheRealCodex allows edits in a folder, but neither new files there nor what is deleted.
func TestARuleAllowsEditsOfTheRealCodex(t *testing.T) {
	t.Parallel()
	realtest.Agent(t, "codex") // or the test is skipped
	d := newDriver(t)
	d.hasRules()
	d.puts(filepath.Join(d.home, ".config", "mcpdeck", "rules.toml"), []byte(onlyReads+"[[rule]]\nid = \"e1\"\nverdict = \"allow\"\nagent = [\"codex\"]\nproject = \""+d.project+"\"\nedit = { below = \"docs\" }\n"))
	for _, file := range []string{"docs/a.md", "docs/c.md", "docs/.git/hooks/x", "e.txt"} {
		d.makes(filepath.Join(d.project, file), "old\n")
	}
	const update = "\n@@\n-old\n+new"
	edits := []struct {
		file, patch string
		ruled       bool
	}{
		{"docs/a.md", "Update File: docs/a.md" + update, true},
		{"e.txt", "Update File: e.txt" + update, false},
		{"docs/b.md", "Add File: docs/b.md\n+new", false},
		{"docs/c.md", "Delete File: docs/c.md", false},
		{"docs/.git/hooks/x", "Update File: docs/.git/hooks/x" + update, false},
	}
	var steps []mockmodel.Step
	for _, e := range edits {
		steps = append(steps, mockmodel.Step{Tool: "exec_command", Args: marshalled(t, map[string]string{"cmd": "apply_patch <<'EOF'\n*** Begin Patch\n*** " + e.patch + "\n*** End Patch\nEOF"})})
	}
	model := mockmodel.New(t, "", steps...)
	deck := d.window("--page", "inbox")
	deck.wide()
	deck.shows(d, "Inbox")
	deck.turnsRulesOn(d)
	d.knowsCodex(model, d.project)
	own := d.terminal(d.agentCommand(d.project, "codex", []string{"MOCK_KEY=x"}, "-a", "on-request", "-s", "read-only"))
	own.tall(40, own.tty)
	own.begins(d, model, "Ask Codex")
	for i, e := range edits {
		var pressed time.Time
		d.until("an answer to the edit of "+e.file, func() bool {
			if !e.ruled && time.Since(pressed) > 10*time.Second && steady(func() bool {
				return strings.Contains(deck.screen(), e.file) && strings.Contains(deck.screen(), "n deny")
			})() {
				pressed = time.Now()
				deck.key("n")
			}
			return model.Seen()[i].Result != ""
		})
	}
	by := map[string]string{}
	d.until("what became of all", func() bool {
		for _, r := range ask.ReadHistory(filepath.Join(d.home, ".local", "state", "mcpdeck", "history.jsonl")) {
			if by[filepath.Base(r.Request.Prompt.Path)] = "the user"; r.Rule != nil {
				by[filepath.Base(r.Request.Prompt.Path)] = r.Rule.ID
			}
		}
		return len(by) == len(edits)
	})
	for _, e := range edits {
		want := map[bool]string{true: "e1", false: "the user"}[e.ruled]
		b, err := os.ReadFile(filepath.Join(d.project, e.file))
		if got := by[filepath.Base(e.file)]; got != want || e.ruled != (string(b) == "new\n") {
			t.Errorf("%s is answered by %s, and is then %q, %v", e.file, got, b, err)
		}
	}
}
