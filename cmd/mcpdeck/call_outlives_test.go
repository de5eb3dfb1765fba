//go:build linux

package main

import (
	"bytes"
	"strings"
	"syscall"
	"testing"
)

// TestAQuestionFromAShellOutlivesTheDeckThatHadIt asks by the command call, and ends two decks meanwhile.
func TestAQuestionFromAShellOutlivesTheDeckThatHadIt(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	listed := func(what string) {
		t.Helper()
		d.until(what, func() bool {
			out, _ := d.command("ask", "list").Output()
			return bytes.Count(out, []byte("Which database?")) == 1
		})
	}
	first := d.serve()
	asker := d.asksThere("Which database?")
	listed("the question in the first deck")
	_ = first.Process.Signal(syscall.SIGTERM)
	_ = first.Wait()
	second := d.serve()
	listed("the question in the second deck, once")
	_ = second.Process.Kill()
	_ = second.Wait()
	w := d.window("--page", "inbox")
	w.wide()
	w.answers(d, "Which database?", key{"2", ""})
	if err := asker.c.Wait(); err != nil || !strings.Contains(asker.out.String(), "Postgres") {
		t.Errorf("the shell gets %v: %s %s", err, &asker.out, &asker.err)
	}
}
