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

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// card puts a server into the user's configuration.
func (d *driver) card(name, command string) {
	d.t.Helper()
	dir := filepath.Join(d.home, ".config", "mcpdeck", "servers.d")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		d.t.Fatal(err)
	}
	line := fmt.Sprintf("command = [%q]\n", command)
	if err := os.WriteFile(filepath.Join(dir, name+".toml"), []byte(line), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// echo puts a small server into the user's configuration.
func (d *driver) echo() {
	d.t.Helper()
	program, err := exec.LookPath("echo-server")
	if err != nil {
		d.t.Fatal(err)
	}
	d.card("echo", program)
}

// wide makes the window as large as most are.
func (w *window) wide() {
	w.t.Helper()
	if err := pty.Setsize(w.tty.(*os.File), &pty.Winsize{Rows: 24, Cols: 110}); err != nil {
		w.t.Fatal(err)
	}
}

// shows waits until a text stands on the screen of a wide window.
func (w *window) shows(d *driver, text string) {
	w.t.Helper()
	d.until("the screen has "+text, func() bool {
		e := vt.NewEmulator(110, 24)
		go io.Copy(io.Discard, e) // what a terminal answers
		defer e.Close()
		_, _ = e.WriteString(w.text()) // it takes all
		return strings.Contains(e.String(), text)
	})
}

// lists tells whether an agent is offered a tool.
func (a *agent) lists(tool string) bool {
	a.t.Helper()
	return strings.Contains(fmt.Sprint(a.request("tools/list", "{}")), tool)
}

func TestAKeyTurnsAServerOnAndOff(t *testing.T) {
	d := newDriver(t)
	d.echo()
	w := d.window()
	w.wide()
	w.shows(d, "echo")
	a := d.relay()
	a.handshake("claude")
	if a.lists("echo_env") {
		t.Fatal("the tools of a server that is off are listed")
	}
	w.press("hG") // to the servers, and there to the last
	w.shows(d, "space turn on")
	w.press(" ")
	w.shows(d, "space turn off")
	d.until("the tools", func() bool { return a.lists("echo_env") })
	if failed, said := a.failed("echo_echo", `{"text":"hi"}`); failed || !strings.Contains(said, "hi") {
		t.Errorf("the tool says %s", said)
	}
	out, err := d.command("status", "echo").Output()
	if err != nil || !strings.Contains(string(out), "mode       on") {
		t.Errorf("mcpdeck status: %v, %s", err, out)
	}
	w.press("r")
	w.shows(d, "Restart echo?")
	w.press("y")
	w.shows(d, "echo was restarted")
	if failed, said := a.failed("echo_echo", `{"text":"hi"}`); failed || !strings.Contains(said, "hi") {
		t.Errorf("after a restart, the tool says %s", said)
	}
	w.press("\r")
	w.shows(d, "2 tools ──")
	w.shows(d, "echo-server 1.2.3, protocol 2025-11-25")
	w.press("q")
	w.shows(d, "space turn off")
	w.press(" ")
	w.shows(d, "space turn on")
	d.until("no tools", func() bool { return !a.lists("echo_env") })
}

func TestAServerThatDoesNotStartSaysWhyInItsRow(t *testing.T) {
	d := newDriver(t)
	d.card("broken", "/nowhere/server")
	w := d.window()
	w.wide()
	w.shows(d, "broken")
	w.press("hG ")
	w.shows(d, "broken      failed to start: no such file")
}
