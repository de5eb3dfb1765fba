package widget

import (
	"strconv"

	"github.com/mcpdeck/mcpdeck/theme"
)

// Tabs draws labels in one row of w cells, the active one marked, and a window
// around it with ‹ › when they do not fit. at tells for each label where it
// begins, -1 when it is not on the row.
func Tabs(th *theme.Theme, labels []string, active, w int) (row string, at []int) {
	at = make([]int, len(labels))
	for i := range at {
		at[i] = -1
	}
	if active < 0 || active >= len(labels) {
		return blank(w), at
	}
	width := func(i int) int { return Width(labels[i]) + 3 }
	from, to, n := active, active+1, width(active)
	for { // grow to both sides while there is room for the arrows
		grown := false
		if to < len(labels) && n+width(to)+4 <= w {
			n += width(to)
			to++
			grown = true
		}
		if from > 0 && n+width(from-1)+4 <= w {
			from--
			n += width(from)
			grown = true
		}
		if !grown {
			break
		}
	}
	left, right := "‹ ", " ›"
	if th.Glyph.ASCII {
		left, right = "< ", " >"
	}
	if from > 0 {
		row = th.Muted.Render(left)
	}
	for i := from; i < to; i++ {
		at[i] = Width(row)
		if i == active {
			row += th.Accent.Render("[" + labels[i] + "]")
		} else {
			row += " " + th.Muted.Render(labels[i]) + " "
		}
		row += " "
	}
	if to < len(labels) {
		row += th.Muted.Render(right)
	}
	return Fit(row, w), at
}

// Progress draws a bar of w cells with the percentage behind it; done is from 0
// to 1.
func Progress(th *theme.Theme, done float64, w int) string {
	done = min(max(done, 0), 1)
	label := strconv.Itoa(int(done*100)) + " %"
	n := w - 6
	if n < 4 {
		return Fit(label, w)
	}
	full := int(done*float64(n) + 0.5)
	bar := th.Info.Render(Repeat(th.Glyph.Bar, full)) + th.Border.Render(Repeat(th.Glyph.BarRest, n-full))
	return bar + blank(6-Width(label)) + label
}

// DiffKind is what a line of a diff is.
type DiffKind byte

// The kinds of lines of a diff, as diff marks them.
const (
	Same    DiffKind = ' '
	Added   DiffKind = '+'
	Removed DiffKind = '-'
)

// DiffLine is a line of a diff with its numbers, 0 where it has none.
type DiffLine struct {
	Kind     DiffKind
	Old, New int
	Text     string
}

// Diff draws lines with a gutter of numbers and the mark, so that they can be
// told without colour, in rows of w cells.
func Diff(th *theme.Theme, lines []DiffLine, w int) []string {
	most := 1
	for _, l := range lines {
		most = max(most, l.Old, l.New)
	}
	digits := len(strconv.Itoa(most))
	number := func(n int) string {
		if n == 0 {
			return blank(digits)
		}
		s := strconv.Itoa(n)
		return blank(digits-len(s)) + s
	}
	out := make([]string, 0, len(lines))
	for _, l := range lines {
		style := th.Muted
		switch l.Kind {
		case Added:
			style = th.Added
		case Removed:
			style = th.Removed
		}
		gutter := th.Faint.Render(number(l.Old) + " " + number(l.New) + " ")
		out = append(out, Fit(gutter+style.Render(string(l.Kind)+" "+l.Text), w))
	}
	return out
}
