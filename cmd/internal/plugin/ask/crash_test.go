//go:build linux

package ask_test

import (
	"testing"
)

// TestACrashInTheUndoHold kills the deck while an answer can still be taken back.
func TestACrashInTheUndoHold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(".config/mcpdeck/config.toml", "[ask]\nundo_seconds = 60\n")
	d := w.open()
	a := w.agent("claude-code", "shop", "mcp", "ask")
	a.ask(1, which)
	d.wait("Which one?")
	d.guarded()
	d.press("2")
	d.wait("sent to claude", "undo")
	w.saved(`"state":"sending"`)
	d.kill()
	w.write(".config/mcpdeck/config.toml", "[ask]\nundo_seconds = 5\n")
	d = w.open()
	d.wait("Which one?", "not confirmed", "ctrl+s")
	w.listed(1)
	d.guarded()
	d.press("\x13")
	d.wait("sent to claude", "undo")
	if got := text(a.Answer(1)); got != "User answers:\na: y" {
		t.Errorf("the agent got %q", got)
	}
}

// TestASnoozedQuestionStaysAwayOverARestart kills the deck after a snooze.
func TestASnoozedQuestionStaysAwayOverARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.open()
	a := w.agent("claude-code", "shop", "mcp", "ask")
	a.ask(1, which)
	d.wait("Which one?")
	d.guarded()
	d.press("z")
	d.wait("tomorrow morning")
	d.guarded()
	d.press("1")
	d.wait("1 snoozed", "back in 10 m")
	w.saved(`"snooze"`)
	d.kill()
	d = w.open()
	d.wait("Nothing needs you", "1 snoozed", "back in 10 m")
}
