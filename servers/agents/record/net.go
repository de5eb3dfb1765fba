package record

import (
	"regexp"
	"strconv"
	"strings"
)

// mostTracked is how many lines of a file are told apart.
const mostTracked = 1 << 17

// hunkHead is the head of a hunk, with where it begins before the change and how long it is there.
var hunkHead = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+`)

// net applies a change to what is known of a file's lines: how many are as they were before the
// session changed any, and how many are not, in turns; those behind the last are as before. It
// returns what is then known, and by how many more lines the file differs from what it was. A
// line that is changed again counts once, as it does for git.
func net(runs []int, diff string, plus, minus int) (after []int, added, removed int, ok bool) {
	var before, now []bool // whether a line is of the session
	for i, n := range runs {
		for range n {
			before = append(before, i%2 == 1)
		}
	}
	at := 0
	next := func() bool {
		at++
		return at <= len(before) && before[at-1]
	}
	within := false // a hunk
	for line := range strings.Lines(diff) {
		if head := hunkHead.FindStringSubmatch(line); head != nil {
			start, _ := strconv.Atoi(head[1]) // digits
			if start > mostTracked || len(now) > mostTracked {
				return nil, 0, 0, false
			}
			if head[2] != "0" || start == 1 { // else the hunk comes after the line
				start--
			}
			for at < start {
				now = append(now, next())
			}
			within = true
			continue
		}
		switch {
		case !within || line[0] == '\\':
		case line[0] == '+':
			now = append(now, true)
			added, plus = added+1, plus-1
		case line[0] == '-' && next():
			added, minus = added-1, minus-1
		case line[0] == '-':
			removed, minus = removed+1, minus-1
		default:
			now = append(now, next())
		}
	}
	for at < len(before) {
		now = append(now, next())
	}
	after = []int{0}
	for _, own := range now {
		if own != (len(after)%2 == 0) {
			after = append(after, 0)
		}
		after[len(after)-1]++
	}
	return after, added, removed, plus == 0 && minus == 0
}
