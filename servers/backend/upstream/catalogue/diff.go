package catalogue

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/diff"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// diffContext is how many unchanged lines are shown around a change.
const diffContext = 2

// diffLimit is the number of lines of one side above which both sides are shown in full,
// one after the other.
const diffLimit = 1500

// diffJSON compares two JSON texts, indented with one member per line.
func diffJSON(old, now string) []snapshot.DiffLine {
	return around(diffLines(lines(old), lines(now)))
}

// addedJSON is the comparison of a JSON text with nothing.
func addedJSON(now string) []snapshot.DiffLine { return diffLines(nil, lines(now)) }

// diffText compares two texts line by line.
func diffText(old, now string) []snapshot.DiffLine {
	return around(diffLines(strings.Split(old, "\n"), strings.Split(now, "\n")))
}

func lines(raw string) []string {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(raw), "", "  "); err != nil {
		return strings.Split(raw, "\n")
	}
	return strings.Split(b.String(), "\n")
}

// diffLines compares two texts given as lines.
func diffLines(a, b []string) []snapshot.DiffLine {
	if len(a) > diffLimit || len(b) > diffLimit {
		var out []snapshot.DiffLine
		for _, l := range a {
			out = append(out, snapshot.DiffLine{Mark: '-', Text: sanitize.Line(l)})
		}
		for _, l := range b {
			out = append(out, snapshot.DiffLine{Mark: '+', Text: sanitize.Line(l)})
		}
		return out
	}
	var out []snapshot.DiffLine
	for _, s := range diff.Steps(a, b, func(x, y string) bool { return x == y }) {
		switch {
		case s.New < 0:
			out = append(out, snapshot.DiffLine{Mark: '-', Text: sanitize.Line(a[s.Old])})
		case s.Old < 0:
			out = append(out, snapshot.DiffLine{Mark: '+', Text: sanitize.Line(b[s.New])})
		default:
			out = append(out, snapshot.DiffLine{Mark: ' ', Text: sanitize.Line(a[s.Old])})
		}
	}
	return out
}

// around keeps changed lines and diffContext lines around them.
func around(all []snapshot.DiffLine) []snapshot.DiffLine {
	var out []snapshot.DiffLine
	for i, l := range all {
		near := false
		for k := max(0, i-diffContext); k <= min(len(all)-1, i+diffContext); k++ {
			near = near || all[k].Mark != ' '
		}
		if near {
			out = append(out, l)
		}
	}
	return out
}
