//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// TestARuleAllowsEditsOfRealAgents allows edits in a folder, but neither new files there nor what changes what runs later.
func TestARuleAllowsEditsOfRealAgents(t *testing.T) {
	t.Parallel()
	realtest.On(t)
	codex := func(file, from string) mockmodel.Step {
		patch := "Update File: " + file + "\n@@\n-old\n+new"
		if from == "" {
			patch = "Add File: " + file + "\n+new"
		}
		return mockmodel.Step{Tool: "exec_command", Args: marshalled(t, map[string]string{"cmd": "apply_patch <<'EOF'\n*** Begin Patch\n*** " + patch + "\n*** End Patch\nEOF"})}
	}
	opencode := func(file, from string) mockmodel.Step {
		if from == "" {
			return mockmodel.Step{Tool: "write", Args: marshalled(t, map[string]string{"filePath": file, "content": "new\n"})}
		}
		return mockmodel.Step{Tool: "edit", Args: marshalled(t, map[string]string{"filePath": file, "oldString": from, "newString": "new"})}
	}
	for name, edit := range map[string]func(file, from string) mockmodel.Step{"codex": codex, "opencode": opencode, "kilo": opencode} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDriver(t)
			hasRules(d)
			d.puts(filepath.Join(d.home, ".config", "mcpdeck", "rules.toml"), fmt.Appendf(nil, "%s[[rule]]\nid = 'e1'\nverdict = 'allow'\nagent = [%q]\nproject = %q\nedit = { below = 'docs' }\n", onlyReads, name, d.project))
			edits := []struct{ file, from, by string }{{"docs/a.md", "old", "e1"}, {"e.txt", "old", "the user"}, {"docs/b.md", "", "the user"}, {"docs/.git/hooks/x", "old", "the user"}, {"docs/c/d.md", "old", "e1"}}
			var steps []mockmodel.Step
			for _, e := range edits {
				steps = append(steps, edit(e.file, e.from))
				if e.from != "" {
					d.makes(filepath.Join(d.project, e.file), e.from+"\n")
				}
			}
			model := mockmodel.New(t, "", steps...)
			deck := d.window("--page", "inbox")
			deck.wide()
			deck.shows(d, "Inbox")
			deck.turnsRulesOn(d)
			startEditing(d, name, model)
			for i, e := range edits {
				var pressed time.Time
				d.until("an answer to the edit of "+e.file, func() bool {
					if (e.by != "e1" || strings.Contains(deck.screen(), tooSlow)) && time.Since(pressed) > 10*time.Second && steady(func() bool {
						return strings.Contains(deck.screen(), e.file) && strings.Contains(deck.screen(), "y allow")
					})() {
						pressed = time.Now()
						deck.key("y")
					}
					return model.Seen()[i].Result != ""
				})
				if b, err := os.ReadFile(filepath.Join(d.project, e.file)); string(b) != "new\n" {
					t.Errorf("%s is then %q, %v: %s", e.file, b, err, model.Seen()[i].Result)
				}
			}
			by, slow := map[string]string{}, map[string]bool{}
			d.until("what became of all", func() bool {
				for _, r := range ask.ReadHistory(filepath.Join(d.home, ".local", "state", "mcpdeck", "history.jsonl")) {
					if by[filepath.Base(r.Request.Prompt.Path)] = "the user"; r.Rule != nil {
						by[filepath.Base(r.Request.Prompt.Path)] = r.Rule.ID
					}
					slow[filepath.Base(r.Request.Prompt.Path)] = strings.Contains(strings.Join(r.Request.Prompt.Notes, "\n"), tooSlow)
				}
				return len(by) == len(edits)
			})
			for _, e := range edits {
				if got := by[filepath.Base(e.file)]; got != e.by && !(slow[filepath.Base(e.file)] && got == "the user") {
					t.Errorf("the edit of %s is answered by %s", e.file, got)
				}
			}
		})
	}
}

// startEditing starts an agent that asks before it edits.
func startEditing(d *driver, agent string, model *mockmodel.Server) *window {
	d.t.Helper()
	ready, env, args := "Ask anything", []string{agents.Of(agent).Env[0] + "DISABLE_MODELS_FETCH=1"}, []string(nil)
	if agent == "codex" {
		knowsCodex(d, model, d.project)
		ready, env, args = "Ask Codex", []string{"MOCK_KEY=x"}, []string{"-a", "on-request", "-s", "read-only"}
	} else {
		d.makes(filepath.Join(d.home, ".config", agent, "plugin", "mcpdeck.js"), string(agents.Of(agent).Plugin.File("", "")))
		openCodeHome(d, agent, model, "ask")
	}
	w := d.terminal(d.agentCommand(d.project, agent, env, args...))
	w.tall(40, w.tty)
	w.begins(d, model, ready)
	return w
}
