//go:build unix

package ask_test

import (
	"testing"

	"github.com/creack/pty"
)

// resize makes the deck's terminal another size.
func (d *deck) resize(w, h uint16) {
	d.t.Helper()
	d.mu.Lock()
	d.em.Resize(int(w), int(h))
	d.mu.Unlock()
	if err := pty.Setsize(d.tty, &pty.Winsize{Rows: h, Cols: w}); err != nil {
		d.t.Fatal(err)
	}
}

// TestAnAnswerIsGivenInSightOnly presses Enter where the question is not to be
// seen, and then where it is: only that counts.
func TestAnAnswerIsGivenInSightOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.open()
	a := w.agent("claude-code", "shop", "mcp", "ask")
	a.ask(1, `{"questions":[{"id":"sure","question":"Really?","options":["Delete everything","Keep it"]}]}`)
	d.wait("Delete everything")
	d.resize(30, 8)
	d.wait("mcpdeck needs")
	d.press("\r", "1", "\r", "\x03")
	d.wait("ctrl+c again quits") // so all keys came to the small screen
	d.resize(100, 30)
	d.wait("Really?", "Quit mcpdeck?")
	d.guarded()
	d.press("s", "\r", "?", "\x1b[B")
	d.wait("▌ Choose the highlighted option and continue, or send")
	d.press("\r")
	d.wait("press enter to: Choose the highlighted option and continue, or send")
	d.guarded()
	d.press("j")
	d.wait("▌( ) 2 Keep it")
	d.press("\r")
	d.wait("sent to claude", "undo")
	if got := text(a.Answer(1)); got != "User answers:\nsure: Keep it" {
		t.Errorf("the agent got %q", got)
	}
}
