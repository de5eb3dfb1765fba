package picture

import (
	"image"
	"image/color"
	"math/bits"
)

// NoSnap makes [Fit] keep mean colours.
const NoSnap = -1

// Options control how [Fit] chooses glyphs and colours.
type Options struct {
	// Set is the richest glyph set the terminal draws well.
	Set Set
	// Snap replaces the mean colour of a glyph's part with the part's most common source
	// colour if that covers at least this share of it. Use 0 for pixel art (only source
	// colours appear), 0.75 for screenshots (flat fills and text stay exact), and NoSnap
	// for photos.
	Snap float64
}

// Fit draws img in cols by rows cells. Each cell gets the glyph and the two colours with the
// least squared error for its part of the image; the search is exhaustive. Transparency is
// on or off; see the package comment. An empty image or box yields no cells.
func Fit(img *image.NRGBA, cols, rows int, o Options) Cells {
	b := img.Bounds()
	if cols <= 0 || rows <= 0 || b.Empty() {
		return Cells{}
	}
	f := fitter{
		img: img, cols: cols, rows: rows, set: o.Set, snap: o.Snap,
		glyphs: glyphTable(), out: newCells(cols, rows),
	}
	f.simplify()
	f.lattice = latticeOf(f.set)
	f.holes = !img.Opaque()
	f.samples = boxSamples(img, cols*f.lattice.w, rows*f.lattice.h)
	f.weight = splitWeights(f.lattice.w * f.lattice.h)
	f.centres()
	for y := range rows {
		for x := range cols {
			f.out.Cells[y*cols+x] = f.cell(x, y)
		}
	}
	return f.out
}

// simplify selects the smallest set that is as good as the requested one. No split that
// cuts through a pixel beats the best split between pixels, so pixels that fill half cells
// need only half blocks, and pixels that fill octants need only octants.
func (f *fitter) simplify() {
	b := f.img.Bounds()
	switch {
	case b.Dx() == f.cols && 2*f.rows%b.Dy() == 0:
		f.set = Half
	case f.set == Best && b.Dx() == 2*f.cols && b.Dy() == 4*f.rows:
		f.set = Octant
	}
}

type lattice struct{ w, h int }

func latticeOf(s Set) lattice {
	return [...]lattice{Half: {1, 2}, Block: {8, 8}, Sextant: {2, 6}, Octant: {2, 4}, Best: {8, 24}}[min(s, Best)]
}

// vec is a sum of samples: red, green and blue, in sixteenths.
type vec [3]int32

func (a *vec) add(b *vec) { a[0] += b[0]; a[1] += b[1]; a[2] += b[2] }
func (a *vec) sub(b *vec) { a[0] -= b[0]; a[1] -= b[1]; a[2] -= b[2] }

func (a *vec) square() int64 {
	return int64(a[0])*int64(a[0]) + int64(a[1])*int64(a[1]) + int64(a[2])*int64(a[2])
}

func (a *vec) mean(n int) color.NRGBA {
	d := int32(n) * sampleScale
	return color.NRGBA{uint8((a[0] + d/2) / d), uint8((a[1] + d/2) / d), uint8((a[2] + d/2) / d), 255}
}

// splitWeights returns 1/(n(all-n)) for each n: the weight of the squared difference of a
// split into n and all-n samples.
func splitWeights(all int) []float64 {
	w := make([]float64, all)
	for n := 1; n < all; n++ {
		w[n] = 1 / float64(n*(all-n))
	}
	return w
}

type fitter struct {
	img        *image.NRGBA
	cols, rows int
	set        Set
	snap       float64
	holes      bool
	glyphs     *glyphs
	lattice    lattice
	samples    []vec
	weight     []float64
	out        Cells
	// latticeX and latticeY are the fine lattice column and row under each source pixel's
	// centre; firstX and firstY are the first source pixel of each cell.
	latticeX, latticeY []int
	firstX, firstY     []int

	// Sums for the current cell.
	left, right [latticeRows]vec
	column      [latticeCols]vec
	total       vec
}

// centres maps the source pixels onto the fine lattice.
func (f *fitter) centres() {
	b := f.img.Bounds()
	f.latticeX, f.firstX = centres(b.Dx(), f.cols, latticeCols)
	f.latticeY, f.firstY = centres(b.Dy(), f.rows, latticeRows)
}

func centres(pixels, cells, parts int) (fine, first []int) {
	fine = make([]int, pixels)
	first = make([]int, cells+1)
	cell := 0
	for i := range fine {
		at := (2*i + 1) * cells * parts / (2 * pixels)
		for cell <= at/parts {
			first[cell] = i
			cell++
		}
		fine[i] = at % parts
	}
	for ; cell <= cells; cell++ {
		first[cell] = pixels
	}
	return fine, first
}

// choice is the best split found so far; its glyph paints n samples of the cell. The
// deviation is (their sum - n × the cell's mean) × the number of samples in the cell.
type choice struct {
	glyph     *glyph
	deviation vec
	n         int
	gain      float64
}

func (f *fitter) cell(x, y int) Cell {
	if f.holes {
		if cell, done := f.cellWithHoles(x, y); done {
			return cell
		}
	}
	n := f.lattice.w * f.lattice.h
	if f.sum(x, y) {
		c := f.total.mean(n)
		return Cell{Glyph: ' ', FG: c, BG: c}
	}
	best := choice{gain: -1}
	switch f.set {
	case Half:
		f.try(&best, &f.glyphs.half, f.deviation(&f.left[0], 1), 1)
	case Block:
		f.tryGrid(&best, f.glyphs.quad[:], 2)
		f.tryEighths(&best)
	case Sextant:
		f.tryGrid(&best, f.glyphs.quad[:], 2)
		f.tryGrid(&best, f.glyphs.sextant[:], 3)
	case Octant:
		f.tryGrid(&best, f.glyphs.octant[:], 4)
	default:
		f.tryGrid(&best, f.glyphs.octant[:], 4)
		f.tryGrid(&best, f.glyphs.sextant[:], 3)
		f.tryEighths(&best)
	}
	var a, rest vec
	for i := range a {
		a[i] = (best.deviation[i] + int32(best.n)*f.total[i]) / int32(n)
		rest[i] = f.total[i] - a[i]
	}
	cell := Cell{Glyph: best.glyph.char, FG: a.mean(best.n), BG: rest.mean(n - best.n)}
	if f.snap >= 0 {
		f.snapParts(x, y, best.glyph, &cell)
	}
	if cell.Glyph == 0 {
		cell.Glyph, cell.FG, cell.BG = best.glyph.complement, cell.BG, cell.FG
	}
	if cell.FG == cell.BG {
		cell.Glyph = ' '
	}
	return cell
}

// sum adds up the samples of a cell and reports whether they are all equal.
func (f *fitter) sum(x, y int) (uniform bool) {
	w, h, stride := f.lattice.w, f.lattice.h, f.cols*f.lattice.w
	f.total = vec{}
	uniform = true
	at := y*h*stride + x*w
	first := f.samples[at]
	if w == latticeCols {
		f.column = [latticeCols]vec{}
	}
	for row := range h {
		line := f.samples[at : at+w]
		var l, r vec
		switch w {
		case 1:
			l = line[0]
		case 2:
			l, r = line[0], line[1]
		default:
			for i := range line[:4] {
				l.add(&line[i])
				r.add(&line[i+4])
				f.column[i].add(&line[i])
				f.column[i+4].add(&line[i+4])
			}
		}
		if uniform {
			for i := range line {
				uniform = uniform && line[i] == first
			}
		}
		f.left[row], f.right[row] = l, r
		f.total.add(&l)
		f.total.add(&r)
		at += stride
	}
	return uniform
}

// deviation returns the deviation of a sum of n samples; see [choice].
func (f *fitter) deviation(sum *vec, n int) vec {
	all := int32(f.lattice.w * f.lattice.h)
	return vec{all*sum[0] - int32(n)*f.total[0], all*sum[1] - int32(n)*f.total[1], all*sum[2] - int32(n)*f.total[2]}
}

// try keeps a split if its two means explain more than the best so far. The remaining
// squared error is a constant minus |a|²/n(a) + |b|²/n(b), for sums a and b; the deviation
// expresses the same with a single square.
func (f *fitter) try(best *choice, g *glyph, deviation vec, n int) {
	if gain := float64(deviation.square()) * f.weight[n]; gain > best.gain {
		*best = choice{glyph: g, deviation: deviation, n: n, gain: gain}
	}
}

// tryGrid visits all partitions of 2 by rows parts in Gray-code order, so that each step
// moves one part. The last part is never painted: complements have the same gain.
func (f *fitter) tryGrid(best *choice, table []glyph, rows int) {
	var parts [8]vec
	per := f.lattice.h / rows
	samples := per * max(f.lattice.w/2, 1)
	for i := range rows {
		for row := i * per; row < (i+1)*per; row++ {
			parts[2*i].add(&f.left[row])
			parts[2*i+1].add(&f.right[row])
		}
	}
	for i := range 2 * rows {
		parts[i] = f.deviation(&parts[i], samples)
	}
	var a vec
	n, pattern := 0, 0
	gain, at, atN, atA := best.gain, -1, 0, vec{}
	for step := 1; step < 1<<(2*rows-1); step++ {
		bit := bits.TrailingZeros(uint(step)) & 7
		pattern ^= 1 << bit
		if pattern>>bit&1 != 0 {
			a.add(&parts[bit])
			n += samples
		} else {
			a.sub(&parts[bit])
			n -= samples
		}
		if g := float64(a.square()) * f.weight[n]; g > gain {
			gain, at, atN, atA = g, pattern, n, a
		}
	}
	if at >= 0 {
		*best = choice{glyph: &table[at], deviation: atA, n: atN, gain: gain}
	}
}

func (f *fitter) tryEighths(best *choice) {
	var a vec
	per, w := f.lattice.h/8, f.lattice.w
	for n := 1; n < 8; n++ {
		for row := f.lattice.h - n*per; row < f.lattice.h-(n-1)*per; row++ {
			a.add(&f.left[row])
			a.add(&f.right[row])
		}
		f.try(best, &f.glyphs.lower[n], f.deviation(&a, n*per*w), n*per*w)
	}
	a = vec{}
	for n := 1; n < 8; n++ {
		a.add(&f.column[n-1])
		f.try(best, &f.glyphs.left[n], f.deviation(&a, n*f.lattice.h), n*f.lattice.h)
	}
}
