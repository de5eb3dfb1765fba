//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoShellTurnsRulesOn tries it as an agent could: in its shell, in one that it has let go of, and in a terminal of
// its own.
func TestNoShellTurnsRulesOn(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	hasRules(d)
	for _, w := range []struct{ name, needs, script string }{
		{"a shell", "sh", `sh -c "$TRY"`},
		{"another session", "setsid", `setsid sh -c "$TRY"`},
		{"a double fork", "sh", `(sh -c "$TRY" &) &`},
		{"a terminal", "tmux", `TMUX_TMPDIR="$AT" tmux -f /dev/null new-session -d sh -c "$TRY"`},
	} {
		t.Run(w.name, func(t *testing.T) {
			if _, err := exec.LookPath(w.needs); err != nil {
				t.Skipf("%s is not here", w.needs)
			}
			at, err := os.MkdirTemp("", "on")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(at) })
			c := d.command()
			c.Path, c.Args = "/bin/sh", []string{"sh", "-c", w.script}
			c.Env = append(c.Env, "DECK="+d.program, "AT="+at, `TRY="$DECK" rules on >"$AT/says" 2>&1; echo $? >"$AT/ends~"; mv "$AT/ends~" "$AT/ends"`)
			if out, err := c.CombinedOutput(); err != nil && w.name != "a shell" {
				t.Fatalf("%v: %s", err, out)
			}
			var ends []byte
			d.until("an answer to "+w.name, func() bool {
				ends, err = os.ReadFile(filepath.Join(at, "ends"))
				return err == nil
			})
			says, err := os.ReadFile(filepath.Join(at, "says"))
			if err != nil || strings.TrimSpace(string(ends)) != "1" || !strings.Contains(string(says), "on the deck's screen only") {
				t.Errorf("it ends with %s and says %q, %v", ends, says, err)
			}
		})
	}
	if out, err := d.command("rules", "list").Output(); err != nil || !strings.Contains(string(out), "Rules are off") {
		t.Errorf("the list says %q, %v", out, err)
	}
}
