package picture

import (
	"image/color"
	"math/bits"
)

// opaqueFrom is the lowest alpha that counts as opaque.
const opaqueFrom = 128

// cellWithHoles draws a cell that has transparent pixels, using the glyph closest to the
// shape of the opaque ones on the terminal's background. It returns false for a fully
// opaque cell.
func (f *fitter) cellWithHoles(x, y int) (Cell, bool) {
	mask, holes, any := f.opaqueMask(x, y)
	if !holes {
		return Cell{}, false
	}
	if !any {
		return Cell{Glyph: ' '}, true
	}
	var best glyph
	distance := latticeCols*latticeRows + 1
	consider := func(char rune, s *shape, flip uint8) {
		d := 0
		for i := range s {
			d += bits.OnesCount8(s[i] ^ flip ^ mask[i])
		}
		if char != 0 && d < distance {
			best, distance = glyph{char: char}, d
			for i := range s {
				best.shape[i] = s[i] ^ flip
			}
		}
	}
	var full shape
	consider('█', &full, 0xFF)
	for _, table := range f.tables() {
		for i := range table {
			g := &table[i]
			consider(g.char, &g.shape, 0)
			if g.char == 0 {
				// The set has no such glyph, and drawing its complement would need a second colour.
				continue
			}
			consider(g.complement, &g.shape, 0xFF)
		}
	}
	return Cell{Glyph: best.char, FG: f.holedColour(x, y, &best)}, true
}

func (f *fitter) tables() [][]glyph {
	half := []glyph{f.glyphs.half}
	eighths := [][]glyph{f.glyphs.lower[1:], f.glyphs.left[1:]}
	switch f.set {
	case Half:
		return [][]glyph{half}
	case Block:
		return append(eighths, f.glyphs.quad[1:15])
	case Sextant:
		return [][]glyph{f.glyphs.quad[1:15], f.glyphs.sextant[1:63]}
	case Octant:
		return [][]glyph{f.glyphs.octant[1:255]}
	default:
		return append(eighths, f.glyphs.octant[1:255], f.glyphs.sextant[1:63])
	}
}

// opaqueMask samples the source's alpha on the fine lattice.
func (f *fitter) opaqueMask(x, y int) (mask shape, holes, any bool) {
	f.eachSample(x, y, func(lx, ly int, p []uint8) {
		if p[3] >= opaqueFrom {
			mask[ly] |= 1 << lx
		}
	})
	for _, row := range mask {
		holes = holes || row != 0xFF
		any = any || row != 0
	}
	return mask, holes, any
}

// eachSample visits the source pixel under each place of a cell's fine lattice.
func (f *fitter) eachSample(x, y int, visit func(lx, ly int, p []uint8)) {
	b := f.img.Bounds()
	for ly := range latticeRows {
		py := (2*(y*latticeRows+ly) + 1) * b.Dy() / (2 * f.rows * latticeRows)
		for lx := range latticeCols {
			px := (2*(x*latticeCols+lx) + 1) * b.Dx() / (2 * f.cols * latticeCols)
			visit(lx, ly, f.img.Pix[py*f.img.Stride+4*px:])
		}
	}
}

// holedColour returns the colour for the opaque part of a cell: the most common one when
// snapping, the mean otherwise.
func (f *fitter) holedColour(x, y int, g *glyph) color.NRGBA {
	var t tally
	var sum vec
	take := func(within bool) {
		f.eachSample(x, y, func(lx, ly int, p []uint8) {
			if p[3] < opaqueFrom || within && g.shape[ly]>>lx&1 == 0 {
				return
			}
			t.add(uint32(p[0]) | uint32(p[1])<<8 | uint32(p[2])<<16)
			sum.add(&vec{int32(p[0]) * sampleScale, int32(p[1]) * sampleScale, int32(p[2]) * sampleScale})
		})
	}
	take(true)
	if t.all == 0 {
		take(false)
	}
	if top, ok := t.top(max(f.snap, 0)); ok && f.snap >= 0 {
		return unpack(top)
	}
	return sum.mean(t.all)
}
