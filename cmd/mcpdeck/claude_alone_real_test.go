//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// unhooked takes the hooks out of Claude Code's settings until the test gives them back. A
// server, which may or may not have started in time, would make a difference: it goes.
func unhooked(d *driver) (giveBack func()) {
	d.t.Helper()
	d.rewrites(filepath.Join(d.home, ".claude.json"), func(o map[string]any) { delete(o, "mcpServers") })
	path := filepath.Join(d.home, ".claude", "settings.json")
	before, err := os.ReadFile(path)
	if err != nil {
		d.t.Fatal(err)
	}
	d.rewrites(path, func(o map[string]any) { delete(o, "hooks") })
	return func() { d.puts(path, before) }
}

// alike are the requests to a model without what differs from one session to the next: its
// ids, the day, and the fingerprint of the program in the first line of its prompt.
func alike(model *mockmodel.Server) (bodies []string) {
	id := regexp.MustCompile(`[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}|\b\d{4}[-/]\d{2}[-/]\d{2}\b|[0-9a-f]{64}|cch=[0-9a-f]+`)
	for _, b := range model.Bodies() {
		bodies = append(bodies, id.ReplaceAllString(b, "ID"))
	}
	return bodies
}

// sameBodies compares what a model was sent without hooks and with them.
func sameBodies(t *testing.T, without, with *mockmodel.Server) {
	t.Helper()
	a, b := alike(without), alike(with)
	if len(a) != len(b) || len(a) == 0 {
		t.Fatalf("%d requests without hooks, %d with", len(a), len(b))
	}
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		at := 0
		for at < min(len(a[i]), len(b[i])) && a[i][at] == b[i][at] {
			at++
		}
		from := max(at-100, 0)
		t.Errorf("request %d of %d differs from byte %d:\nwithout %s\nwith    %s", i+1, len(a), at, a[i][from:min(at+200, len(a[i]))], b[i][from:min(at+200, len(b[i]))])
	}
}

// TestHooksAddNothingToTheRealClaudesContext does the same task with and without the deck
// and its hooks, with a permission that is given.
func TestHooksAddNothingToTheRealClaudesContext(t *testing.T) {
	t.Parallel()
	realtest.On(t)
	d := newDriver(t)
	claudeHome(d)
	made := filepath.Join(d.project, "made")
	steps := []mockmodel.Step{bash(t, "echo hello"), bash(t, "mkdir made"), bash(t, "echo over")}

	giveBack := unhooked(d)
	without := mockmodel.New(t, "", steps...)
	c := runClaude(d, without)
	c.accepts("\r")
	c.shows(d, "END")
	d.kill(c.cmd)
	if err := os.Remove(made); err != nil {
		t.Fatal(err)
	}

	giveBack()
	with := mockmodel.New(t, "", steps...)
	deck := d.window("--page", "inbox")
	deck.wide()
	deck.shows(d, "Inbox")
	c = runClaude(d, with)
	deck.answers(d, "mkdir made", key{"y", ""})
	c.shows(d, "END")
	sameBodies(t, without, with)
}

// TestTheRealClaudeWithoutATerminalIsNotHeld runs a task with nobody at the terminal, where
// what is not allowed is denied, and then lets the user of the deck decide.
func TestTheRealClaudeWithoutATerminalIsNotHeld(t *testing.T) {
	t.Parallel()
	realtest.On(t)
	d := newDriver(t)
	claudeHome(d)
	steps := []mockmodel.Step{bash(t, "mkdir one"), bash(t, "mkdir two")}
	made := func(name string) bool {
		_, err := os.Stat(filepath.Join(d.project, name))
		return err == nil
	}
	run := func(model *mockmodel.Server) string {
		out, err := claudeCommand(d, model, "-p", "go", "--permission-mode", "default").Output()
		if err != nil {
			t.Errorf("it ends with %v", err)
		}
		return string(out)
	}
	giveBack := unhooked(d)
	without := mockmodel.New(t, "", steps...)
	said := run(without)

	giveBack()
	deck := d.window("--page", "inbox")
	deck.wide()
	deck.shows(d, "Inbox")
	with := mockmodel.New(t, "", steps...)
	if got := run(with); got != said || !strings.Contains(got, "END") {
		t.Errorf("it says %q, without hooks %q", got, said)
	}
	sameBodies(t, without, with)
	if made("one") || made("two") {
		t.Error("what nobody allowed was done")
	}
	d.kill(deck.cmd)

	d.configure("[prompts]\nheadless = \"hold\"\n")
	deck = d.window("--page", "inbox")
	deck.wide()
	deck.shows(d, "Inbox")
	held := mockmodel.New(t, "", steps...)
	over := make(chan string, 1)
	go func() { over <- run(held) }()
	deck.answers(d, "mkdir one", key{"y", ""})
	deck.answers(d, "mkdir two", key{"n", ""})
	if got := <-over; got != said {
		t.Errorf("it says %q, without hooks %q", got, said)
	}
	if !made("one") || made("two") {
		t.Error("what the user said does not count")
	}
	if got := held.Seen()[1].Result; !strings.Contains(got, "the user denied this") {
		t.Errorf("the model gets %s", got)
	}
}

// TestWhatAKilledDeckLeavesIsAnsweredInTheRealTerminal kills the deck while it holds what
// four sub-agents ask, and shows what the terminal asks too.
func TestWhatAKilledDeckLeavesIsAnsweredInTheRealTerminal(t *testing.T) {
	t.Parallel()
	realtest.On(t)
	d := newDriver(t)
	claudeHome(d)
	made := func() (names []string) {
		names, _ = filepath.Glob(filepath.Join(d.project, "made*")) // the pattern is valid
		return names
	}
	var steps []mockmodel.Step
	for i := range 4 {
		s := subAgent(t, fmt.Sprint("HELPER", i))
		s.Along = i > 0
		steps = append(steps, s)
	}
	own := bash(t, "mkdir -p made4")
	own.Along = true
	model := mockmodel.New(t, "", append(steps, own)...)
	for i := range 4 {
		model.Script(fmt.Sprint("HELPER", i), bash(t, fmt.Sprint("mkdir -p made", i)))
	}
	deck := d.serve()
	c := runClaude(d, model)
	d.until("five prompts", func() bool { return d.prompted() == 5 })
	d.kill(deck)
	d.until("no hook", func() bool { return waitingHooks(d) == 0 })
	if got := made(); len(got) > 0 {
		t.Errorf("what nobody allowed was done: %q", got)
	}
	c.consents(d, claudeAsks, "made0", "made1", "made2", "made3", "made4")
}

// TestTheRealClaudeSaysNothingOfHooksWithoutADeck asks, is answered in its terminal, and
// ends, while the hooks find nobody.
func TestTheRealClaudeSaysNothingOfHooksWithoutADeck(t *testing.T) {
	t.Parallel()
	realtest.On(t)
	d := newDriver(t)
	claudeHome(d)
	model := mockmodel.New(t, "", bash(t, "mkdir made"), subAgent(t, "HELPER"), bash(t, "echo over"))
	model.Script("HELPER", bash(t, "mkdir other"))
	c := runClaude(d, model)
	for _, made := range []string{"made", "other"} {
		c.consents(d, claudeAsks, made)
	}
	c.shows(d, "END")
	if said := regexp.MustCompile(`(?i)hook (error|failed|cancelled|blocked)|PermissionRequest|ECONN|mcpdeck-hook`).FindString(c.text()); said != "" {
		t.Errorf("its terminal says %q:\n%s", said, c.screen())
	}
}
