package shape

import "testing"

func FuzzParsePath(f *testing.F) {
	for _, s := range []string{"M0,0 L5,5 H3 V2 Z", "m1 1l-2.5 3e2z", "", "M inf nan", "M1,2L3", "Z"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		pts, err := ParsePath(text, false)
		if err != nil {
			return
		}
		for _, p := range pts {
			if abs(p.X) > MaxCoord || abs(p.Y) > MaxCoord {
				t.Fatalf("%v lies out of bounds", p)
			}
		}
		a := NewArena(1 << 20)
		sorted(t, a.Polygon(pts))
		sorted(t, a.Line(pts))
	})
}

// sorted checks that a set keeps its promises.
func sorted(t *testing.T, s Set) {
	t.Helper()
	for i, r := range s {
		if r.X0 >= r.X1 || r.Y < Low || r.Y >= High || r.X0 < Low || r.X1 > High {
			t.Fatalf("impossible run %v", r)
		}
		if i > 0 && (s[i-1].Y > r.Y || (s[i-1].Y == r.Y && s[i-1].X1 >= r.X0)) {
			t.Fatalf("runs %v and %v overlap or are out of order", s[i-1], r)
		}
	}
}

// FuzzSets compares the set arithmetic with a plain grid of pixels.
func FuzzSets(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	f.Fuzz(func(t *testing.T, data []byte) {
		const n = 16
		var grids [2][n][n]bool
		var pts [2][]Point
		for i, b := range data[:min(len(data), 512)] {
			k, x, y := i%2, int(b%n), int(b/n)
			grids[k][y][x] = true
			pts[k] = append(pts[k], Point{x, y})
		}
		a := NewArena(1 << 20)
		p, q := a.Points(pts[0]), a.Points(pts[1])
		for name, c := range map[string]struct {
			got  Set
			want func(x, y int) bool
		}{
			"union":     {a.Union(p, q), func(x, y int) bool { return grids[0][y][x] || grids[1][y][x] }},
			"subtract":  {a.Subtract(p, q), func(x, y int) bool { return grids[0][y][x] && !grids[1][y][x] }},
			"intersect": {a.Intersect(p, q), func(x, y int) bool { return grids[0][y][x] && grids[1][y][x] }},
			"erode": {a.Erode(p), func(x, y int) bool {
				in := func(x, y int) bool { return x >= 0 && y >= 0 && x < n && y < n && grids[0][y][x] }
				return in(x, y) && in(x-1, y) && in(x+1, y) && in(x, y-1) && in(x, y+1)
			}},
		} {
			sorted(t, c.got)
			for y := range n {
				for x := range n {
					if c.got.Has(x, y) != c.want(x, y) {
						t.Fatalf("%s: %d,%d is %v", name, x, y, c.got.Has(x, y))
					}
				}
			}
		}
		sorted(t, a.Fill(p, n, n, 0, 0))
		sorted(t, a.Outline(p, 3))
		sorted(t, a.Rotate(p, float64(len(data))*7))
		sorted(t, a.Scale(p, 1.3, 0.6))
		sorted(t, a.Jitter(p, Range{-2, 2}, Range{-1, 3}, 5, n, n))
		sorted(t, a.Repeat(p, Grid{NX: 3, NY: 4, GapX: 1, Alternate: true, Width: 64, Height: 64}))
	})
}
