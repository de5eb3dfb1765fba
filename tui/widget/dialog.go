package widget

import "github.com/mcpdeck/mcpdeck/theme"

// Dialog draws rows in a frame on the panel's background, at most maxW × maxH
// cells large and as small as the rows and the title allow. Rows that are too
// many are left out.
func Dialog(th *theme.Theme, title, note string, rows []string, maxW, maxH int) []string {
	w := Width(title) + 8
	if note != "" {
		w += Width(note) + 4
	}
	for _, r := range rows {
		w = max(w, Width(r)+6)
	}
	w = min(w, maxW)
	h := min(len(rows)+2, maxH)
	inner := make([]string, len(rows))
	for i, r := range rows {
		inner[i] = " " + Fit(r, w-6) + " "
	}
	out := box(th, title, note, true, inner, w, h)
	for i := range out {
		out[i] = th.Panel.Over(out[i])
	}
	return out
}

// box draws a frame of w × h cells with a title, and rows inside, which are
// (w-4) × (h-2) cells: one cell of air at each side. With focus the frame is heavy, so that it can be told without
// colour. note stands at the right end of the upper rule. The frame is a
// lipgloss.Border; lipgloss draws no title into its rule and takes 55 times as
// long: 940 µs for a box of 100×40.
func box(th *theme.Theme, title, note string, focus bool, rows []string, w, h int) []string {
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
