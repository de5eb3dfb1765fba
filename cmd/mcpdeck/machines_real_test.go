//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// TestTheRealClaudeOnAnotherMachineIsAnsweredInThisDeck has the real program ask for a plan, a command
// and an answer behind the system's ssh, and looks at what it does there.
func TestTheRealClaudeOnAnotherMachineIsAnsweredInThisDeck(t *testing.T) {
	t.Parallel()
	claude := realtest.Claude(t)
	d, there := newDriver(t), newDriver(t)
	there.coder = claude
	claudeHome(there)
	d.overSSH(there)
	d.addsMachine("build1")
	deck := d.window("--page", "inbox")
	deck.wide()
	d.until("a link", func() bool { s := d.linked(); return s.Linked && s.Answers })

	const text = "Make <b> & go"
	plan := mockmodel.Step{Tool: "ExitPlanMode", Args: marshalled(t, map[string]string{"plan": text}), Before: func() { writePlan(there, text) }}
	model := mockmodel.New(t, "", plan, bash(t, "mkdir -p made"), bash(t, "mkdir -p denied"), asksUser(t, question("Which one?", false)))
	c := startClaude(there, model, "plan")
	c.shows(there, "plan mode on")
	c.says("plan it")
	for i, r := range []asks{
		{shown: text, keys: []key{{"y", ""}}, want: "approved"},
		{shown: "mkdir -p made", keys: []key{{"y", ""}}, want: "no output"},
		{shown: "mkdir -p denied", keys: []key{{"n", ""}}, want: "the user denied this"},
		{shown: "Which one?", keys: []key{{"2", ""}}, want: `Which one?\"=\"green, dark\"`},
	} {
		deck.shows(d, "build1:shop")
		deck.answers(d, r.shown, r.keys...)
		if got := c.answered(i); !strings.Contains(got, r.want) {
			t.Errorf("step %d: the model gets %s, want %s\n%s", i+1, got, r.want, deck.screen())
		}
	}
	c.shows(there, "END")
	if _, err := os.Stat(filepath.Join(there.project, "made")); err != nil {
		t.Errorf("what was allowed was not done: %v", err)
	}
	if _, err := os.Stat(filepath.Join(there.project, "denied")); err == nil {
		t.Error("what was denied was done")
	}
}

// TestTheRealCodexOnAnotherMachineIsAnsweredInThisDeck does the same with Codex, which has no prompt for
// a plan, and then sends it a prompt.
func TestTheRealCodexOnAnotherMachineIsAnsweredInThisDeck(t *testing.T) {
	t.Parallel()
	realtest.Agent(t, "codex") // or the test is skipped
	d, there := newDriver(t), newDriver(t)
	d.overSSH(there)
	d.addsMachine("build1")
	deck := d.window("--page", "inbox")
	deck.wide()
	d.until("a link", func() bool { s := d.linked(); return s.Linked && s.Answers })

	model := mockmodel.New(t, "", mockmodel.Step{Tool: "exec_command", Args: json.RawMessage(`{"cmd":"mkdir made && echo it worked","sandbox_permissions":"require_escalated","justification":"To see whether it works"}`)}, codexPrompts()[3], mockmodel.Step{Says: "END"}, mockmodel.Step{Says: "END"})
	knowsCodex(there, model, there.project)
	config := filepath.Join(there.home, ".codex/config.toml")
	b, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	there.puts(config, append(b, "[features]\ndefault_mode_request_user_input = true\n"...))
	c := openCodex(there, there.project)
	c.tall(50, c.tty)
	c.shows(there, "? for shortcuts")
	c.press("go")
	c.shows(there, "› go")
	c.again("\r", func() bool { return len(model.Seen()[0].Offered) > 0 })
	deck.shows(d, "build1:shop")
	deck.answers(d, "mkdir made", key{"y", ""})
	there.until("the command's result", func() bool { return strings.Contains(model.Seen()[0].Result, "it worked") })
	if _, err := os.Stat(filepath.Join(there.project, "made")); err != nil {
		t.Errorf("what was allowed was not done: %v", err)
	}
	deck.answers(d, "Which database?", key{"2", ""})
	there.until("the answer", func() bool { return strings.Contains(model.Seen()[1].Result, "Postgres") })

	const text = "from afar"
	deck.keyed("A", func() bool { return strings.Contains(deck.screen(), "━ Agents 1 ") })
	d.until("it is at rest", steady(func() bool {
		return strings.Contains(deck.screen(), "build1:shop") && !strings.Contains(deck.screen(), "working")
	}))
	const asked = "Send prompts from here?"
	deck.keyed("m", func() bool { return strings.Contains(deck.screen(), asked) })
	deck.keyed("y", func() bool { return !strings.Contains(deck.screen(), asked) })
	deck.shows(d, "To codex")
	deck.keyed("\x7f", func() bool { return strings.Contains(deck.screen(), "your next prompt") }) // without what was pressed once more
	deck.press(text)
	deck.shows(d, text)
	deck.keyed("\r", func() bool { return !strings.Contains(deck.screen(), "To codex") })
	there.until("the prompt", func() bool { return strings.Contains(model.Last(), text) })
	if n := strings.Count(model.Last(), text); n != 1 {
		t.Errorf("the model reads the prompt %d times", n)
	}
}
