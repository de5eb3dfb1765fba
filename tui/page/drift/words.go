package drift

import (
	"strings"
	"unicode"

	"github.com/mcpdeck/mcpdeck/servers/support/diff"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// maxWords is how many words of a line are compared one by one.
const maxWords = 400

// piece is a word of a line, a sign or the blanks between, and whether the other
// side lacks it.
type piece struct {
	text  string
	lacks bool
}

// pieces splits a line into words, signs and blanks.
func pieces(s string) []piece {
	var out []piece
	kind := func(r rune) int {
		switch {
		case unicode.IsSpace(r):
			return 0
		case r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			return 1
		}
		return 2
	}
	last := -1
	for _, r := range s {
		k := kind(r)
		if k == last && k != 2 {
			out[len(out)-1].text += string(r)
		} else {
			out = append(out, piece{text: string(r)})
		}
		last = k
	}
	return out
}

// wordDiff marks in each of two lines what the other lacks.
func wordDiff(before, after string) (was, is []piece) {
	was, is = pieces(before), pieces(after)
	if len(was) > maxWords || len(is) > maxWords {
		return was, is
	}
	for _, s := range diff.Steps(was, is, func(a, b piece) bool { return a.text == b.text }) {
		switch {
		case s.New < 0:
			was[s.Old].lacks = true
		case s.Old < 0:
			is[s.New].lacks = true
		}
	}
	return was, is
}

// marked draws a line: what the other lacks stands out, also without colour.
func marked(th *theme.Theme, style theme.Style, list []piece) string {
	var b strings.Builder
	for at := 0; at < len(list); {
		end, text := at, ""
		for end < len(list) && list[end].lacks == list[at].lacks {
			text += list[end].text
			end++
		}
		if list[at].lacks {
			b.WriteString(mark(th, style, text))
		} else {
			b.WriteString(th.Muted.Render(text))
		}
		at = end
	}
	return b.String()
}

// mark makes a text strong; the blanks around it stay plain.
func mark(th *theme.Theme, style theme.Style, text string) string {
	core := strings.TrimSpace(text)
	if core == "" {
		return text
	}
	before, after, _ := strings.Cut(text, core)
	return before + th.Strong.Over(style.Render(core)) + after
}

// wrapPieces breaks a line where it is too wide.
func wrapPieces(list []piece, w int) [][]piece {
	var out [][]piece
	var line []piece
	used := 0
	for _, p := range list {
		n := widget.Width(p.text)
		if used+n > w && used > 0 {
			out, line, used = append(out, line), nil, 0
			if strings.TrimSpace(p.text) == "" {
				continue
			}
		}
		for n > w { // a word wider than the line
			cut := []rune(p.text)
			k := max(min(w, len(cut)-1), 1)
			out = append(out, []piece{{string(cut[:k]), p.lacks}})
			p.text = string(cut[k:])
			n = widget.Width(p.text)
		}
		line, used = append(line, p), used+n
	}
	if len(line) > 0 {
		out = append(out, line)
	}
	return out
}
