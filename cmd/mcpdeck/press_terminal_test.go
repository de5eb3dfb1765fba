//go:build linux

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// asksFor is a deck on its Inbox, and sessions that ask for commands.
func asksFor(t *testing.T, commands ...string) (*driver, *window) {
	t.Helper()
	d := newDriver(t)
	w := d.window("--page", "inbox")
	w.wide()
	d.until("a deck", func() bool { return strings.Contains(w.screen(), "Inbox") })
	for i, command := range commands {
		d.prompts(fmt.Sprintf("s%d", i), command)
		d.until("a permission", func() bool { return d.prompted() == i+1 })
	}
	return d, w
}

// TestAHeldKeyOfATerminalAnswersOnce holds y down, as a terminal without event types sends it
// and as one with them does, over permissions that wait.
func TestAHeldKeyOfATerminalAnswersOnce(t *testing.T) {
	t.Parallel()
	for _, types := range []bool{false, true} {
		t.Run(fmt.Sprint("event types ", types), func(t *testing.T) {
			t.Parallel()
			d, w := asksFor(t, "make one", "make two", "make three")
			w.shows(d, "allow? ─")
			first, again := "y", "y"
			if types {
				w.press("\x1b[?3u") // what such a terminal answers
				again = "\x1b[121;1:2u"
			}
			time.Sleep(2 * time.Second) // a key counts once what it answers has been there for a while
			w.press(first)
			for range 60 {
				time.Sleep(50 * time.Millisecond) // as a terminal repeats it
				w.press(again)
			}
			if n := d.prompted(); n < 2 {
				t.Fatalf("a held key answered %d of 3", 3-n)
			}
			if types {
				w.press("\x1b[121;1:3u")
			}
			w.again("y", func() bool { return d.prompted() < 2 }) // and once it was let go, the next
		})
	}
}

// TestATerminalAllowsNothingThatWasNotShown presses y on a command of which most lines are
// below the screen.
func TestATerminalAllowsNothingThatWasNotShown(t *testing.T) {
	t.Parallel()
	command := ""
	for i := range 59 {
		command += fmt.Sprintf("echo step-%d\\n", i)
	}
	d, w := asksFor(t, strings.ReplaceAll(command, `\n`, "\n"), "npm test"+strings.Repeat(" ", 3000)+"; echo behind-the-spaces")
	for _, last := range []string{"step-58", "behind-the-spaces"} {
		w.shows(d, "allow? ─")
		before := d.prompted()
		shown := strings.Contains(w.screen(), last)
		for range 40 {
			if d.prompted() < before {
				break
			}
			w.key("y")
			time.Sleep(500 * time.Millisecond) // nothing tells that the key has not counted
			shown = shown || strings.Contains(w.screen(), last)
			if d.prompted() < before {
				break
			}
			w.press("\x1b[6~")                 // pgdown
			time.Sleep(500 * time.Millisecond) // at the end there is nothing to scroll
			shown = shown || strings.Contains(w.screen(), last)
		}
		if !shown {
			t.Fatalf("it was allowed, and %s was not on the screen:\n%s", last, w.screen())
		}
		if d.prompted() == before {
			t.Fatalf("it is never allowed:\n%s", w.screen())
		}
	}
}
