//go:build linux

package main

import (
	"strings"
	"syscall"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// bothAsk waits until the pane of each window asks something.
func bothAsk(t *testing.T, prompt string, all ...*window) {
	t.Helper()
	for _, w := range all {
		testwait.For(t, "the screen asks "+prompt, w.screen, func(string) bool { return steady(func() bool { return w.asks(prompt) })() })
	}
}

// TestWhatIsTypedForAnotherMachineIsShownThereAndOutlivesTheDeck types an answer in one home for what an agent asks in
// another, whose own deck is on a screen, too.
func TestWhatIsTypedForAnotherMachineIsShownThereAndOutlivesTheDeck(t *testing.T) {
	t.Parallel()
	d, there := newDriver(t), newDriver(t)
	d.standInSSH(there)
	d.addsMachine("me@build1.example") // without a screen there the first deck is taken as it comes
	if pid := there.deckPID(); pid > 0 {
		_ = syscall.Kill(pid, syscall.SIGTERM)
		d.until("the end of the deck without a screen", func() bool { return syscall.Kill(pid, 0) != nil })
	}
	host := there.window()
	host.wide()
	d.until("a deck there", func() bool { return there.deckPID() > 0 })
	w := d.window()
	w.wide()
	d.until("a link", func() bool { s := d.linked(); return s.Linked && s.Answers })
	asker := there.asksThere("Which database?")
	bothAsk(t, "Which database?", w, host)

	w.keyed("3", func() bool { return strings.Contains(w.screen(), "┃ your answer") })
	w.press("DuckDB, since")
	host.shows(there, "DuckDB, since")
	host.shows(there, "being answered in the deck")

	if err := syscall.Kill(d.deckPID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.ended()
	w = d.window()
	w.wide()
	w.shows(d, "DuckDB, since")
	w.key(" it is small")
	host.shows(there, "DuckDB, since it is small")
	w.keyed("\r", func() bool { return !w.asks("Which database?") })
	if err := asker.c.Wait(); err != nil || !strings.Contains(asker.out.String(), "DuckDB, since it is small") {
		t.Errorf("the agent gets %v: %s %s", err, &asker.out, &asker.err)
	}
}
