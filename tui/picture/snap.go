package picture

import (
	"encoding/binary"
	"image/color"
)

// snapParts replaces a cell's two colours with source colours where one of them covers
// enough of its part. The cell's colours are still in the order of the glyph's shape.
func (f *fitter) snapParts(x, y int, g *glyph, cell *Cell) {
	fg, okFG, bg, okBG := uint32(0), false, uint32(0), false
	if f.snap >= 0.5 {
		fg, okFG, bg, okBG = f.majority(x, y, g)
	} else {
		fg, okFG, bg, okBG = f.plurality(x, y, g)
	}
	if okFG {
		cell.FG = unpack(fg)
	}
	if okBG {
		cell.BG = unpack(bg)
	}
}

func unpack(p uint32) color.NRGBA {
	return color.NRGBA{uint8(p), uint8(p >> 8), uint8(p >> 16), 255}
}

// majority finds the only colour that can cover more than half of a part, by pairing off
// unequal pixels. It counts that colour only if the pairing does not settle its share.
func (f *fitter) majority(x, y int, g *glyph) (fg uint32, okFG bool, bg uint32, okBG bool) {
	var candidate [2]uint32
	var votes, all, hits [2]int
	x0, x1 := f.firstX[x], f.firstX[x+1]
	for py := f.firstY[y]; py < f.firstY[y+1]; py++ {
		bits := g.shape[f.latticeY[py]]
		line := f.img.Pix[py*f.img.Stride+4*x0 : py*f.img.Stride+4*x1]
		for i, at := range f.latticeX[x0:x1] { // eachPixel, inlined for speed
			p := binary.LittleEndian.Uint32(line[4*i:])
			if p>>24 < opaqueFrom {
				continue
			}
			p |= 0xFF000000
			part := bits >> at & 1
			all[part]++
			switch {
			case candidate[part] == p:
				votes[part]++
			case votes[part] == 0:
				candidate[part], votes[part] = p, 1
			default:
				votes[part]--
			}
		}
	}
	open := false
	var need [2]float64
	for part := range all {
		need[part] = f.snap * float64(all[part])
		hits[part] = votes[part] // a lower bound; at most half of the other pixels more
		most := float64(votes[part]) + float64(all[part]-votes[part])/2
		open = open || float64(votes[part]) < need[part] && most >= need[part]
	}
	if open {
		hits = [2]int{}
		f.eachPixel(x, y, g, func(part int, p uint32) {
			if p == candidate[part] {
				hits[part]++
			}
		})
	}
	enough := func(part int) bool { return all[part] > 0 && float64(hits[part]) >= need[part] }
	return candidate[1], enough(1), candidate[0], enough(0)
}

// pluralityColours is the maximum number of colours counted in one part.
const pluralityColours = 64

type tally struct {
	colour [pluralityColours]uint32
	count  [pluralityColours]int
	n, all int
}

func (t *tally) add(p uint32) {
	t.all++
	for i := range t.n {
		if t.colour[i] == p {
			t.count[i]++
			return
		}
	}
	if t.n < pluralityColours {
		t.colour[t.n], t.count[t.n] = p, 1
		t.n++
	}
}

// top returns the most common colour; on a tie, the one seen first.
func (t *tally) top(share float64) (uint32, bool) {
	best := 0
	for i := 1; i < t.n; i++ {
		if t.count[i] > t.count[best] {
			best = i
		}
	}
	return t.colour[best], t.n > 0 && float64(t.count[best]) >= share*float64(t.all)
}

func (f *fitter) plurality(x, y int, g *glyph) (fg uint32, okFG bool, bg uint32, okBG bool) {
	var parts [2]tally
	f.eachPixel(x, y, g, func(part int, p uint32) { parts[part].add(p) })
	fg, okFG = parts[1].top(f.snap)
	bg, okBG = parts[0].top(f.snap)
	return fg, okFG, bg, okBG
}

// eachPixel calls visit for each source pixel of a cell, with the part it is in: 1 where the
// glyph paints, 0 elsewhere. Transparent pixels are skipped.
func (f *fitter) eachPixel(x, y int, g *glyph, visit func(part int, pixel uint32)) {
	x0, x1 := f.firstX[x], f.firstX[x+1]
	for py := f.firstY[y]; py < f.firstY[y+1]; py++ {
		bits := g.shape[f.latticeY[py]]
		line := f.img.Pix[py*f.img.Stride+4*x0 : py*f.img.Stride+4*x1]
		for i, at := range f.latticeX[x0:x1] {
			p := binary.LittleEndian.Uint32(line[4*i:])
			if p>>24 < opaqueFrom {
				continue
			}
			visit(int(bits>>at&1), p|0xFF000000)
		}
	}
}
