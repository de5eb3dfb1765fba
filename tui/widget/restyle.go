package widget

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// Restyle draws the cells of a row that are in spans anew, as plain text in a style
// of their own. The spans are in order and do not overlap; a wide character that one
// of them cuts belongs to it whole.
func Restyle(row string, spans []Span, style func(text string) string) string {
	if len(spans) == 0 {
		return row
	}
	plain := ansi.Strip(row)
	var b strings.Builder
	x := 0
	for _, s := range spans {
		from, to := wholeCells(plain, s)
		from = max(from, x)
		if from >= to {
			continue
		}
		b.WriteString(ansi.Cut(row, x, from))
		b.WriteString(sgrReset + style(CutCells(plain, Span{from, to})))
		x = to
	}
	b.WriteString(ansi.Cut(row, x, Width(plain)))
	return b.String()
}

const sgrReset = "\x1b[m"

// CutCells is the text of the cells of a plain row that are in a span; a wide
// character that the span cuts belongs to it.
func CutCells(plain string, s Span) string {
	from, to := wholeCells(plain, s)
	return ansi.Cut(plain, from, to)
}

// wholeCells widens a span of a plain row to whole characters and keeps it in the row.
func wholeCells(plain string, s Span) (from, to int) {
	from, to = -1, 0
	x := 0
	for len(plain) > 0 && x < s.To {
		cluster, w := ansi.FirstGraphemeCluster(plain, ansi.GraphemeWidth)
		if x+w > s.From {
			if from < 0 {
				from = x
			}
			to = x + w
		}
		x += w
		plain = plain[len(cluster):]
	}
	return max(from, 0), to
}

// Find is where a text is in the cells of a row. Capitals matter only when it has
// some.
func Find(row, text string) []Span {
	plain := ansi.Strip(row)
	hay := plain
	if strings.IndexFunc(text, unicode.IsUpper) < 0 {
		if low := strings.ToLower(plain); len(low) == len(plain) { // else offsets would lie
			hay = low
		}
	}
	var out []Span
	for at := 0; text != ""; {
		i := strings.Index(hay[at:], text)
		if i < 0 {
			break
		}
		from := Width(plain[:at+i])
		at += i + len(text)
		if to := Width(plain[:at]); to > from {
			out = append(out, Span{from, to})
		}
	}
	return out
}
