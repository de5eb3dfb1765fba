// Package fuzzy measures how similar two words are, and suggests the one that was
// probably meant.
package fuzzy

import (
	"slices"
	"strings"
)

// Slips counts the letters to insert, delete or replace, and the neighbours to swap, that
// turn a into b.
func Slips(a, b string) int {
	p, q := []rune(a), []rune(b)
	older, old, row := make([]int, len(q)+1), make([]int, len(q)+1), make([]int, len(q)+1)
	for j := range old {
		old[j] = j
	}
	for i, r := range p {
		row[0] = i + 1
		for j, s := range q {
			d := old[j]
			if r != s {
				d = 1 + min(d, old[j+1], row[j])
			}
			if i > 0 && j > 0 && r == q[j-1] && p[i-1] == s {
				d = min(d, older[j-1]+1)
			}
			row[j+1] = d
		}
		older, old, row = old, row, older
	}
	return old[len(q)]
}

// Meant is the name that a wrong one may stand for: one that it is the end of, or
// has as its end, one that is a slip or two away, or one that has all its words;
// "" when there is none or several are as near.
func Meant(wrong string, names []string) string {
	const most = 64
	if len(wrong) > 2*most {
		return ""
	}
	best, at, tied := "", 3, false
	for _, name := range names {
		d := at + 1
		switch short, long := fold(wrong), fold(name); {
		case short == long, len(short) >= 4 && strings.HasSuffix(long, "_"+short), strings.HasSuffix(short, "_"+long):
			d = 0
		case len(short) <= most && len(long) <= most && len(short) >= 4:
			d = Slips(short, long)
			if d >= at && words(short, long) {
				d = 2
			}
		}
		switch {
		case d < at:
			best, at, tied = name, d, false
		case d == at:
			tied = true
		}
	}
	if tied {
		return ""
	}
	return best
}

// fold makes names alike that differ only in how words are joined.
func fold(name string) string {
	return strings.NewReplacer("-", "_", ".", "_", "/", "_").Replace(strings.ToLower(name))
}

// words tells whether all words of a name, two at least, are in another.
func words(short, long string) bool {
	list, in := strings.Split(short, "_"), strings.Split(long, "_")
	return len(list) > 1 && !slices.ContainsFunc(list, func(w string) bool { return !slices.Contains(in, w) })
}
