package shape

import (
	"math"
	"math/bits"
	"slices"
)

// Points is the listed pixels.
func (a *Arena) Points(pts []Point) Set {
	a.begin()
	for _, p := range pts {
		a.add(p.Y, p.X, p.X+1)
	}
	return a.end()
}

// Line joins the points with one-pixel lines (Bresenham's, with diagonal steps).
// Fewer than two points give nothing.
func (a *Arena) Line(pts []Point) Set {
	a.begin()
	for i := 1; i < len(pts); i++ {
		p, q := pts[i-1], pts[i]
		if !a.spend(min(max(abs(q.X-p.X), abs(q.Y-p.Y)), High-Low)) {
			break
		}
		a.segment(p, q)
	}
	return a.end()
}

// segment draws from p to q, of which only what lies in the window is visited:
// step k of the longer axis lies round(k·short/long) off p on the other, halves up.
func (a *Arena) segment(p, q Point) {
	dx, dy := q.X-p.X, q.Y-p.Y
	long, short := abs(dx), abs(dy)
	tall := short > long
	from, step, other := p.X, sign(dx), sign(dy)
	if tall {
		long, short = short, long
		from, step, other = p.Y, sign(dy), sign(dx)
	}
	var first, last int
	if step > 0 {
		first, last = max(0, Low-from), min(long, High-1-from)
	} else {
		first, last = max(0, from-High+1), min(long, from-Low)
	}
	for k := first; k <= last; k++ {
		off := 0
		if long > 0 {
			off = int(rounded(uint64(k), uint64(short), uint64(long)))
		}
		x, y := p.X+step*k, p.Y+other*off
		if tall {
			x, y = p.X+other*off, p.Y+step*k
		}
		a.add(y, x, x+1)
	}
}

// rounded is k·n/d to the nearest whole number, halves up; k is at most d.
func rounded(k, n, d uint64) uint64 {
	hi, lo := bits.Mul64(2*n, k)
	lo, carry := bits.Add64(lo, d, 0)
	out, _ := bits.Div64(hi+carry, lo, 2*d)
	return out
}

func sign(v int) int {
	if v > 0 {
		return 1
	}
	return -1
}

func abs(v int) int {
	if v < 0 {
		return -v
	}
	return v
}

// Rect is a filled rectangle; round cuts its corners with a quarter circle of that radius.
func (a *Arena) Rect(x, y, w, h, round int) Set {
	a.begin()
	r := max(0, min(round, w/2, h/2))
	for j := max(0, Low-y); j < h && y+j < High; j++ {
		in := 0
		if c := min(j, h-1-j); c < r {
			in = inset(r, c)
		}
		a.add(y+j, x+in, x+w-in)
	}
	return a.end()
}

// inset is how many pixels of row j from the corner lie outside a corner of radius r.
func inset(r, j int) int {
	v := float64(2*r - 2*j - 1)
	d := 2 * float64(r)
	u := math.Sqrt(d*d - v*v) // a pixel is inside while 2r-2in-1 is at most this
	return min(r, max(0, int(math.Ceil((d-1-u)/2))))
}

// Stroke is the outline of a rectangle, growing inwards with its thickness.
func (a *Arena) Stroke(x, y, w, h, thickness, round int) Set {
	if w <= 0 || h <= 0 || thickness <= 0 {
		return nil
	}
	if min(round, w/2, h/2) > 0 {
		full := a.Rect(x, y, w, h, round)
		core := full
		for range min(thickness, w, h) {
			if core = a.Erode(core); len(core) == 0 {
				break
			}
		}
		return a.Subtract(full, core)
	}
	a.begin()
	tx, ty := min(thickness, w), min(thickness, h)
	for j := max(0, Low-y); j < h && y+j < High; j++ {
		if j < ty || j >= h-ty {
			a.add(y+j, x, x+w)
			continue
		}
		a.add(y+j, x, x+tx)
		a.add(y+j, x+w-tx, x+w)
	}
	return a.end()
}

// Ellipse follows the midpoint recurrences of the format, whose second half starts
// off the textbook value: shapes bulge sideways. Of radii beyond MaxCoord, where a
// bulge cannot be seen, the rows in the window are computed one by one.
func (a *Arena) Ellipse(cx, cy, rx, ry int) Set {
	if rx <= 0 || ry <= 0 {
		return nil
	}
	a.begin()
	if rx > MaxCoord || ry > MaxCoord {
		for y := max(Low, cy-ry); y <= min(High-1, cy+ry); y++ {
			d := float64(y-cy) / float64(ry)
			w := int(float64(rx) * math.Sqrt(max(0, 1-d*d)))
			a.add(y, cx-w, cx+w+1)
		}
		return a.end()
	}
	if !a.spend(rx + ry) {
		return nil
	}
	half := a.scratch(ry + 1)
	for i := range half {
		half[i] = -1
	}
	halfWidths(half, int64(rx), int64(ry))
	for d := -ry; d <= ry; d++ {
		if w := int(half[abs(d)]); w >= 0 {
			a.add(cy+d, cx-w, cx+w+1)
		}
	}
	return a.end()
}

// halfWidths fills in how far an ellipse reaches to both sides in the row d above and below its centre.
func halfWidths(half []int32, rx, ry int64) {
	span := func(x, y int64) { half[y] = max(half[y], int32(x)) }
	A, B := rx*rx, ry*ry
	x, y := int64(0), ry
	p := B - A*ry + A/4
	dx, dy := int64(0), 2*A*y
	for dx < dy {
		span(x, y)
		x++
		dx += 2 * B
		if p < 0 {
			p += dx + B
		} else {
			y--
			dy -= 2 * A
			p += dx - dy + B
		}
	}
	p = B*(x+1)*(x+1)/4 + A*(y-1)*(y-1) - A*B
	for y >= 0 {
		span(x, y)
		if p > 0 {
			y--
			dy -= 2 * A
			p += A - dy
		} else {
			x++
			y--
			dx += 2 * B
			dy -= 2 * A
			p += dx - dy + A
		}
	}
}

func (a *Arena) scratch(n int) []int32 {
	if cap(a.ints) < n {
		a.ints = make([]int32, n)
	}
	a.ints = a.ints[:n]
	return a.ints
}

// Polygon fills by the even-odd rule, row by row, both ends of a span included.
// Crossings are truncated from the first vertex of their edge, so the winding
// order shows. Fewer than three vertices give nothing. Coordinates are below 2^30,
// or products overflow.
func (a *Arena) Polygon(pts []Point) Set {
	if len(pts) < 3 {
		return nil
	}
	lo, hi := pts[0].Y, pts[0].Y
	for _, p := range pts {
		lo, hi = min(lo, p.Y), max(hi, p.Y)
	}
	lo, hi = max(lo, Low), min(hi, High-1)
	a.begin()
	if lo <= hi {
		a.crossings(pts, lo, hi)
	}
	for i, p := range pts {
		q := pts[(i+1)%len(pts)]
		if p.Y == q.Y {
			a.add(p.Y, min(p.X, q.X), max(p.X, q.X)+1)
		} else {
			a.add(p.Y, p.X, p.X+1)
		}
	}
	return a.end()
}

// crossings fills the spans between pairs of edge crossings of the rows lo…hi.
func (a *Arena) crossings(pts []Point, lo, hi int) {
	rows := hi - lo + 1
	total := 0
	each := func(f func(y int, p, q Point)) {
		for i, p := range pts {
			q := pts[(i+1)%len(pts)]
			for y := max(min(p.Y, q.Y), lo); y < max(p.Y, q.Y) && y <= hi; y++ {
				f(y, p, q)
			}
		}
	}
	for i, p := range pts {
		q := pts[(i+1)%len(pts)]
		total += max(0, min(max(p.Y, q.Y)-1, hi)-max(min(p.Y, q.Y), lo)+1)
	}
	if !a.spend(total + rows) {
		return
	}
	buf := a.scratch(rows + 1 + total)
	start, xs := buf[:rows+1], buf[rows+1:]
	clear(start)
	each(func(y int, _, _ Point) { start[y-lo+1]++ })
	for i := 1; i <= rows; i++ {
		start[i] += start[i-1]
	}
	// Filling advances start[i] to the start of row i+1.
	each(func(y int, p, q Point) {
		i := y - lo
		xs[start[i]] = int32(p.X + (y-p.Y)*(q.X-p.X)/(q.Y-p.Y))
		start[i]++
	})
	from := int32(0)
	for i := range rows {
		row := xs[from:start[i]]
		from = start[i]
		slices.Sort(row)
		for k := 0; k+1 < len(row); k += 2 {
			a.add(lo+i, int(row[k]), int(row[k+1])+1)
		}
	}
}
