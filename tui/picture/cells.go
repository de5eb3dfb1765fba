package picture

import (
	"image/color"
	"strconv"
)

// Cell is one character and its two colours. A colour with alpha 0 is the terminal's default.
type Cell struct {
	Glyph  rune
	FG, BG color.NRGBA
}

// Cells is a picture made of characters, in row-major order.
type Cells struct {
	Cols, Rows int
	Cells      []Cell
}

// newCells returns blank cells.
func newCells(cols, rows int) Cells {
	cells := make([]Cell, cols*rows)
	for i := range cells {
		cells[i].Glyph = ' '
	}
	return Cells{Cols: cols, Rows: rows, Cells: cells}
}

// Row returns the cells of row y.
func (c Cells) Row(y int) []Cell { return c.Cells[y*c.Cols : (y+1)*c.Cols] }

// Lines returns one string per row, coloured according to p. Each line starts and ends with
// the terminal's default colours, so it can be placed beside other text. The output is
// deterministic.
func (c Cells) Lines(p Palette) []string {
	lines := make([]string, c.Rows)
	var w rowWriter
	w.palette = p
	w.inverse = glyphTable().inverse
	for y := range lines {
		lines[y] = w.row(c.Row(y))
	}
	return lines
}

type rowWriter struct {
	palette Palette
	inverse map[rune]rune
	buf     []byte
	fg, bg  color.NRGBA // currently set; alpha 0 is the terminal's default
}

func (w *rowWriter) row(cells []Cell) string {
	w.buf = w.buf[:0]
	w.fg, w.bg = color.NRGBA{}, color.NRGBA{}
	for _, cell := range cells {
		w.cell(cell)
	}
	if w.fg.A != 0 || w.bg.A != 0 {
		w.buf = append(w.buf, "\x1b[m"...)
	}
	return string(w.buf)
}

// cell writes one cell, choosing the form that changes the fewest colours.
func (w *rowWriter) cell(c Cell) {
	if c.Glyph == ' ' || c.FG == c.BG {
		if c.BG.A != 0 && c.BG == w.fg && c.BG != w.bg {
			w.buf = append(w.buf, "█"...)
			return
		}
		w.colours(w.fg, c.BG)
		w.buf = append(w.buf, ' ')
		return
	}
	if c.Glyph == '█' {
		w.colours(c.FG, w.bg)
		w.buf = append(w.buf, "█"...)
		return
	}
	if other, ok := w.inverse[c.Glyph]; ok && c.BG.A != 0 {
		if changes(w.fg, c.BG)+changes(w.bg, c.FG) < changes(w.fg, c.FG)+changes(w.bg, c.BG) {
			c = Cell{Glyph: other, FG: c.BG, BG: c.FG}
		}
	}
	w.colours(c.FG, c.BG)
	w.buf = append(w.buf, string(c.Glyph)...)
}

func changes(from, to color.NRGBA) int {
	if from == to {
		return 0
	}
	return 1
}

func (w *rowWriter) colours(fg, bg color.NRGBA) {
	if fg == w.fg && bg == w.bg || w.palette.Depth == NoColor {
		return
	}
	w.buf = append(w.buf, "\x1b["...)
	if fg != w.fg {
		w.buf = w.palette.code(w.buf, fg, false)
	}
	if bg != w.bg {
		if fg != w.fg {
			w.buf = append(w.buf, ';')
		}
		w.buf = w.palette.code(w.buf, bg, true)
	}
	w.buf = append(w.buf, 'm')
	w.fg, w.bg = fg, bg
}

func appendInt(b []byte, n int) []byte { return strconv.AppendInt(b, int64(n), 10) }
