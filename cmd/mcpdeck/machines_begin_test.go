//go:build linux

package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestAQuestionStartsADeckOnlyWhereOthersMayAnswerAndTheUsersOwnTakesItsPlace asks on a machine on which
// no deck runs while nobody is linked to it.
func TestAQuestionStartsADeckOnlyWhereOthersMayAnswerAndTheUsersOwnTakesItsPlace(t *testing.T) {
	t.Parallel()
	d, there := newDriver(t), newDriver(t)
	d.standInSSH(there)
	there.endsDeck()
	alone := there.asksThere("Which log?")
	if _ = alone.c.Wait(); !strings.Contains(alone.out.String()+alone.err.String(), "mcpdeck is not running") || there.deckPID() != 0 {
		t.Errorf("where no other deck may answer the agent gets %s %s, and deck %d runs", &alone.out, &alone.err, there.deckPID())
	}

	d.addsMachine("me@build1.example")
	if pid := there.deckPID(); pid != 0 {
		t.Fatalf("deck %d runs there", pid)
	}
	asker := there.asksThere("Which database?")
	there.until("the question in a deck without a screen", func() bool {
		out, _ := there.command("ask", "list").Output()
		return bytes.Contains(out, []byte("Which database?"))
	})
	began := there.deckPID()
	other := d.window("--page", "inbox")
	other.wide()
	other.shows(d, "t hand over")
	other.key("t")
	other.shows(d, "Hand over to build1")
	other.key("yours\r")
	other.shows(d, "handed to build1: yours")

	w := there.window("--page", "inbox")
	w.wide()
	w.shows(there, "handed to you by the deck")
	w.answers(there, "Which database?", key{"2", ""})
	if err := asker.c.Wait(); err != nil || !strings.Contains(asker.out.String(), "Postgres") {
		t.Errorf("the agent gets %v: %s %s", err, &asker.out, &asker.err)
	}
	there.until("the end of the deck that was started", func() bool { return !runs(began) })
	out, err := there.command("serve", "--port", "0").CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("a deck is already running")) {
		t.Errorf("the user's own deck gives way to another: %v, %s", err, out)
	}
	d.until("a link to the user's own deck", func() bool { s := d.linked(); return s.Linked && s.Answers })
}
