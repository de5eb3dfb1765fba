//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// openCopilot is the real Copilot CLI in a terminal, with a model that follows a script.
func openCopilot(d *driver, model *mockmodel.Server) *window {
	d.t.Helper()
	return openCopilotWith(d, model)
}

func openCopilotWith(d *driver, model *mockmodel.Server, args ...string) *window {
	d.t.Helper()
	c := d.command()
	c.Path = realtest.Agent(d.t, "copilot")
	c.Args = append([]string{c.Path}, args...)
	c.Env = append(c.Env, "COPILOT_PROVIDER_BASE_URL="+model.URL+"/v1", "COPILOT_PROVIDER_API_KEY=mock", "COPILOT_MODEL=mock", "COPILOT_OFFLINE=true")
	w := d.terminal(c)
	w.tall(40, w.tty) // it asks its terminal about itself
	return w
}

// copilotHome has Copilot CLI trust the project.
func copilotHome(d *driver) {
	d.t.Helper()
	dir := filepath.Join(d.home, ".copilot")
	if err := os.Mkdir(dir, 0o700); err != nil {
		d.t.Fatal(err)
	}
	d.puts(filepath.Join(dir, "config.json"), marshalled(d.t, map[string]any{"trustedFolders": []string{d.project}}))
}

// asked gives Copilot CLI its task.
func (w *window) asked(task string, d *driver) {
	w.t.Helper()
	w.shows(d, "? help")
	w.press(task)
	w.shows(d, "❯ "+task)
	w.patiently("\r", func() bool { return !strings.Contains(w.screen(), "? help") }) // a second one may answer a dialog
}

// copilotMakes is a step that makes a folder.
func copilotMakes(t *testing.T, folder string) mockmodel.Step {
	t.Helper()
	return mockmodel.Step{Tool: "bash", Args: marshalled(t, map[string]any{"command": "mkdir -p " + folder, "description": "make it", "mode": "sync"})}
}

// copilotDialog is what Copilot CLI's terminal says while it asks.
const copilotDialog = "Do you want to run this command?"

// copilotAsks finds the folder for which it asks.
var copilotAsks = folderAbove(copilotDialog)

// TestTheRealCopilotIsAnsweredInTheDeckOrItsTerminal has what its hook brings answered in both.
func TestTheRealCopilotIsAnsweredInTheDeckOrItsTerminal(t *testing.T) {
	t.Parallel()
	realtest.On(t)
	d := newDriver(t)
	ownProgram(d)
	answersHeld(d, asksCopilot(d))
}

// asksCopilot gives Copilot CLI a home, where it is to ask by hooks.
func asksCopilot(d *driver) asker {
	d.t.Helper()
	copilotHome(d)
	return asker{
		id: "copilot", setup: []string{"--hooks"}, held: true, dialog: copilotAsks, done: "exit code 0",
		opens: openCopilot, makes: copilotMakes, says: func(w *window, task string) { w.asked(task, d) },
		stops: func(w *window, stopped func() bool) {
			w.repeat(func(esc string) {
				w.press(esc)
				time.Sleep(300 * time.Millisecond) // two of them, which are no other key
				w.press(esc)
			}, "\x1b", stopped)
		},
	}
}

// openCopilotExtended is Copilot CLI with its extension, to which the user has agreed.
func openCopilotExtended(d *driver, model *mockmodel.Server) *window {
	d.t.Helper()
	c := openCopilot(d, model)
	c.shows(d, `Extension "user:mcpdeck" wants elevated permissions`)
	c.again("\r", func() bool { return !strings.Contains(c.screen(), "elevated permissions") })
	return c
}

// TestTheRealCopilotSharesItsPromptsByItsExtension has permissions answered in the deck, in the
// terminal, and after the deck was killed, and a form filled in in the deck. Its terminal asks
// all the time. It also runs the project's hooks of Claude Code, which neither ask twice nor, with
// their program removed, deny.
func TestTheRealCopilotSharesItsPromptsByItsExtension(t *testing.T) {
	t.Parallel()
	realtest.On(t)
	d := newDriver(t)
	copilotHome(d)
	ownProgram(d)
	for _, args := range [][]string{{"copilot"}, {"claude", "--project"}} {
		args = append([]string{"setup", "--prompts", "--yes"}, args...)
		if out, err := d.command(args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	once := func() {
		t.Helper()
		if out, err := d.command("ask", "list").Output(); err != nil || strings.Count(string(out), "copilot") != 1 || strings.Contains(string(out), "claude") {
			t.Errorf("%v, want one prompt, of Copilot CLI:\n%s", err, out)
		}
	}
	form := mockmodel.Step{Tool: "ask_user", Args: []byte(`{"message":"Which journey?","requestedSchema":{"type":"object","properties":{"colour":{"type":"string"}},"required":["colour"]}}`)}
	model := mockmodel.New(t, "", copilotMakes(t, "one"), copilotMakes(t, "two"), copilotMakes(t, "three"), form, copilotMakes(t, "four"), copilotMakes(t, "five"), copilotMakes(t, "six"), copilotMakes(t, "seven"))
	deck := d.window("--page", "inbox")
	deck.wide()
	deck.shows(d, "Inbox")
	c := openCopilotExtended(d, model)
	c.asked("go", d)

	c.shows(d, copilotDialog)
	deck.answers(d, "mkdir -p one")
	once()
	deck.answers(d, "mkdir -p one", key{"y", ""})
	if got := toldOf(d, model, 0); !d.made("one") || !strings.Contains(got, "exit code 0") {
		t.Errorf("of what was allowed the model gets %s", got)
	}
	deck.answers(d, "mkdir -p two", key{"n", ""})
	if got := toldOf(d, model, 1); d.made("two") || !strings.Contains(got, "the user denied this") {
		t.Errorf("of what was denied the model gets %s", got)
	}
	deck.answers(d, "mkdir -p three")
	once()
	c.consents(d, copilotAsks, "three")
	deck.answers(d, "Which journey?", key{"\r", "enter choose"}, key{"teal", "teal"}, key{"\r", ""})
	if got := toldOf(d, model, 3); !strings.Contains(got, "teal") {
		t.Errorf("of the form the model gets %s", got)
	}
	deck.answers(d, "mkdir -p four")
	d.until("the deck has written that the form is settled", func() bool { // a busy disk takes seconds
		b, err := os.ReadFile(filepath.Join(d.home, ".local/state/mcpdeck/drafts.json"))
		return err == nil && !strings.Contains(string(b), "Which journey?")
	})
	d.kill(deck.cmd)
	c.shows(d, copilotDialog)
	deck = d.window("--page", "inbox") // another one, to which the extension comes
	deck.wide()
	deck.answers(d, "mkdir -p four", key{"y", ""})
	toldOf(d, model, 4)
	d.kill(deck.cmd)
	c.consents(d, copilotAsks, "five")
	if err := os.Remove(d.program); err != nil {
		t.Fatal(err)
	}
	c.consents(d, copilotAsks, "six", "seven")
	c.shows(d, "END")
	if !d.made("four") {
		t.Error("what was allowed to another deck was not done")
	}
}

// TestTenFormsOfTheRealCopilotReachItsModel fills them in on the deck's screen.
func TestTenFormsOfTheRealCopilotReachItsModel(t *testing.T) {
	t.Parallel()
	realtest.On(t)
	d := newDriver(t)
	copilotHome(d)
	d.setUp("copilot")
	var steps []mockmodel.Step
	for i := range 10 {
		steps = append(steps, d.step("ask_user", map[string]any{"message": fmt.Sprintf("Journey %d?", i), "requestedSchema": map[string]any{
			"type": "object", "properties": map[string]any{"colour": map[string]any{"type": "string"}}, "required": []string{"colour"},
		}}))
	}
	model := mockmodel.New(t, "", steps...)
	deck := d.window("--page", "inbox")
	deck.wide()
	deck.shows(d, "Inbox")
	c := openCopilotExtended(d, model)
	c.asked("go", d)
	for i := range steps {
		colour := fmt.Sprintf("teal%d", i)
		message := fmt.Sprintf("Journey %d?", i)
		deck.answers(d, message)
		if field := func() bool { return strings.Contains(deck.screen(), "enter choose") }; !field() { // the one before may have left it open
			deck.keyed("\r", field)
		}
		deck.key(colour)
		deck.shows(d, colour)
		deck.answers(d, message, key{"\r", ""})
		if got := toldOf(d, model, i); !strings.Contains(got, colour) {
			t.Errorf("of form %d the model gets %s", i, got)
		}
	}
	c.shows(d, "END")
}
