//go:build linux

package main

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/cmd/internal/sessions"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// scripted runs a command as a script without a terminal does, and returns its exit code
// and what it says.
func scripted(d *driver, args ...string) (code int, said string) {
	d.t.Helper()
	c := d.command(args...)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		d.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case err := <-ended:
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			code = exit.ExitCode()
		}
	case <-time.After(testwait.Patience):
		_ = c.Process.Kill() // it is what has not ended
		<-ended
		d.t.Errorf("mcpdeck %s does not end; it says %s", strings.Join(args, " "), &out)
	}
	return code, out.String()
}

func TestAScriptDoesNotWaitForAKey(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	d.echo()
	w := d.window("--page", "servers")
	w.wide()
	w.shows(d, "echo")
	for _, verb := range []string{"on", "lazy"} {
		if code, said := scripted(d, verb, "echo"); code == 0 || !strings.Contains(said, "press space on echo on the Servers page") || !strings.Contains(said, "no terminal here to wait at; --timeout") {
			t.Errorf("%s: exit %d, %s", verb, code, said)
		}
	}
	if code, said := scripted(d, "off", "clippy", "ask"); code != 0 || strings.Count(said, " is off: ") != 2 {
		t.Errorf("two turned off: exit %d, %s", code, said)
	}
	if code, said := scripted(d, "on", "nobody", "clippy", "echo", "ask"); code == 0 || strings.Count(said, "press space on ") != 3 || !strings.Contains(said, "nobody") {
		t.Errorf("several turned on: exit %d, %s", code, said)
	}
	if code, said := scripted(d, "on", "echo", "--timeout", "300ms"); code == 0 || !strings.Contains(said, "Waiting for you") || !strings.Contains(said, "nobody pressed the key within 300 ms") {
		t.Errorf("with a time limit: exit %d, %s", code, said)
	}
	if out, _ := d.command("status", "echo").Output(); !strings.Contains(string(out), "mode       off") {
		t.Errorf("it is not off: %s", out)
	}
}

func TestCommandsSayThatTheDeckIsStopped(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	deck := d.serve()
	if err := deck.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = deck.Process.Signal(syscall.SIGCONT) }) // it may have ended
	for _, args := range [][]string{{"sessions"}, {"list"}, {"call", "read_project_context"}, {"tools"}, {"ask", "list"}, {"ask", "answer", "1", "--decline"}, {"status", "ask"}, {"pencil", "status"}} {
		begun := time.Now()
		if code, said := scripted(d, args...); code == 0 || !strings.Contains(said, "is stopped and cannot answer") || !strings.Contains(said, "kill -CONT") {
			t.Errorf("%s: exit %d, %s", strings.Join(args, " "), code, said)
		}
		t.Logf("%s took %v", strings.Join(args, " "), time.Since(begun).Round(time.Millisecond))
	}
	if err := deck.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if code, said := scripted(d, "list"); code != 0 || !strings.Contains(said, " on ") {
		t.Errorf("when it goes on: exit %d, %s", code, said)
	}
}

// Where no program has left anything, nothing is waited for.
func TestSessionsOfAnEmptyHomeTakeNoTime(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	cfg, err := config.Load(config.Flags{Sections: plugin.Sections(), Port: -1, State: filepath.Join(home, "state")})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		if _, err := sessions.SessionFiles(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took > 0 { // virtual time: what is slept
			t.Errorf("it waited %v", took)
		}
	})
}
