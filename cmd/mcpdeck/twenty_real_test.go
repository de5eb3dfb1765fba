//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// TestTwentyPermissionsOfEachRealAgentAreAnsweredHereOrThere has ten answered in the deck and ten in
// the terminal, in turn.
func TestTwentyPermissionsOfEachRealAgentAreAnsweredHereOrThere(t *testing.T) {
	t.Parallel()
	realtest.On(t)
	rows := map[string]func(*driver) asker{
		"codex": asksCodex, "qwen": asksQwen, "copilot by hooks": asksCopilot,
		"copilot by its extension": func(d *driver) asker {
			p := asksCopilot(d)
			p.setup, p.held, p.opens = nil, false, openCopilotExtended
			return p
		},
		"opencode": func(d *driver) asker { return asksOpenCode(d, "opencode") },
		"kilo":     func(d *driver) asker { return asksOpenCode(d, "kilo") },
	}
	for version, path := range realtest.Claudes(t) {
		rows["claude "+version] = func(d *driver) asker {
			d.coder = path
			return asksClaude(d)
		}
	}
	for name, asks := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDriver(t)
			answersTwenty(d, asks(d))
		})
	}
}

// answersTwenty holds each permission to its effect: the folder that is made or not, what the model is told
// next, and only then what the deck says became of it.
func answersTwenty(d *driver, p asker) {
	t := d.t
	t.Helper()
	d.setUp(append(p.setup, p.id)...)
	var steps []mockmodel.Step
	for i := range 20 {
		steps = append(steps, p.makes(t, fmt.Sprintf("part%02d", i)))
	}
	model := mockmodel.New(t, "", steps...)
	deck := d.window("--page", "inbox")
	deck.wide()
	deck.shows(d, "Inbox")
	w := p.opens(d, model)
	t.Cleanup(func() {
		if t.Failed() {
			history, _ := os.ReadFile(filepath.Join(d.home, ".local/state/mcpdeck/history.jsonl")) // it may not be there
			t.Logf("the agent's terminal:\n%s\nthe deck:\n%s\nits history:\n%s", w.screen(), deck.screen(), history)
		}
	})
	p.says(w, "go")
	var want []ask.End
	effective, withdrawn := map[ask.End][]time.Duration{}, []time.Duration(nil)
	for i := range steps {
		folder, denied := fmt.Sprintf("part%02d", i), i%4 == 0
		command := "mkdir -p " + folder
		if !p.held { // what is answered in the deck before that may stay in the terminal, and hide the next
			d.until("its terminal asks for "+folder, func() bool { return w.askedFor(p.dialog) == folder })
		}
		if i%2 == 0 {
			yes, end := "y", ask.EndAllowed
			if denied {
				yes, end = "n", ask.EndDenied
			}
			at := deck.presses(d, command, yes)
			toldOf(d, model, i)
			effective[end], want = append(effective[end], time.Since(at).Round(time.Millisecond)), append(want, end)
		} else {
			d.until("the prompt", func() bool { return d.waitsFor(command) == 1 })
			if p.held {
				deck.answers(d, command, key{"J", "answer in its terminal"})
			}
			at := w.consents(d, p.dialog, folder)
			d.until("no prompt", func() bool { return d.waitsFor(command) == 0 })
			withdrawn, want = append(withdrawn, time.Since(at).Round(time.Millisecond)), append(want, ask.EndElsewhere)
		}
		if got := toldOf(d, model, i); d.made(folder) == denied || strings.Contains(got, p.done) == denied {
			t.Errorf("%s, denied %v: the model is told %s", folder, denied, got)
		}
	}
	w.shows(d, "END")
	testwait.For(t, fmt.Sprintf("the history to say %q", want), d.became, func(all []ask.End) bool { return slices.Equal(all, want) })
	t.Logf("from the key in the deck until the model was told: denied %v, which waits for an undo, allowed %v; from the key in the terminal until the deck asked nothing: %v", effective[ask.EndDenied], effective[ask.EndAllowed], withdrawn)
}

// presses waits for a prompt on the deck's screen and presses a key, and returns when the key that counted was
// pressed.
func (w *window) presses(d *driver, prompt, key string) (at time.Time) {
	w.t.Helper()
	w.answers(d, prompt)
	w.repeat(func(key string) {
		w.reads()
		at = time.Now()
		w.press(key)
	}, key, func() bool { return !w.asks(prompt) })
	return at
}

// claudeAsks finds the folder for which Claude Code asks.
var claudeAsks = folderAbove("Do you want to proceed?")

func asksClaude(d *driver) asker {
	d.t.Helper()
	d.makes(filepath.Join(d.home, ".claude/settings.json"), "{}")
	knowsClaude(d, nil)
	return asker{
		id: "claude", dialog: claudeAsks, done: "no output",
		opens: func(d *driver, model *mockmodel.Server) *window { return runClaude(d, model).window },
		makes: func(t *testing.T, folder string) mockmodel.Step {
			t.Helper()
			return bash(t, "mkdir -p "+folder)
		},
		says: func(*window, string) {},
	}
}

func asksCodex(d *driver) asker {
	d.t.Helper()
	return asker{
		id: "codex", dialog: folderBelow("Would you like to run"), done: "exited with code 0",
		opens: func(d *driver, model *mockmodel.Server) *window {
			knowsCodex(d, model, d.project)
			w := openCodex(d, d.project)
			w.tall(60, w.tty)
			return w
		},
		makes: func(t *testing.T, folder string) mockmodel.Step {
			t.Helper()
			return mockmodel.Step{Tool: "exec_command", Args: marshalled(t, map[string]string{"cmd": "mkdir -p " + folder, "sandbox_permissions": "require_escalated", "justification": "To see"})}
		},
		says: func(w *window, task string) {
			w.shows(d, "Ask Codex")
			w.press(task)
			w.shows(d, "› "+task)
			w.patiently("\r", func() bool { // a second one would answer
				s := w.screen()
				return strings.Contains(s, "esc to interrupt") || strings.Contains(s, "Would you like to run") || strings.Contains(s, "END")
			})
		},
	}
}

// asksOpenCode is OpenCode, or a program with its contract.
func asksOpenCode(d *driver, id string) asker {
	d.t.Helper()
	return asker{
		id: id, dialog: folderBelow("Permission required"), done: "(no output)",
		opens: func(d *driver, model *mockmodel.Server) *window {
			openCodeHome(d, id, model, "allow")
			w := d.terminal(d.agentCommand(d.project, id, []string{agents.Of(id).Env[0] + "DISABLE_MODELS_FETCH=1"}, "--prompt", "go"))
			w.tall(40, w.tty)
			return w
		},
		makes: func(t *testing.T, folder string) mockmodel.Step {
			t.Helper()
			return mockmodel.Step{Tool: "bash", Args: marshalled(t, map[string]string{"command": "mkdir -p " + folder, "description": "words"})}
		},
		says: func(*window, string) {},
	}
}
