//go:build linux

package main

import (
	"encoding/json"
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
)

// tooSlow is why the user is asked in spite of a rule where the machine is busy.
const tooSlow = "it took too long to decide"

// ruledAgent is a real agent of which rules answer what it asks.
type ruledAgent struct {
	name   string
	runs   func(t *testing.T, command string) mockmodel.Step // that it asks about
	home   func(d *driver)
	starts func(d *driver, model *mockmodel.Server) *window // with a task
	asked  []string                                         // commands with names that are others in its user's shell
}

// inZsh is one of a user of zsh with some settings of their own, of which Claude Code takes its aliases and functions.
func (a ruledAgent) inZsh() ruledAgent {
	home := a.home
	if a.name != "opencode" {
		a.asked = []string{"for f in a.txt; do tail -n 1 $f; done", "for f in a.txt; do wc $f; done"}
	}
	a.name += " in zsh"
	a.home = func(d *driver) {
		home(d)
		d.sh = "/usr/bin/zsh"
		d.puts(filepath.Join(d.home, ".zshenv"), []byte("export EDITOR=vi PATH=\"$HOME/bin:$PATH\"\n"))
		d.puts(filepath.Join(d.home, ".zshrc"), []byte("setopt autocd extendedglob promptsubst nonomatch\nalias ll='ls -l' -- -='cd -' tail='tail -v'\nwc () { command wc -l \"$@\" }\n"))
	}
	return a
}

// ruledAgents are all of them, Claude Code in each of its versions.
func ruledAgents(t *testing.T) (all []ruledAgent) {
	t.Helper()
	for version, path := range realtest.Claudes(t) {
		all = append(all, ruledAgent{
			"claude " + version, bash,
			func(d *driver) { d.coder = path; claudeHome(d) },
			func(d *driver, model *mockmodel.Server) *window { return runClaude(d, model).window },
			nil,
		})
	}
	codex := func(t *testing.T, command string) mockmodel.Step {
		t.Helper()
		return mockmodel.Step{Tool: "exec_command", Args: marshalled(t, map[string]string{"cmd": command, "sandbox_permissions": "require_escalated", "justification": "To see"})}
	}
	opencode := func(t *testing.T, command string) mockmodel.Step {
		t.Helper()
		return mockmodel.Step{Tool: "bash", Args: marshalled(t, map[string]string{"command": command, "description": "words"})}
	}
	return append(
		all,
		ruledAgent{"codex", codex, func(*driver) {}, func(d *driver, model *mockmodel.Server) *window {
			knowsCodex(d, model, d.project)
			w := openCodex(d, d.project)
			w.tall(40, w.tty)
			w.begins(d, model, "Ask Codex")
			return w
		}, nil},
		ruledAgent{"opencode", opencode, func(*driver) {}, func(d *driver, model *mockmodel.Server) *window {
			d.makes(filepath.Join(d.home, ".config/opencode/plugin/mcpdeck.js"), string(agents.Of("opencode").Plugin.File("", "")))
			openCodeHome(d, "opencode", model, "allow")
			w := d.terminal(d.agentCommand(d.project, "opencode", []string{"OPENCODE_DISABLE_MODELS_FETCH=1"}))
			w.tall(40, w.tty)
			w.begins(d, model, "Ask anything")
			return w
		}, nil},
	)
}

// begins gives an agent a task.
func (w *window) begins(d *driver, model *mockmodel.Server, ready string) {
	w.t.Helper()
	w.shows(d, ready)
	w.press("go on")
	w.shows(d, "go on")
	begun := func() bool { return len(model.Seen()[0].Offered) > 0 }
	w.repeat(w.press, "\r", func() bool { return begun() || strings.Contains(w.screen(), "interrupt") })
	d.until("the model is asked", begun) // what an agent loads before may take any time
}

// TestARuleAnswersRealAgentsWhatOnlyReads turns rules on by keys and has agents run what they ask about: 20
// commands that only read the project's files, 20 that do more, and ten that a rule denies, which tells the agent
// why word for word.
func TestARuleAnswersRealAgentsWhatOnlyReads(t *testing.T) {
	t.Parallel()
	realtest.On(t)
	agents := ruledAgents(t)
	for _, a := range agents {
		if a.name != "codex" {
			agents = append(agents, a.inZsh())
		}
	}
	for _, a := range agents {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			a.isRuled(t)
		})
	}
}

// ruledCommands are what a rule allows, what it denies, and what is asked. The first of those has Claude Code keep
// its shell: only then is it known which aliases that has.
func ruledCommands() (reads, denied, more []string) {
	more = []string{"mkdir -p made", "uniq a.txt; rm -f c.txt", "xxd $(echo a.txt)", "awk 'BEGIN {system(\"true\")}'"}
	for i := range 5 {
		reads = append(reads, fmt.Sprintf("awk 'NR == %d' a.txt | tr a-z A-Z", i), fmt.Sprintf("for f in a.txt; do head -n %d $f; done", i+1),
			fmt.Sprintf("join a.txt b.txt | cut -c %d-", i+1), fmt.Sprintf("xxd -l %d a.txt", i+1))
		denied = append(denied, fmt.Sprintf("git push -f origin a%d", i), fmt.Sprintf("git push --force origin b%d", i))
	}
	for i := range 4 {
		more = append(more, fmt.Sprintf("touch c%d.txt", i), fmt.Sprintf("awk %d a.txt > d.txt", i), fmt.Sprintf("awk %d /etc/hostname", i), fmt.Sprintf("awk %d .env", i))
	}
	return reads, denied, more
}

func (a *ruledAgent) isRuled(t *testing.T) {
	t.Helper()
	d := newDriver(t)
	a.home(d)
	hasRules(d)
	reads, denied, more := ruledCommands()
	more = append(more, a.asked...)
	all := more[:1:1]
	for i, command := range reads { // a rule that denies more than three times in a row has the user asked
		if all = append(all, command); i%2 == 0 {
			all = append(all, denied[i/2])
		}
	}
	all = append(all, more[1:]...)
	var steps []mockmodel.Step
	for _, command := range all {
		step := a.runs(t, command)
		step.Before = func() { time.Sleep(300 * time.Millisecond) } // a model takes its time, and much at once is asked
		steps = append(steps, step)
	}
	model := mockmodel.New(t, "", steps...)
	deck := d.window("--page", "inbox")
	deck.wide()
	deck.shows(d, "Inbox")
	deck.turnsRulesOn(d)
	a.starts(d, model)
	told := 0
	for i, command := range all {
		var pressed time.Time
		d.until("an answer to "+command, func() bool {
			is := slices.Contains(more, command) || strings.Contains(deck.screen(), tooSlow) // on a busy machine
			if is && time.Since(pressed) > 10*time.Second && steady(func() bool { return deck.asks(command) })() {
				pressed = time.Now()
				deck.key("y")
			}
			return model.Seen()[i].Result != ""
		})
		got := model.Seen()[i].Result
		if slices.Contains(denied, command) {
			told++
			if n := strings.Count(model.Last(), tells); n != told {
				t.Errorf("%s: the model has read %d times why, want %d: %s", command, n, told, got)
			}
		} else if slices.Contains(reads, command) && (strings.Contains(got, "rror") || strings.Contains(got, "denied")) {
			t.Errorf("%s: %s", command, got)
		}
	}
	by := ruledBy(d, all)
	for _, command := range all {
		r, want := by[command], ""
		if slices.Contains(reads, command) {
			want = "m1"
		} else if slices.Contains(denied, command) {
			want = "p1"
		}
		slow := want == "m1" && slices.ContainsFunc(r.Request.Prompt.Notes, func(note string) bool { return strings.Contains(note, tooSlow) })
		if got := r.Rule; want == "" && got != nil || want != "" && (got == nil || got.ID != want) && !slow {
			t.Errorf("%s: rule %v, want %q, %q", command, got, want, r.Request.Prompt.Notes)
		}
		if r.Delivery != ask.Delivered {
			t.Errorf("%s: %s", command, r.Delivery)
		}
		if notes := strings.Join(r.Request.Prompt.Notes, "\n"); slices.Contains(a.asked, command) && !strings.Contains(notes, "is an alias or a function of its shell") {
			t.Errorf("%s: %q", command, notes)
		}
	}
}

// ruledBy is what came of each command last, once that is known of all of them: an agent may be on with its next step
// before the deck has written what became of the one before.
func ruledBy(d *driver, commands []string) (by map[string]ask.Record) {
	d.t.Helper()
	d.until("what became of all", func() bool {
		b, _ := os.ReadFile(filepath.Join(d.home, ".local", "state", "mcpdeck", "history.jsonl")) // there may be none yet
		by = map[string]ask.Record{}
		for line := range strings.Lines(string(b)) {
			var r ask.Record
			if json.Unmarshal([]byte(line), &r) == nil { // but for one that is half written
				by[r.Request.Prompt.Command] = r
			}
		}
		return !slices.ContainsFunc(commands, func(c string) bool { return by[c].Delivery == "" || by[c].Delivery == ask.Sent })
	})
	return by
}

// tells is what a rule tells an agent.
const tells = "Ask me before you push by force, please."

// onlyReads is a book of rules that allows what only reads.
const onlyReads = `version = 1
[[rule]]
id = "m1"
verdict = "allow"
agent = ["claude", "codex", "opencode"]
command = { only = ["read"] }
`

// ofReading is one that also denies to push by force.
const ofReading = onlyReads + `[[rule]]
id = "p1"
verdict = "deny"
tell = "` + tells + `"
command = { words = ["git", "push"], with = ["--force", "-f"] }
`

// hasRules writes a book of rules and the files that commands read.
func hasRules(d *driver) {
	d.t.Helper()
	config := filepath.Join(d.home, ".config", "mcpdeck")
	if err := os.MkdirAll(config, 0o700); err != nil {
		d.t.Fatal(err)
	}
	d.puts(filepath.Join(config, "rules.toml"), []byte(ofReading))
	d.puts(filepath.Join(d.project, "a.txt"), []byte("a 1\nb 2\nc 3\n"))
	d.puts(filepath.Join(d.project, "b.txt"), []byte("b 4\nc 5\nd 6\n"))
	d.puts(filepath.Join(d.project, ".env"), []byte("KEY=secret\n"))
}

// turnsRulesOn turns the rules on as a user does.
func (w *window) turnsRulesOn(d *driver) {
	d.t.Helper()
	w.key("H")
	w.shows(d, "History 0")
	w.key("v")
	w.shows(d, "Rules are off")
	w.key("y")
	w.agree(d)
	w.shows(d, "Rules are on.")
	w.key("H")
}
