//go:build linux

package ask_test

import (
	"testing"
	"time"
)

// TestACrashInTheUndoHold kills the deck while an answer can still be taken back.
func TestACrashInTheUndoHold(t *testing.T) {
	w := newWorld(t)
	w.write(".config/mcpdeck/config.toml", "[ask]\nundo_seconds = 60\n")
	d := w.open()
	a := w.agent("claude-code", "shop", "mcp", "ask")
	a.ask(1, which)
	d.wait("Which one?")
	time.Sleep(500 * time.Millisecond) // the question came by itself: keys count after a moment
	d.press("2")
	d.wait("takes it back")
	time.Sleep(500 * time.Millisecond) // what is done is on disk a moment later
	d.kill()
	d = w.open()
	d.wait("Which one?", "not sent", "ctrl+s")
	w.listed(1)
	time.Sleep(500 * time.Millisecond)
	d.press("\x13")
	d.wait("takes it back")
	time.Sleep(500 * time.Millisecond)
	d.press("\r")
	if got := text(a.reply(1)); got != "User answers:\na: y" {
		t.Errorf("the agent got %q", got)
	}
}

// TestASnoozedQuestionStaysAwayOverARestart kills the deck after a snooze.
func TestASnoozedQuestionStaysAwayOverARestart(t *testing.T) {
	w := newWorld(t)
	d := w.open()
	a := w.agent("claude-code", "shop", "mcp", "ask")
	a.ask(1, which)
	d.wait("Which one?", "→")
	time.Sleep(500 * time.Millisecond) // as above
	d.press("z")
	d.wait("back in 10 m")
	time.Sleep(500 * time.Millisecond)
	d.kill()
	d = w.open()
	d.wait("back in 10 m")
}
