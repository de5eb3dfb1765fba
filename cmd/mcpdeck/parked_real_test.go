//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// TestTerminalsWithTheirSessionsInTheBackgroundAreARowEach has three of five terminals of Claude Code move their
// sessions to the background, one of which asks there, and go back to them.
func TestTerminalsWithTheirSessionsInTheBackgroundAreARowEach(t *testing.T) {
	realtest.On(t)
	for version, program := range realtest.Claudes(t) {
		t.Run(version, func(t *testing.T) { parks(t, program) })
	}
}

func parks(t *testing.T, program string) {
	t.Helper()
	const terminals, parked = 5, 3
	d := newDriver(t)
	d.coder = program
	claudeHome(d)
	t.Cleanup(func() { // the background is a process of its own
		for pid := range d.runs() {
			_ = syscall.Kill(pid, syscall.SIGKILL) // or it has ended meanwhile
		}
	})
	var steps []mockmodel.Step
	for range terminals {
		steps = append(steps, mockmodel.Step{Says: "END"})
	}
	model := mockmodel.New(t, "", append(steps, bash(t, "make -v"))...)
	d.rewrites(filepath.Join(d.home, ".claude/settings.json"), func(o map[string]any) { // what runs in the background may have another environment
		o["env"] = map[string]any{"ANTHROPIC_BASE_URL": model.URL, "ANTHROPIC_API_KEY": "mock"}
	})
	deck := d.window()
	deck.tall(34, io.Discard)
	var all []*coder
	t.Cleanup(func() {
		if t.Failed() {
			for i, c := range all {
				t.Logf("terminal %d:\n%s", i+1, c.screen())
			}
			out, _ := d.command("sessions").Output()
			t.Logf("the deck:\n%s\n%s", deck.screen(), out)
		}
	})
	rows := func(when string, n int) {
		t.Helper()
		d.until(fmt.Sprintf("%d rows %s", n, when), func() bool { return len(d.listed()) == n })
		deck.keyed("A", func() bool { return strings.Contains(deck.screen(), fmt.Sprintf("━ Agents %d ━", n)) })
		deck.keyed("I", func() bool { return !strings.Contains(deck.screen(), "━ Agents ") })
	}
	for i := range terminals {
		c := startClaude(d, model, "default")
		all = append(all, c)
		c.shows(d, "? for shortcuts")
		c.says(fmt.Sprint("task", i+1))
		c.shows(d, "END")
	}
	rows("at first", terminals)
	const list = "describe a task for a new session"
	has := func(c *coder, text string) func() bool {
		return func() bool { return strings.Contains(c.screen(), text) }
	}
	for i, c := range all[:parked] {
		if i > 0 { // one that takes over a process which is only starting fails, and says that there is no such session
			d.until("a process for the next", func() bool { return keepsProcess(d) })
		}
		c.again("\x1b[D", has(c, list)) // the left arrow
		d.until("the session runs in the background", func() bool { return runsInBackground(d, fmt.Sprint("task", i+1)) })
	}
	rows("with three parked", terminals)

	asks := all[parked-1]
	asks.patiently(" ", has(asks, "❯ reply"))
	asks.press("mend it")
	asks.shows(d, "❯ mend it")
	asks.patiently("\r", func() bool { return !has(asks, "❯ mend it")() }) // a second one may answer a dialog
	d.until("the prompt on the deck", func() bool { return deck.asks("make -v") })
	n, err := unix.IoctlGetInt(int(asks.tty.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	deck.keyed("J", func() bool { return strings.Contains(deck.screen(), fmt.Sprintf("; it is pts/%d ", n)) })
	deck.answers(d, "make -v", key{press: "y"})
	d.until("the command has run", func() bool { return strings.Contains(model.Last(), "GNU Make") })
	asks.again("\x1b", func() bool { return !has(asks, "❯ reply")() })
	rows("with the answer", terminals)

	if out, err := claudeCommand(d, model, "--bg", "task6").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	rows("with one more task", terminals+1)
	back := "\x1b"           // to the session
	if has(asks, " · →")() { // in 2.1.197 that leads to what it was before
		back = "\x1b[C"
	}
	for _, c := range all[:parked] {
		c.again(back, func() bool { return !has(c, list)() })
		c.shows(d, "END")
	}
	rows("back in the terminals", terminals+1)
}

// keepsProcess reports whether the daemon of Claude Code has a process ready for a session in the background.
func keepsProcess(d *driver) bool {
	d.t.Helper()
	b, _ := os.ReadFile(filepath.Join(d.home, ".claude/daemon.log")) // it may come later
	dir := regexp.MustCompile(`control socket bound at (\S+)/control\.sock`).FindSubmatch(b)
	if dir == nil {
		return false
	}
	ready, _ := filepath.Glob(filepath.Join(string(dir[1]), "spare", "*.claim.sock")) // the pattern is right
	return len(ready) > 0
}

// runsInBackground reports whether a session of Claude Code in the background has started, and rests.
func runsInBackground(d *driver, name string) bool {
	d.t.Helper()
	files, _ := filepath.Glob(filepath.Join(d.home, ".claude/sessions/*.json")) // the pattern is right
	for _, f := range files {
		b, _ := os.ReadFile(f) // it may have ended
		var s struct{ Kind, Name, Status string }
		if json.Unmarshal(b, &s) == nil && s.Kind == "bg" && s.Name == name && s.Status == "idle" {
			return true
		}
	}
	return false
}
