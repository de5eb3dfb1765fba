package record

import (
	"fmt"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/diff"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Compared is a file whose text was replaced by another. It is compared as git does, so that
// as few lines as possible count: the diff that shows an edit before it is made takes lines
// that stand several times for changed.
func Compared(path, before, after string) snapshot.ChangedFile {
	a, b := textLines(before), textLines(after)
	steps := diff.Steps(a, b, func(a, b string) bool { return a == b })
	shown := make([]bool, len(steps))
	for i, s := range steps {
		const around = 3
		for near := max(i-around, 0); (s.Old < 0 || s.New < 0) && near < min(i+around+1, len(steps)); near++ {
			shown[near] = true
		}
	}
	var all, hunk strings.Builder
	var old, now, fromOld, fromNow int // lines so far, and before the hunk
	for i, s := range steps {
		if shown[i] && hunk.Len() == 0 {
			fromOld, fromNow = old, now
		}
		sign, line := " ", ""
		if s.Old >= 0 {
			line, old = a[s.Old], old+1
		}
		if s.New >= 0 {
			line, now = b[s.New], now+1
		}
		switch {
		case s.Old < 0:
			sign = "+"
		case s.New < 0:
			sign = "-"
		}
		if shown[i] {
			hunk.WriteString(sign + strings.TrimSuffix(line, "\n") + "\n")
		}
		if hunk.Len() > 0 && (i+1 == len(steps) || !shown[i+1]) {
			fmt.Fprintf(&all, "@@ -%d,%d +%d,%d @@\n%s", fromOld+1, old-fromOld, fromNow+1, now-fromNow, hunk.String())
			hunk.Reset()
		}
	}
	return Diff(path, all.String())
}

// textLines are the lines of a text, each with its end.
func textLines(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
