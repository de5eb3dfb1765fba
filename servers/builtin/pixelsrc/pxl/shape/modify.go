package shape

import "math"

// Erode removes every pixel that lacks one of its four neighbours.
func (a *Arena) Erode(s Set) Set {
	a.begin()
	for _, r := range s {
		a.add(int(r.Y), int(r.X0)+1, int(r.X1)-1)
	}
	thin := a.end()
	thin = a.Intersect(thin, a.Translate(s, 0, 1))
	return a.Intersect(thin, a.Translate(s, 0, -1))
}

// Spread replaces every pixel by the rectangle of the box around it: (-1,-1,1,1) adds all eight neighbours.
// The box holds its origin.
func (a *Arena) Spread(s Set, b Box) Set {
	a.begin()
	for _, r := range s {
		a.add(int(r.Y), int(r.X0)+b.X0, int(r.X1)+b.X1)
	}
	wide := a.end()
	// Up and down apart: what leaves the window on one side is never needed on the other.
	return a.Union(a.stack(wide, b.Y1, 1), a.stack(wide, -b.Y0, -1))
}

// stack adds n copies of a set below one another, or above with the sign -1.
func (a *Arena) stack(s Set, n, sign int) Set {
	// Doubling: after each step s covers `have` rows of the n+1 wanted.
	for have := 1; have < n+1 && len(s) > 0 && !a.Exceeded; {
		step := min(have, n+1-have)
		s = a.Union(s, a.Translate(s, 0, sign*step))
		have += step
	}
	return s
}

// Thicken turns every pixel into a square of t pixels that lies around it.
func (a *Arena) Thicken(s Set, t int) Set {
	if t <= 1 {
		return s
	}
	t = min(t, High-Low)
	o := -((t - 1) / 2)
	return a.Spread(s, Box{o, o, o + t - 1, o + t - 1})
}

// Outline is the pixels outside s within the Chebyshev distance t of it.
func (a *Arena) Outline(s Set, t int) Set {
	t = min(t, High-Low)
	return a.Subtract(a.Spread(s, Box{-t, -t, t, t}), s)
}

// Grid is what Repeat needs: how many copies, the gaps between them, and whether
// odd rows shift right by half a pitch.
type Grid struct {
	NX, NY         int
	GapX, GapY     int
	Alternate      bool
	Width, Height  int // of the canvas; copies wholly off it are left out
	pitchX, pitchY int
}

// Repeat lays out copies of a set in a grid.
func (a *Arena) Repeat(s Set, g Grid) Set {
	b, ok := s.Bounds()
	if !ok || g.NX <= 0 || g.NY <= 0 {
		return nil
	}
	g.pitchX = max(1, b.X1-b.X0+1+g.GapX)
	g.pitchY = max(1, b.Y1-b.Y0+1+g.GapY)
	j0, j1 := visible(b.Y0, b.Y1, g.pitchY, g.NY, g.Height)
	var rows []Set
	for j := j0; j <= j1; j++ {
		dx := 0
		if g.Alternate && j%2 == 1 {
			dx = g.pitchX / 2
		}
		i0, i1 := visible(b.X0+dx, b.X1+dx, g.pitchX, g.NX, g.Width)
		for i := i0; i <= i1 && !a.Exceeded; i++ {
			rows = append(rows, a.Translate(s, i*g.pitchX+dx, j*g.pitchY))
		}
	}
	return a.Union(rows...)
}

// visible gives the first and last copy of lo…hi that touches 0…size-1.
func visible(lo, hi, pitch, count, size int) (first, last int) {
	if hi < 0 {
		first = (-hi + pitch - 1) / pitch
	}
	if lo >= size {
		return 0, -1
	}
	return first, min(count-1, (size-1-lo)/pitch)
}

// Range is an inclusive range of displacements.
type Range struct{ Min, Max int }

// Jitter moves every pixel by a displacement drawn from the ranges: the state of a
// linear congruential generator starts at seed + x + y; x is drawn first, then y.
// Pixels that cannot reach the canvas of w by h are left out.
func (a *Arena) Jitter(s Set, dx, dy Range, seed uint64, w, h int) Set {
	a.begin()
	for _, r := range s {
		y := int(r.Y)
		if y+dy.Max < 0 || y+dy.Min >= h {
			continue
		}
		x0, x1 := max(int(r.X0), -dx.Max), min(int(r.X1), w-dx.Min)
		if !a.spend(max(0, x1-x0)) {
			break
		}
		for x := x0; x < x1; x++ {
			st := seed + uint64(int64(x)) + uint64(int64(y))
			mx, st := draw(st, dx)
			my, _ := draw(st, dy)
			a.add(y+my, x+mx, x+mx+1)
		}
	}
	return a.end()
}

func draw(state uint64, r Range) (int, uint64) {
	state = state*1103515245 + 12345
	v := int(state % (1 << 31))
	return r.Min + v%(r.Max-r.Min+1), state
}

// Noise draws a value in 0 ≤ v < 1 for a pixel from the generator of Jitter.
func Noise(x, y int, seed uint64) float64 {
	state := (seed+uint64(int64(x))+uint64(int64(y)))*1103515245 + 12345
	return float64(state%(1<<31)) / (1 << 31)
}

// Scale stretches a set about (0,0). Whole factors turn pixels into blocks; other
// factors look up the source pixel under every target centre. A negative factor mirrors.
func (a *Arena) Scale(s Set, fx, fy float64) Set {
	zero := 0
	if fx < 0 {
		s, fx = a.Flip(s, &zero, nil), -fx
	}
	if fy < 0 {
		s, fy = a.Flip(s, nil, &zero), -fy
	}
	if !(fx > 0) || !(fy > 0) || fx > High || fy > High {
		return nil
	}
	// Column X of the target shows column floor((X+½)/f) of the source, so source columns
	// from x0 to x1 become the X with x0·f − ½ ≤ X < x1·f − ½.
	edge := func(v int32, f float64) int { return int(math.Ceil(float64(v)*f - 0.5)) }
	a.begin()
	for _, r := range s {
		for y := max(edge(r.Y, fy), Low); y < min(edge(r.Y+1, fy), High); y++ {
			a.add(y, edge(r.X0, fx), edge(r.X1, fx))
		}
	}
	return a.end()
}

// Rotate turns a set about pixel (0,0), clockwise on the screen, by an angle in degrees.
// Quarter turns are exact; other angles look up the source pixel of every target centre.
func (a *Arena) Rotate(s Set, degrees float64) Set {
	if math.IsNaN(degrees) || math.IsInf(degrees, 0) {
		return s
	}
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	if q := math.Mod(degrees/90, 4); q == math.Trunc(q) {
		quarter := (int(q) + 4) % 4
		sin, cos = [...]float64{0, 1, 0, -1}[quarter], [...]float64{1, 0, -1, 0}[quarter]
	}
	b, ok := s.Bounds()
	if !ok {
		return nil
	}
	x0, y0, x1, y1 := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, c := range [4]Point{{b.X0, b.Y0}, {b.X1, b.Y0}, {b.X0, b.Y1}, {b.X1, b.Y1}} {
		x, y := float64(c.X)*cos-float64(c.Y)*sin, float64(c.X)*sin+float64(c.Y)*cos
		x0, x1, y0, y1 = min(x0, x), max(x1, x), min(y0, y), max(y1, y)
	}
	t := Box{max(Low, int(x0)-1), max(Low, int(y0)-1), min(High-1, int(x1)+1), min(High-1, int(y1)+1)}
	if t.X1 < t.X0 || t.Y1 < t.Y0 || !a.spend((t.X1-t.X0+1)*(t.Y1-t.Y0+1)) {
		return nil
	}
	a.begin()
	for y := t.Y0; y <= t.Y1; y++ {
		for x := t.X0; x <= t.X1; x++ {
			sx, sy := float64(x)*cos+float64(y)*sin, -float64(x)*sin+float64(y)*cos
			if s.Has(int(math.Floor(sx+0.5)), int(math.Floor(sy+0.5))) {
				a.add(y, x, x+1)
			}
		}
	}
	return a.end()
}
