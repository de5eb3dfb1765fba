// Package shape rasterises the shapes of regions into sets of pixels and does the
// set arithmetic. Sets may reach beyond the canvas; they are cut at a fixed window
// around it, and one Arena carries the memory and the budget of a whole sprite.
package shape

import (
	"cmp"
	"slices"
)

// The window every set is cut at, on both axes. It is wide enough for the largest
// canvas with as much around it, so that what lies off the canvas can still be
// shifted or mirrored back in.
const (
	Low  = -4096
	High = 8192
)

// MaxCoord is the largest coordinate and radius that lines, polygons and ellipses take.
const MaxCoord = 32767

// Point is one pixel.
type Point struct{ X, Y int }

// Run is a row of pixels: X0 inclusive, X1 exclusive.
type Run struct{ Y, X0, X1 int32 }

// Set is a set of pixels as runs, sorted by row and column, that neither overlap nor touch.
// Sets of an Arena are valid until its Reset and are never written to.
type Set []Run

// Box is a bounding box, inclusive at both ends.
type Box struct{ X0, Y0, X1, Y1 int }

// Bounds gives the bounding box; ok is false for an empty set.
func (s Set) Bounds() (b Box, ok bool) {
	if len(s) == 0 {
		return Box{}, false
	}
	lo, hi := s[0].X0, s[0].X1
	for _, r := range s {
		lo, hi = min(lo, r.X0), max(hi, r.X1)
	}
	return Box{int(lo), int(s[0].Y), int(hi) - 1, int(s[len(s)-1].Y)}, true
}

// Count is the number of pixels.
func (s Set) Count() int {
	n := 0
	for _, r := range s {
		n += int(r.X1 - r.X0)
	}
	return n
}

// Has reports whether a pixel belongs to the set.
func (s Set) Has(x, y int) bool {
	i := s.after(int32(x), int32(y))
	return i > 0 && s[i-1].Y == int32(y) && s[i-1].X1 > int32(x)
}

// after finds the first run that starts behind (x, y).
func (s Set) after(x, y int32) int {
	lo, hi := 0, len(s)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if s[m].Y < y || (s[m].Y == y && s[m].X0 <= x) {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// Inside counts the pixels on a canvas of w by h.
func (s Set) Inside(w, h int) int {
	n := 0
	for _, r := range s {
		if r.Y >= 0 && r.Y < int32(h) {
			n += int(max(0, min(r.X1, int32(w))-max(r.X0, 0)))
		}
	}
	return n
}

// Arena makes sets. Its zero value has no budget; use NewArena. An Arena serves one goroutine.
type Arena struct {
	// Left is the remaining budget: runs, pixels and steps of work. When it is
	// used up, shapes come out incomplete and Exceeded is true.
	Left     int
	slab     []Run
	tmp      []Run
	ints     []int32
	sorted   bool
	Exceeded bool
	// Stop is asked now and then whether to give up, as if the budget were used up;
	// nil: never.
	Stop  func() bool
	since int // spent since it was asked
}

// NewArena makes an arena with a budget.
func NewArena(budget int) *Arena { return &Arena{Left: budget} }

// Reset forgets every set made so far and gives a new budget.
func (a *Arena) Reset(budget int) {
	a.Left, a.Exceeded = budget, false
	a.slab = a.slab[:0]
	if cap(a.tmp) > 1<<16 {
		a.tmp = nil
	}
	if cap(a.slab) > 1<<16 {
		a.slab = nil
	}
}

// spend takes n from the budget; false when it does not suffice.
func (a *Arena) spend(n int) bool {
	if n < 0 || a.Left < n {
		a.Left, a.Exceeded = 0, true
		return false
	}
	a.Left -= n
	const often = 1 << 14
	if a.since += n + 1; a.Stop != nil && a.since >= often {
		if a.since = 0; a.Stop() {
			a.Left, a.Exceeded = 0, true
			return false
		}
	}
	return true
}

func (a *Arena) begin() { a.tmp, a.sorted = a.tmp[:0], true }

// add appends the pixels x0 ≤ x < x1 of row y to the set under construction.
func (a *Arena) add(y, x0, x1 int) {
	if y < Low || y >= High || x1 <= Low || x0 >= High || x0 >= x1 {
		return
	}
	r := Run{int32(y), int32(max(x0, Low)), int32(min(x1, High))}
	n := len(a.tmp)
	if n > 0 {
		last := &a.tmp[n-1]
		if last.Y == r.Y && r.X0 >= last.X0 && r.X0 <= last.X1 {
			last.X1 = max(last.X1, r.X1)
			return
		}
		if r.Y < last.Y || (r.Y == last.Y && r.X0 < last.X0) {
			a.sorted = false
		}
	}
	if a.Left <= 0 {
		a.Exceeded = true
		return
	}
	a.Left--
	a.tmp = append(a.tmp, r)
}

func compareRuns(a, b Run) int {
	if a.Y != b.Y {
		return cmp.Compare(a.Y, b.Y)
	}
	return cmp.Compare(a.X0, b.X0)
}

// end sorts and joins what was added and moves it into the slab.
func (a *Arena) end() Set {
	if !a.sorted {
		slices.SortFunc(a.tmp, compareRuns)
		out := a.tmp[:1]
		for _, r := range a.tmp[1:] {
			last := &out[len(out)-1]
			if r.Y == last.Y && r.X0 <= last.X1 {
				last.X1 = max(last.X1, r.X1)
			} else {
				out = append(out, r)
			}
		}
		a.tmp = out
	}
	return a.keep(a.tmp)
}

func (a *Arena) keep(runs []Run) Set {
	if len(runs) == 0 {
		return nil
	}
	if cap(a.slab)-len(a.slab) < len(runs) {
		a.slab = make([]Run, 0, max(1024, min(2*cap(a.slab), 1<<16), len(runs)))
	}
	at := len(a.slab)
	a.slab = append(a.slab, runs...)
	return Set(a.slab[at:len(a.slab):len(a.slab)])
}

// Union joins any number of sets.
func (a *Arena) Union(sets ...Set) Set {
	if len(sets) == 1 {
		return sets[0]
	}
	a.begin()
	for _, s := range sets {
		for _, r := range s {
			a.add(int(r.Y), int(r.X0), int(r.X1))
		}
	}
	return a.end()
}

// Subtract removes b from s.
func (a *Arena) Subtract(s, b Set) Set {
	if len(s) == 0 || len(b) == 0 {
		return s
	}
	a.begin()
	j := 0
	for _, r := range s {
		for j < len(b) && (b[j].Y < r.Y || (b[j].Y == r.Y && b[j].X1 <= r.X0)) {
			j++
		}
		x := r.X0
		for k := j; k < len(b) && b[k].Y == r.Y && b[k].X0 < r.X1; k++ {
			a.add(int(r.Y), int(x), int(b[k].X0))
			x = b[k].X1
		}
		a.add(int(r.Y), int(x), int(r.X1))
	}
	return a.end()
}

// Intersect keeps what is in both.
func (a *Arena) Intersect(s, b Set) Set {
	a.begin()
	for i, j := 0, 0; i < len(s) && j < len(b); {
		p, q := s[i], b[j]
		if p.Y == q.Y {
			a.add(int(p.Y), int(max(p.X0, q.X0)), int(min(p.X1, q.X1)))
		}
		if p.Y < q.Y || (p.Y == q.Y && p.X1 <= q.X1) {
			i++
		} else {
			j++
		}
	}
	return a.end()
}

// Translate moves a set.
func (a *Arena) Translate(s Set, dx, dy int) Set {
	if dx == 0 && dy == 0 {
		return s
	}
	a.begin()
	for _, r := range s {
		a.add(int(r.Y)+dy, int(r.X0)+dx, int(r.X1)+dx)
	}
	return a.end()
}

// Limit keeps the columns x0…x1 and the rows y0…y1, both inclusive.
func (a *Arena) Limit(s Set, b Box) Set {
	a.begin()
	for _, r := range s {
		if y := int(r.Y); y >= b.Y0 && y <= b.Y1 {
			a.add(y, max(int(r.X0), b.X0), min(int(r.X1), b.X1+1))
		}
	}
	return a.end()
}

// Flip mirrors a set: x becomes sx-x if sx is given, y becomes sy-y if sy is given.
func (a *Arena) Flip(s Set, sx, sy *int) Set {
	a.begin()
	for _, r := range s {
		y, x0, x1 := int(r.Y), int(r.X0), int(r.X1)
		if sx != nil {
			x0, x1 = *sx-x1+1, *sx-x0+1
		}
		if sy != nil {
			y = *sy - y
		}
		a.add(y, x0, x1)
	}
	return a.end()
}
