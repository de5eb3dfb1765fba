package picture

import (
	"image"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// stripped is shared by the protocols that paint pictures over the cells. A picture is sent
// as one strip per text row, so that a row can be repainted on its own.
type stripped struct{ silent }

// keep stores a picture as strips, over cells that show whether anything covers them.
func (stripped) keep(d *drawing, strips []string, img *image.NRGBA, s Spec) {
	d.strips, d.holes = strips, !img.Opaque()
	for range s.Rows {
		d.lines = append(d.lines, strings.Repeat(hold, s.Cols))
	}
}

// place finds the rows of a picture that the coming frame may erase or whose content
// changed. It leaves out rows that something covers, because a strip would paint over it.
func (stripped) place(g *Gallery, s *slot, rows []string) {
	n := len(s.shown.strips)
	switch {
	case s.placedAt != s.at || len(s.drawn) != n:
		s.sent, s.placedAt, s.drawn, s.due = s.shown, s.at, make([]bool, n), make([]bool, n)
		s.clear = nil
	case s.sent != s.shown: // the next frame of an animation: send only the strips that differ
		for i := range n {
			s.drawn[i] = s.drawn[i] && s.sent.strips[i] == s.shown.strips[i]
		}
		s.sent = s.shown
	}
	want := strings.Repeat(hold, s.at.Cols)
	fresh := s.clear == nil
	if fresh {
		s.clear = make([]bool, n)
	}
	for i := range n {
		y := s.at.Y + i
		if y < 0 || y >= len(rows)-1 { // a strip on the last row could scroll the screen
			continue
		}
		changed := y >= len(g.last) || g.last[y] != rows[y]
		if !changed && s.drawn[i] {
			continue
		}
		if changed || fresh {
			s.clear[i] = ansi.Strip(ansi.Cut(rows[y], s.at.X, s.at.X+s.at.Cols)) == want
		}
		s.drawn[i], s.due[i] = s.clear[i], s.clear[i]
	}
}

// rowOf returns the pixels of one text row of a picture, sharing its memory.
func rowOf(img *image.NRGBA, row, height int) *image.NRGBA {
	r := image.Rect(0, row*height, img.Bounds().Dx(), (row+1)*height).Intersect(img.Bounds())
	part := img.SubImage(r).(*image.NRGBA)
	return &image.NRGBA{Pix: part.Pix, Stride: part.Stride, Rect: image.Rect(0, 0, r.Dx(), r.Dy())}
}
