//go:build linux

package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/agents/agenttest"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// TestTheRealClaudeKeepsItsContract has Claude Code ask, and compares what it writes with what
// its versions wrote when that was recorded. Its failure says whether Claude Code changed its
// contract or the deck broke.
func TestTheRealClaudeKeepsItsContract(t *testing.T) {
	realtest.On(t)
	recorded := map[string]agenttest.Payload{}
	files, err := filepath.Glob("../../servers/agents/approvals/claude/testdata/contract/*.jsonl")
	for _, file := range files {
		var b []byte
		if b, err = os.ReadFile(file); err != nil {
			break
		}
		var all []agenttest.Payload
		if all, err = agenttest.Payloads(b); err != nil {
			break
		}
		for _, p := range all {
			recorded[p.What] = p
		}
	}
	if err != nil || len(recorded) == 0 {
		t.Fatalf("%d recorded payloads: %v", len(recorded), err)
	}
	all := recorded
	for version, path := range realtest.Claudes(t) {
		recorded := maps.Clone(all)
		t.Run(version, func(t *testing.T) {
			d := newDriver(t)
			d.coder = path
			var changed []string
			t.Cleanup(func() {
				switch {
				case len(changed) > 0:
					t.Logf("Claude Code %s changed its contract: %s", version, strings.Join(changed, "; "))
				case t.Failed():
					t.Logf("Claude Code %s writes what was recorded: the deck broke", version)
				}
			})
			for _, now := range d.written() {
				if was, known := recorded[now.What]; known {
					changed = append(changed, agenttest.Changed(was, now)...)
					delete(recorded, now.What)
				}
			}
			for what := range recorded {
				if what != "PermissionRequest ExitPlanMode" { // which needs another mode
					changed = append(changed, what+" is missing")
				}
			}
			if len(changed) > 0 {
				t.Errorf("changed: %q", changed)
			}
		})
	}
}

// written has Claude Code ask for a permission, a question and a form, all answered in the
// deck, and returns what it has written meanwhile.
func (d *driver) written() (all []agenttest.Payload) {
	d.t.Helper()
	d.claudeHome()
	told := filepath.Join(d.home, "told.jsonl")
	d.puts(filepath.Join(d.home, "tell.sh"), []byte("{ cat; echo; } >> "+told+"\n"))
	d.rewrites(filepath.Join(d.home, ".claude", "settings.json"), func(o map[string]any) {
		hooks, _ := o["hooks"].(map[string]any)
		for _, event := range []string{"PermissionRequest", "Elicitation"} {
			old, _ := hooks[event].([]any)
			hooks[event] = append(old, map[string]any{"hooks": []any{map[string]any{"type": "command", "command": "sh " + filepath.Join(d.home, "tell.sh"), "timeout": 10}}})
		}
		o["permissions"] = map[string]any{"allow": []string{"mcp__paint__form"}}
	})
	d.setEnv("FORM", oneTextField)
	model := mockmodel.New(d.t, "", bash(d.t, "mkdir -p made"), asksUser(d.t, question("Which one?", false)), mockmodel.Step{Tool: "mcp__paint__form"})
	deck := d.window("--page", "inbox")
	deck.wide()
	deck.shows(d, "Inbox")
	c := d.codes(model)
	d.until("a session that waits", func() bool {
		files, _ := filepath.Glob(filepath.Join(d.home, ".claude", "sessions", "*.json"))
		for _, file := range files {
			b, _ := os.ReadFile(file) // it may be written just now
			if strings.Contains(string(b), `"waiting"`) && json.Valid(b) {
				all = append(all, agenttest.Payload{What: "session", Payload: b})
				return true
			}
		}
		return false
	})
	deck.answers(d, "mkdir -p made", key{"y", ""})
	c.answered(0)
	deck.answers(d, "Which one?", key{"2", ""})
	c.answered(1)
	deck.answers(d, "Which journey?", key{"\r", "enter send"}, key{"teal", "teal"}, key{"\r", ""})
	c.answered(2)
	c.shows(d, "END")
	files, _ := filepath.Glob(filepath.Join(d.home, ".claude", "projects", "*", "*.jsonl"))
	for _, file := range append(files, told) {
		b, err := os.ReadFile(file)
		if err != nil {
			d.t.Error(err)
		}
		for line := range strings.Lines(string(b)) {
			if what := writtenFor(line); what != "" {
				all = append(all, agenttest.Payload{What: what, Payload: json.RawMessage(line)})
			}
		}
	}
	return all
}

// writtenFor names a line of Claude Code's.
func writtenFor(line string) string {
	var o struct {
		Type       string
		Event      string `json:"hook_event_name"`
		Tool       string `json:"tool_name"`
		Attachment struct{ Type string }
	}
	switch err := json.Unmarshal([]byte(line), &o); {
	case err != nil:
		return ""
	case o.Event != "":
		return strings.TrimSpace(o.Event + " " + o.Tool)
	case o.Attachment.Type == "hook_permission_decision":
		return "transcript hook decision"
	case o.Type == "user" && strings.Contains(line, `"tool_result"`):
		return "transcript result"
	}
	return ""
}
