//go:build linux

package main

import (
	"strings"
	"testing"
	"time"
)

// TestADeckThatIsResizedAsItStartsFillsItsTerminal has terminals resized while the deck opens, as one
// that makes a layout does. The first look at the size and the first word of a change are apart.
func TestADeckThatIsResizedAsItStartsFillsItsTerminal(t *testing.T) {
	t.Parallel()
	for try := range 12 {
		d := newDriver(t)
		w := d.window("--page", "inbox")
		time.Sleep(time.Duration(try) * 10 * time.Millisecond) // somewhere in its start
		w.wide()
		d.until("the deck is as wide as its terminal", func() bool { return strings.Contains(w.screen(), strings.Repeat("─", 110)) })
		d.kill(w.cmd)
	}
}
