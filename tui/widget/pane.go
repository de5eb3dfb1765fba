package widget

import (
	"strings"

	"github.com/mcpdeck/mcpdeck/theme"
)

// Pane draws a part of a page in w × h cells: a heading, and below it rows, which are
// (w-2) × (h-1) cells with one of air at each side.
func Pane(th *theme.Theme, title, note string, focus bool, rows []string, w, h int) []string {
	if w < 4 || h < 2 {
		return Rows(rows, w, h)
	}
	out := make([]string, 0, h)
	out = append(out, Heading(th, title, note, focus, w))
	for i := range h - 1 {
		row := blank(w - 2)
		if i < len(rows) {
			row = Fit(rows[i], w-2)
		}
		out = append(out, " "+row+" ")
	}
	return out
}

// Heading is the rule above a pane of w cells, from end to end. With focus it is heavy, so
// that it can be told without colour. note stands near its right end.
func Heading(th *theme.Theme, title, note string, focus bool, w int) string {
	row, end := paneRule(th, title, note, focus, w)
	return row + end
}

func paneRule(th *theme.Theme, title, note string, focus bool, w int) (row, end string) {
	line, name, glyph := th.Border, th.Title, th.Glyph.Frame.Top
	if focus {
		line, name, glyph = th.Focus, th.Accent, th.Glyph.Focus.Top
	}
	end = line.Render(glyph)
	return end + Rule(line, name, glyph, title, note, w-2), end
}

// Panes joins panes from left to right, with a line between any two. All must have the same
// number of rows, each of its pane's width.
func Panes(th *theme.Theme, panes ...[]string) []string {
	var out []string
	line := th.Border.Render(th.Glyph.Frame.Left)
	for i := range panes[0] {
		row := make([]string, len(panes))
		for n, pane := range panes {
			row[n] = pane[i]
		}
		out = append(out, strings.Join(row, line))
	}
	return out
}

// Section is a title with a rule behind it and a note at its end, w cells wide.
func Section(th *theme.Theme, title, note string, w int) string {
	n := Width(title) + 1
	if note != "" {
		n += Width(note) + 1
	}
	if w < n+1 {
		return Fit(th.Title.Render(title), w)
	}
	row := th.Title.Render(title) + " " + th.Border.Render(Repeat(th.Glyph.Frame.Top, w-n))
	if note != "" {
		row += " " + note
	}
	return row
}

// Rule is a horizontal rule of w cells with a title in it and a note near its
// right end.
func Rule(line, name theme.Style, glyph, title, note string, w int) string {
	if w <= 0 {
		return ""
	}
	if title != "" {
		title = " " + Cut(title, w-2) + " "
	}
	n := Width(note)
	if n > 0 && Width(title)+n+4 <= w {
		note = " " + note + " "
		n += 2
	} else {
		note, n = "", 0
	}
	fill := w - Width(title) - n
	if fill < 0 {
		return Fit(name.Render(title), w)
	}
	return name.Render(title) + line.Render(Repeat(glyph, fill)) + note
}
