package granted

import (
	"bytes"
	"fmt"
	"slices"
)

// JSONCuts are the cuts that take one part out of a list in brackets or braces: it, its comma and, where nothing
// else is left, its line. The parts are in order, the list ends at end.
func JSONCuts(text []byte, parts []Span, i, end int) []Span {
	cuts := []Span{parts[i]}
	until := end
	if i+1 < len(parts) {
		until = parts[i+1].Start
	}
	if c := comma(text, parts[i].End, until); c >= 0 {
		cuts = append(cuts, Span{c, c + 1})
	} else if i > 0 {
		if c = comma(text, parts[i-1].End, parts[i].Start); c >= 0 {
			cuts = append(cuts, Span{c, c + 1})
		}
	}
	return cuts
}

// comma is where the comma stands between two places, outside of comments; -1 if there is none.
func comma(text []byte, from, to int) int {
	for i := from; i < to; i++ {
		rest := text[i:to]
		var skip int
		switch {
		case rest[0] == ',':
			return i
		case bytes.HasPrefix(rest, []byte("//")):
			skip = bytes.IndexByte(rest, '\n')
		case bytes.HasPrefix(rest, []byte("/*")):
			skip = bytes.Index(rest, []byte("*/"))
		default:
			continue
		}
		if skip < 0 {
			return -1
		}
		i += skip
	}
	return -1
}

// Without is the file of an entry without it. All else, such as comments and line ends, stays as it is.
func (e *Entry) Without(text []byte) ([]byte, error) {
	switch {
	case e.Fixed != "":
		return nil, fmt.Errorf("it cannot be revoked here: %s", e.Fixed)
	case e.Verdict != Allow:
		return nil, fmt.Errorf("it allows nothing: without it, more may be allowed")
	case !bytes.Equal(text, e.text):
		return nil, fmt.Errorf("%s has changed meanwhile; look again", e.File)
	}
	out := slices.Clone(text)
	cuts := slices.Clone(e.Cuts)
	slices.SortFunc(cuts, func(a, b Span) int { return b.Start - a.Start })
	for _, c := range cuts {
		from, to := c.Start, c.End
		before, after := out[:from], out[to:]
		line := before[bytes.LastIndexByte(before, '\n')+1:]
		rest, _, ended := bytes.Cut(after, []byte("\n"))
		next := bytes.TrimLeft(rest, " \t")
		switch {
		case len(bytes.TrimSpace(line)) == 0 && len(bytes.TrimSpace(rest)) == 0 && ended:
			from, to = from-len(line), to+len(rest)+1 // nothing else is on the line
		case to-from == 1: // a comma
			if len(cuts) == 2 && c.Start < e.Cuts[0].Start {
				break // of the part before; what follows it goes with the part itself
			}
			to += len(rest) - len(next)
		case len(cuts) == 2 && e.Cuts[1].Start < e.Cuts[0].Start || len(next) > 0 && bytes.ContainsRune([]byte("]}"), rune(next[0])):
			from -= len(line) - len(bytes.TrimRight(line, " \t"))
		}
		out = slices.Concat(out[:from], out[to:])
	}
	left, err := e.source.Parse(out)
	if err != nil {
		return nil, fmt.Errorf("%s could not be read then; edit it by hand: %w", e.File, err)
	}
	was, err := e.source.Parse(text)
	if err != nil {
		return nil, err
	}
	gone := slices.IndexFunc(was, func(o Entry) bool { return slices.Equal(o.Cuts, e.Cuts) })
	if gone < 0 || !slices.EqualFunc(slices.Delete(was, gone, gone+1), left, func(a, b Entry) bool { return a.Text == b.Text && a.Verdict == b.Verdict }) {
		return nil, fmt.Errorf("%s would say something else, too; edit it by hand", e.File)
	}
	return out, nil
}
