//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"github.com/mcpdeck/mcpdeck/tui"
)

// card puts a server into the user's configuration.
func (d *driver) card(name, command string, settings ...string) {
	d.t.Helper()
	dir := filepath.Join(d.home, ".config", "mcpdeck", "servers.d")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		d.t.Fatal(err)
	}
	text := fmt.Sprintf("command = [%q]\n", command) + strings.Join(settings, "\n")
	if err := os.WriteFile(filepath.Join(dir, name+".toml"), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// echo puts a small server into the user's configuration.
func (d *driver) echo(settings ...string) {
	d.t.Helper()
	program, err := exec.LookPath("echo-server")
	if err != nil {
		d.t.Fatal(err)
	}
	d.card("echo", program, settings...)
}

// wide makes the window as large as most are, and keeps its screen.
func (w *window) wide() { w.tall(24, io.Discard) }

// tall gives the window 110 columns and so many rows, and keeps its screen. What its terminal answers to questions
// about itself is written to answers.
func (w *window) tall(rows int, answers io.Writer) {
	w.t.Helper()
	const cols = 110
	em := vt.NewEmulator(cols, rows)
	go io.Copy(answers, em) // its Close would race with this
	w.mu.Lock()
	_, _ = em.Write(w.titles.dropped([]byte(w.out.String()))) // it takes all
	w.em = em
	w.mu.Unlock()
	if err := pty.Setsize(w.tty.(*os.File), &pty.Winsize{Rows: uint16(rows), Cols: cols}); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if w.t.Failed() {
			w.t.Logf("the screen of %s at last:\n%s", filepath.Base(w.cmd.Path), w.screen())
		}
	})
}

// screen is what a wide window shows.
func (w *window) screen() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.em.String()
}

// shows waits until a text stands on the screen of a wide window.
func (w *window) shows(d *driver, text string) {
	w.t.Helper()
	d.until("the screen has "+text, func() bool { return strings.Contains(w.screen(), text) })
}

// lists tells whether an agent is offered a tool.
func (a *agent) lists(tool string) bool {
	a.t.Helper()
	return strings.Contains(fmt.Sprint(a.Request("tools/list", "{}")), tool)
}

// agree presses the key that agrees to what a dialog shows, until the dialog is gone. Only its frame
// tells: how many rows were shown is not said for a moment when it is opened once more.
func (w *window) agree(d *driver) {
	w.t.Helper()
	w.shows(d, "rows shown")
	w.keyed("y", func() bool { return !strings.Contains(w.screen(), "┏") })
}

func TestAKeyTurnsAServerOnAndOff(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	d.echo(`mode = "on"`)
	w := d.window("--page", "servers")
	w.wide()
	w.shows(d, "echo: stays off, because it is new")
	a := d.relay()
	a.Handshake("claude")
	if a.lists("echo_env") {
		t.Fatal("the tools of a server that is off are listed")
	}
	w.key("/echo\r")
	w.shows(d, "▌○ echo")
	w.key(" ")
	w.agree(d)
	w.shows(d, "▌● echo")
	d.until("the tools", func() bool { return a.lists("echo_env") })
	d.until("no warning", func() bool { return !strings.Contains(w.screen(), "stays off") })
	if failed, said := a.failed("echo_echo", `{"text":"hi"}`); failed || !strings.Contains(said, "hi") {
		t.Errorf("the tool says %s", said)
	}
	out, err := d.command("status", "echo").Output()
	if err != nil || !strings.Contains(string(out), "mode       on") {
		t.Errorf("mcpdeck status: %v, %s", err, out)
	}
	w.key("r")
	w.shows(d, "Restart echo?")
	w.keyed("y", func() bool { return strings.Contains(w.screen(), "echo was restarted") })
	if failed, said := a.failed("echo_echo", `{"text":"hi"}`); failed || !strings.Contains(said, "hi") {
		t.Errorf("after a restart, the tool says %s", said)
	}
	w.shows(d, "Tools 2")
	w.key("d")
	w.shows(d, "echo-server 1.2.3 · MCP 2025-11-25")
	w.key("d\r ")
	w.shows(d, "○ echo  off")
	d.until("one tool less", func() bool { return !a.lists("echo_echo") && a.lists("echo_env") })
	if failed, said := a.failed("echo_echo", `{"text":"hi"}`); !failed || !strings.Contains(said, "echo_echo is turned off. The user can allow it in mcpdeck.") {
		t.Errorf("a tool that is off says %s", said)
	}
	w.key(" ")
	d.until("the tool again", func() bool { return a.lists("echo_echo") })
	w.key("\x1b")
	w.shows(d, "━ Servers")
	w.key(" ")
	w.shows(d, "▌○ echo")
	d.until("no tools", func() bool { return !a.lists("echo_env") })
}

func TestAServerThatDoesNotStartSaysWhyInItsRow(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	d.card("broken", "/nowhere/server")
	w := d.window("--page", "servers")
	w.wide()
	w.shows(d, "broken ")
	w.key("/broken\r ")
	w.agree(d)
	w.shows(d, "problem: failed to s")
	w.shows(d, "failed to start: no such file")
}

// markedCard puts a server into the user's configuration that leaves a file of a name when it
// starts, and returns the path of that file.
func markedCard(d *driver, name string, settings ...string) string {
	d.t.Helper()
	program, err := exec.LookPath("echo-server")
	if err != nil {
		d.t.Fatal(err)
	}
	script, mark := filepath.Join(d.home, name+".sh"), filepath.Join(d.home, name+".started")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n: > "+mark+"\nexec "+program+"\n"), 0o700); err != nil {
		d.t.Fatal(err)
	}
	d.card("echo", script, append(settings, `mode = "on"`)...)
	return mark
}

// TestAServerIsTurnedOnAsItWasDrawn rewrites what a server runs after the notice, and again a
// moment before the key that agrees to it.
func TestAServerIsTurnedOnAsItWasDrawn(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	marks := []string{markedCard(d, "first")}
	w := d.window("--page", "servers")
	w.wide()
	w.shows(d, "echo: stays off, because it is new")
	w.key("/echo\r")
	w.shows(d, "▌○ echo")
	marks = append(marks, markedCard(d, "second", `env = { LD_PRELOAD = "/nowhere/x.so", PATH = "." }`))
	w.key(" ")
	w.shows(d, "LD_PRELOAD=/nowhere/x.so")
	w.shows(d, "second.sh")
	for _, mark := range marks {
		if _, err := os.Lstat(mark); err == nil {
			t.Fatalf("%s was made by a program that nobody agreed to", mark)
		}
	}
	for i, wait := range []time.Duration{0, 160, 250, 600} {
		w.shows(d, "rows shown")
		w.reads()
		name := fmt.Sprintf("other%d", i)
		changed := time.Now()
		markedCard(d, name)
		time.Sleep(wait * time.Millisecond) // the key comes so much later than the change
		w.press("y")
		if late := time.Since(changed); late > tui.ReadPrompt { // for as long, it may have been drawn
			t.Skipf("this machine is too busy: the key came %v after the change, when it may count", late)
		}
		d.until("the terms of what runs now", func() bool {
			screen := w.screen()
			if !strings.Contains(screen, "Turn on echo?") && strings.Contains(screen, "space on/off") { // the key was for what was drawn, which is no more
				w.key(" ")
				time.Sleep(300 * time.Millisecond) // else the same screen is taken for the next
			}
			return strings.Contains(screen, "Turn on echo?") && strings.Contains(screen, name+".sh")
		})
		if _, err := os.Lstat(filepath.Join(d.home, name+".started")); err == nil {
			t.Fatalf("%v after it was written, a program runs that was not drawn", wait*time.Millisecond)
		}
	}
	w.agree(d)
	a := d.relay()
	a.Handshake("claude")
	d.until("the tools", func() bool { return a.lists("echo_env") })
	if failed, said := a.failed("echo_echo", `{"text":"hi"}`); failed {
		t.Errorf("the tool says %s", said)
	}
	if _, err := os.Lstat(filepath.Join(d.home, "other3.started")); err != nil {
		t.Errorf("what was agreed to does not run: %v", err)
	}
}
