package widget

import "github.com/mcpdeck/mcpdeck/theme"

// Box draws a frame of w × h cells with a title, and rows inside, which are
// (w-4) × (h-2) cells: one cell of air at each side. With focus the frame is heavy, so that it can be told without
// colour. note stands at the right end of the upper rule. The frame is a
// lipgloss.Border; lipgloss draws no title into its rule and takes 55 times as
// long: 940 µs for a box of 100×40.
func Box(th *theme.Theme, title, note string, focus bool, rows []string, w, h int) []string {
	if w < 4 || h < 2 {
		return Rows(rows, w, h)
	}
	b, line, name := th.Glyph.Frame, th.Border, th.Title
	if focus {
		b, line, name = th.Glyph.Focus, th.Focus, th.Accent
	}
	out := make([]string, 0, h)
	out = append(out, line.Render(b.TopLeft+b.Top)+Rule(line, name, b.Top, title, note, w-4)+line.Render(b.Top+b.TopRight))
	left, right := line.Render(b.Left)+" ", " "+line.Render(b.Right)
	for i := range h - 2 {
		row := blank(w - 4)
		if i < len(rows) {
			row = Fit(rows[i], w-4)
		}
		out = append(out, left+row+right)
	}
	return append(out, line.Render(b.BottomLeft+Repeat(b.Bottom, w-2)+b.BottomRight))
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
