package pixelsrc

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/support/fuzzy"
)

// distance is how many slips lie between two words, without regard to case and braces.
func distance(a, b string) int {
	const most = 64
	a, b = strings.ToLower(pxl.Bare(a)), strings.ToLower(pxl.Bare(b))
	if utf8.RuneCountInString(a) > most || utf8.RuneCountInString(b) > most {
		return most
	}
	return fuzzy.Slips(a, b)
}

// reach is how far a misspelt token may be from the meant one.
func reach(a, b string) int {
	switch n := min(utf8.RuneCountInString(a), utf8.RuneCountInString(b)); {
	case n < 3:
		return 0
	case n < 6:
		return 1
	}
	return 2
}

// NearNames lists the candidates within an edit distance of a name, the nearest
// first, at most three.
func NearNames(name string, candidates []string, within int) []string {
	type hit struct {
		name string
		d    int
	}
	var hits []hit
	for _, c := range candidates {
		// More than half of it different is another word.
		longer := max(utf8.RuneCountInString(c), utf8.RuneCountInString(name))
		if d := distance(name, c); d <= within && 2*d <= longer {
			hits = append(hits, hit{c, d})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(a.d-b.d, cmp.Compare(a.name, b.name)) })
	var out []string
	for _, h := range hits {
		if len(out) < 3 && !slices.Contains(out, h.name) {
			out = append(out, h.name)
		}
	}
	return out
}

// DidYouMean is a question with up to three names, "" without any.
func DidYouMean(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return "Did you mean '" + names[0] + "'?"
	case 2:
		return "Did you mean '" + names[0] + "' or '" + names[1] + "'?"
	}
	return "Did you mean '" + names[0] + "', '" + names[1] + "', or '" + names[2] + "'?"
}

// NotFound says that a name is unknown, which ones are, and what was meant.
func NotFound(what, name string, available []string) string {
	s := what + " '" + name + "' not found. "
	if hint := DidYouMean(NearNames(name, available, 3)); hint != "" {
		s += hint + " "
	}
	if len(available) == 0 {
		return s + "Available: none."
	}
	more := ""
	if len(available) > 40 {
		available, more = available[:40], ", …"
	}
	return s + "Available: " + strings.Join(available, ", ") + more + "."
}
