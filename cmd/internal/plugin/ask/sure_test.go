//go:build linux

package ask_test

import (
	"testing"
)

// TestAnAnswerThatNobodyFetchedIsListed answers after the agent was killed, and
// gives the answer to the agent's successor.
func TestAnAnswerThatNobodyFetchedIsListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.open()
	a := w.agent("claude-code", "shop", "mcp", "ask")
	a.ask(1, which)
	d.wait("Which one?")
	_ = a.Cmd.Process.Kill()
	d.wait("no agent is waiting for this")
	d.guarded()
	d.press("2")
	d.wait("not delivered", "Which one? → y")
	b := w.agent("claude-code", "shop", "mcp", "ask")
	b.ask(1, which)
	d.wait("you answered this when nobody was waiting")
	d.guarded()
	d.press("\x13")
	if got := text(b.Answer(1)); got != "User answers:\na: y" {
		t.Errorf("the successor got %q", got)
	}
}

// TestNothingIsSentByMistake presses Enter off the chosen option, and types on
// after the text field was closed.
func TestNothingIsSentByMistake(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.open()
	a := w.agent("claude-code", "shop", "mcp", "ask")
	a.ask(1, which)
	d.wait("Which one?")
	d.guarded()
	d.press("\r", " ", "j", "\r")
	d.wait("your choice was replaced")
	d.press("\r")
	d.wait("sent to claude", "undo")
	if got := text(a.Answer(1)); got != "User answers:\na: y" {
		t.Errorf("got %q", got)
	}
	a.ask(2, `{"questions":[{"id":"b","question":"Branch?","placeholder":"main"},{"id":"c","question":"Sure?","options":["yes"],"required":false}]}`)
	d.wait("Branch?", "claude · shop · answer?")
	d.guarded()
	d.press("\r", "\x1b")
	d.wait("enter opens a field for your answer")
	d.press("s", "x")
	d.wait("decline the whole request?")
	d.press("s", "\x1b")
	w.listed(1)
	d.press("\r", "s", "x", "s")
	d.wait("sxs")
	d.press("\r")
	d.wait("Sure?") // optional, but seen
	d.press("\x1b[C", "\r")
	if got := text(a.Answer(2)); got != "User answers:\nb: \"sxs\"\nc: (skipped)\nThe user skipped c: do not assume an answer there." {
		t.Errorf("got %q", got)
	}
}

// TestAKilledRelaysTwinIsMerged starts an agent's second server before the first
// is dead: of two equal questions one is left, with what was entered.
func TestAKilledRelaysTwinIsMerged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.open()
	first := w.agent("claude-code", "shop", "mcp", "ask")
	first.ask(1, which)
	d.wait("Which one?")
	d.guarded()
	d.press("\r", "j")
	d.wait("▌( ) 2 y")
	d.command("note", "Add a note to the option")
	d.wait("what the agent should know")
	d.typed("sure")
	d.press("\x1b")
	d.wait("sure")
	second := w.agent("claude-code", "shop", "mcp", "ask")
	second.ask(1, which)
	w.listed(2)
	_ = first.Cmd.Process.Kill()
	w.listed(1)
	d.wait("sure", "asked again")
	d.press("2")
	if got := text(second.Answer(1)); got != "User answers:\na: y (note: sure)" {
		t.Errorf("got %q", got)
	}
}
