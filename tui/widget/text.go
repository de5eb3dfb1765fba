package widget

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/theme"
)

// Width is how many cells s takes on the screen; escape sequences take none. It
// measures as lipgloss.Width does, in clusters, and knows most rows at a glance.
func Width(s string) int {
	n := 0
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == 0x1b && i+1 < len(s) && s[i+1] == '[':
			j := i + 2
			for j < len(s) && (s[j] < 0x40 || s[j] > 0x7e) {
				j++
			}
			i = j + 1
		case c >= 0x20 && c < 0x7f:
			n++
			i++
		case c >= 0x80:
			r, w := utf8.DecodeRuneInString(s[i:])
			if !narrow(r) {
				return ansi.StringWidth(s)
			}
			n++
			i += w
		default:
			return ansi.StringWidth(s)
		}
	}
	return n
}

// narrow tells of the non-ASCII characters that the screen is full of that they
// take one cell. Rows are measured thousands of times a second.
func narrow(r rune) bool {
	switch {
	case r >= 0x2500 && r < 0x25fd, r >= 0x2190 && r < 0x2300, r >= 0x2800 && r < 0x2900: // among them − ≈ ≥ and the spinner
		return true
	case r >= 0xc0 && r < 0x250, r == 0xb7, r == 0x2026, r == 0x2713, r == 0x2717:
		return true
	}
	return r >= 0x2013 && r <= 0x201e || r == 0x203a || r == 0xfdd0 // tui.Spin
}

// PadLeft is Fit with the spaces before s.
func PadLeft(s string, w int) string {
	if n := Width(s); n < w {
		return blank(w-n) + s
	}
	return Fit(s, w)
}

// Fit returns s as exactly w cells: cut with … or filled with spaces.
func Fit(s string, w int) string {
	if w <= 0 {
		return ""
	}
	n := Width(s)
	switch {
	case n < w:
		return s + blank(w-n)
	case n == w:
		return s
	}
	out := ansi.Truncate(s, w, "…")
	if n = Width(out); n < w { // a wide character did not fit
		out += blank(w - n)
	}
	return out
}

// Cut is Fit without the filling.
func Cut(s string, w int) string {
	if w <= 0 {
		return ""
	}
	if Width(s) <= w {
		return s
	}
	return ansi.Truncate(s, w, "…")
}

// CutLeft keeps the end of s, as one wants of a path.
func CutLeft(s string, w int) string {
	n := Width(s)
	if n <= w {
		return s
	}
	if w <= 1 {
		return Cut(s, w)
	}
	return ansi.TruncateLeft(s, n-w+1, "…")
}

const blanks = "                                                                                                                                "

func blank(n int) string {
	if n <= 0 {
		return ""
	}
	if n <= len(blanks) {
		return blanks[:n]
	}
	return strings.Repeat(" ", n)
}

// Blank is an empty row of w cells.
func Blank(w int) string { return blank(w) }

// Ends returns a row of w cells with left at its left and right at its right
// end. Where both do not fit, left is cut; right goes when fewer than a third of
// the cells would be left.
func Ends(left, right string, w int) string {
	r := Width(right)
	if r == 0 || r > w-w/3 {
		return Fit(left, w)
	}
	return Fit(left, w-r-1) + " " + right
}

// Wrap breaks text into lines of at most w cells, at spaces where it can, and
// keeps its own line breaks. Leading spaces of a line are kept.
func Wrap(s string, w int) []string {
	if w <= 0 {
		return nil
	}
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		if Width(line) <= w {
			out = append(out, line)
			continue
		}
		for row := range strings.SplitSeq(ansi.Wrap(line, w, ""), "\n") {
			out = append(out, hard(row, w)...) // Wrap lets a hyphen stand beyond the end
		}
	}
	return out
}

// Rows returns exactly h rows of exactly w cells: rows that are too many are
// left out, missing ones are empty.
func Rows(rows []string, w, h int) []string {
	if h <= 0 {
		return nil
	}
	out := make([]string, h)
	for i := range out {
		if i < len(rows) {
			out[i] = Fit(rows[i], w)
		} else {
			out[i] = blank(w)
		}
	}
	return out
}

// Repeat is glyph, one cell wide, n times.
func Repeat(glyph string, n int) string {
	if n <= 0 {
		return ""
	}
	return strings.Repeat(glyph, n)
}

// Paragraph is text in rows of at most w cells, each behind lead and in a style.
func Paragraph(style theme.Style, lead, text string, w int) []string {
	rows := Wrap(text, w)
	for i, row := range rows {
		rows[i] = lead + style.Render(row)
	}
	return rows
}
