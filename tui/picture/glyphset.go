package picture

import "image"

// The modes that use glyph sets.
const (
	ModeHalf    Mode = "half"
	ModeBlock   Mode = "block"
	ModeSextant Mode = "sextant"
	ModeOctant  Mode = "octant"
	ModeBest    Mode = "best"
)

// glyphSet shows a picture with characters that paint parts of their cells.
type glyphSet struct{ set Set }

func modeOf(s Set) Mode { return Mode(s.String()) }

// Set returns the glyph set of a cell mode, and whether m is one.
func (m Mode) Set() (Set, bool) {
	w, ok := wayOf(m).(glyphSet)
	return w.set, ok && w.mode() == m
}

func (w glyphSet) mode() Mode { return modeOf(w.set) }

// unit is a half cell, which is about square.
func (glyphSet) unit(int, int) (w, h int) { return 1, 2 }

func (w glyphSet) draw(d *drawing, img *image.NRGBA, s Spec, c Caps) {
	d.lines = w.cells(img, s.Cols, s.Rows, c.Depth, s.Smooth)
}

func (w glyphSet) print(img *image.NRGBA, r Room, t Target) string {
	frame, cols, rows := frameFor(img, r, t)
	return joined(w.cells(frame, cols, rows, t.Depth, t.Smooth))
}

func (w glyphSet) cells(img *image.NRGBA, cols, rows int, depth Depth, smooth bool) []string {
	o := Options{Set: w.set}
	if smooth {
		o.Snap = 0.75
		if depth == Colors256 || depth == Colors16 {
			img, o.Set = dither(Shrink(img, cols, 2*rows), depth), Half
		}
	}
	cells := Fit(img, cols, rows, o)
	return cells.Lines(newPalette(depth, cells))
}
