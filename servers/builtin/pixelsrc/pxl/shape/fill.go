package shape

import "sort"

// Fill floods the canvas of w by h from (x, y) through every pixel that is not in
// the boundary, in four directions. The start must be on the canvas and not in the boundary.
func (a *Arena) Fill(boundary Set, w, h, x, y int) Set {
	return a.flood(boundary, Box{0, 0, w - 1, h - 1}, x, y)
}

// Covered is the pixels on the canvas that belong to the set or that it encloses:
// those that cannot be reached from outside without crossing it.
func (a *Arena) Covered(s Set, w, h int) Set {
	outside := a.flood(s, Box{-1, -1, w, h}, -1, -1)
	return a.Subtract(a.Rect(0, 0, w, h, 0), outside)
}

// flood walks over the gaps between the runs of a boundary inside an area.
func (a *Arena) flood(boundary Set, area Box, x, y int) Set {
	rows := area.Y1 - area.Y0 + 1
	gaps, first := a.gaps(boundary, area)
	if gaps == nil {
		return nil
	}
	seen := make([]bool, len(gaps))
	var queue []int32
	visit := func(row int, x0, x1 int32) {
		if row < 0 || row >= rows {
			return
		}
		i := first[row] + int32(sort.Search(int(first[row+1]-first[row]), func(k int) bool { return gaps[first[row]+int32(k)].X1 > x0 }))
		for ; i < first[row+1] && gaps[i].X0 < x1; i++ {
			if !seen[i] {
				seen[i] = true
				queue = append(queue, i)
			}
		}
	}
	visit(y-area.Y0, int32(x), int32(x)+1)
	for len(queue) > 0 && !a.Exceeded {
		g := gaps[queue[len(queue)-1]]
		queue = queue[:len(queue)-1]
		row := int(g.Y) - area.Y0
		if !a.spend(1) {
			break
		}
		visit(row-1, g.X0, g.X1)
		visit(row+1, g.X0, g.X1)
	}
	a.begin()
	for i, g := range gaps {
		if seen[i] {
			a.add(int(g.Y), int(g.X0), int(g.X1))
		}
	}
	return a.end()
}

// gaps lists the runs of an area that are not in the set; row i's are first[i]…first[i+1].
func (a *Arena) gaps(s Set, area Box) (gaps []Run, first []int32) {
	rows := area.Y1 - area.Y0 + 1
	if !a.spend(rows + len(s)) {
		return nil, nil
	}
	first = make([]int32, rows+1)
	gaps = make([]Run, 0, rows+len(s))
	i := s.after(Low-1, int32(area.Y0))
	for row := range rows {
		y := int32(area.Y0 + row)
		x := int32(area.X0)
		for i < len(s) && s[i].Y < y {
			i++
		}
		for ; i < len(s) && s[i].Y == y; i++ {
			if end := min(s[i].X0, int32(area.X1+1)); end > x {
				gaps = append(gaps, Run{y, x, end})
			}
			x = max(x, s[i].X1)
		}
		if x <= int32(area.X1) {
			gaps = append(gaps, Run{y, x, int32(area.X1 + 1)})
		}
		first[row+1] = int32(len(gaps))
	}
	return gaps, first
}

// FillStart chooses where a fill starts: the centre of the boundary's box, else the
// first free pixel of the canvas on growing squares around it, columns left to right
// and each from top to bottom. An empty boundary starts at (0,0).
func (a *Arena) FillStart(boundary Set, w, h int) (p Point, ok bool) {
	b, any := boundary.Bounds()
	if !any {
		return Point{}, true
	}
	cx, cy := (b.X0+b.X1)/2, (b.Y0+b.Y1)/2
	free := func(x, y int) bool {
		return x >= 0 && y >= 0 && x < w && y < h && !boundary.Has(x, y)
	}
	if free(cx, cy) {
		return Point{cx, cy}, true
	}
	if boundary.Inside(w, h) == w*h {
		return Point{}, false
	}
	for r := 1; r <= max(b.X1-b.X0, b.Y1-b.Y0); r++ {
		if !a.spend(1) {
			return Point{}, false
		}
		for x := max(cx-r, 0); x <= min(cx+r, w-1); x++ {
			step := 2 * r
			if x == cx-r || x == cx+r {
				step = 1
			}
			for y := cy - r; y <= cy+r; y += step {
				if step == 1 && y < 0 {
					y = -1
					continue
				}
				if y >= h {
					break
				}
				if free(x, y) {
					return Point{x, y}, true
				}
			}
		}
	}
	return Point{}, false
}
