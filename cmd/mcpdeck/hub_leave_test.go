//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// joinsHub has this home be a host of a hub of another one's, which does not run.
func (d *driver) joinsHub(of *driver) {
	d.t.Helper()
	var said []byte
	for _, args := range [][]string{{"hub", "init", "--as", "laptop"}, {"hub", "add", "build1"}} {
		var err error
		if said, err = of.command(args...).CombinedOutput(); err != nil {
			d.t.Fatalf("%v: %v: %s", args, err, said)
		}
	}
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	join := d.command("join")
	join.Stdin = strings.NewReader(lines[len(lines)-1] + "\n")
	if out, err := join.CombinedOutput(); err != nil {
		d.t.Fatalf("join: %v: %s", err, out)
	}
}

// TestAHostOfAHubIsNotLeftWithoutADeck ends the user's own deck in each of the ways that have an order, and opens it again
// while the one that takes its place may still begin.
func TestAHostOfAHubIsNotLeftWithoutADeck(t *testing.T) {
	t.Parallel()
	laptop, d := newDriver(t), newDriver(t)
	d.endsDeck()
	d.joinsHub(laptop)
	const keeps = "mcpdeck keeps running without a screen"
	opens := func() *window {
		w := d.window()
		d.until("the user's own deck", func() bool { return d.deckPID() == w.cmd.Process.Pid })
		return w
	}
	serves := func() *exec.Cmd {
		c := d.command("serve", "--port", "0")
		c.Stderr = &d.log
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.kill(c) })
		d.until("the user's own deck, without a screen", func() bool { return d.deckPID() == c.Process.Pid })
		return c
	}
	ends := func(c *exec.Cmd) {
		_ = c.Process.Signal(syscall.SIGTERM)
		if err := c.Wait(); err != nil {
			t.Errorf("it ends with %v: %s", err, d.log.String())
		}
	}
	stays := func(how string) {
		d.until("a deck without a screen after one that "+how, func() bool {
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", d.deckPID())) // none runs for a moment
			return strings.Contains(string(line), "serve\x00--linked")
		})
	}

	w := opens()
	w.key("q")
	d.shows(w, keeps)
	stays("was quit")
	_ = opens().tty.Close()
	stays("lost its terminal")
	for range 3 {
		ends(serves())
	}
	stays("was told to end")
	if said := d.log.String(); strings.Count(said, keeps) != 3 {
		t.Errorf("it says %s", said)
	}

	if out, err := d.command("hub", "leave").CombinedOutput(); err != nil {
		t.Fatalf("leave: %v: %s", err, out)
	}
	ends(serves())
	if pid := d.deckPID(); pid != 0 {
		t.Errorf("deck %d runs on a machine that is no host any more", pid)
	}
}
