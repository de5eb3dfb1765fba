package pixelsrc

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/shape"
)

// tracer finds short descriptions of sets of pixels, each checked against the
// engine's own rasteriser.
type tracer struct {
	ctx   context.Context //nolint:containedctx // that of one import
	w, h  int
	arena *shape.Arena
}

// traceBudget bounds the work of one trial.
const traceBudget = 1 << 20

func newTracer(ctx context.Context, w, h int) *tracer {
	return &tracer{ctx: ctx, w: w, h: h, arena: shape.NewArena(traceBudget)}
}

// region is the shortest description of a set as the value of a region.
func (t *tracer) region(s shape.Set) string {
	best := t.plain(s)
	for _, axis := range [...]string{"xy", "x", "y"} {
		half, ok := t.half(s, axis)
		if !ok {
			continue
		}
		if d := strings.TrimSuffix(t.plain(half), "}") + `,"symmetric":"` + axis + `"}`; len(d) < len(best) {
			best = d
		}
	}
	return best
}

// plain describes a set without symmetry: one shape, or a union of its parts.
func (t *tracer) plain(s shape.Set) string {
	var shapes []string
	var dots shape.Set
	for _, cluster := range components(s, 1) {
		if d := t.line(cluster); d != "" {
			shapes = append(shapes, d)
			continue
		}
		for _, p := range components(cluster, 0) {
			if t.ctx.Err() != nil {
				break // what is said of the rest does not matter
			}
			d, isPoints := t.component(p)
			if isPoints {
				dots = append(dots, p...)
				continue
			}
			shapes = append(shapes, d)
		}
	}
	if len(dots) > 0 {
		slices.SortFunc(dots, byRow)
		shapes = append(shapes, pointsJSON(dots))
	}
	best := pointsJSON(nil)
	if len(shapes) > 0 {
		best = union(shapes)
	}
	if rects := unionJSON(rectangles(s)); len(rects) < len(best) {
		best = rects
	}
	// Points are never shorter than what the parts chose, but many dots may be.
	if n := pointsLength(s, len(best)); n < len(best) {
		best = pointsJSON(s)
	}
	return best
}

func byRow(a, b shape.Run) int {
	if a.Y != b.Y {
		return int(a.Y - b.Y)
	}
	return int(a.X0 - b.X0)
}

// half is the part of a mirrored set from which the engine makes the whole.
func (t *tracer) half(s shape.Set, axis string) (shape.Set, bool) {
	cut := func(s shape.Set, w, h int32) (out shape.Set) {
		for _, r := range s {
			if r.Y < h && r.X0 < w {
				r.X1 = min(r.X1, w)
				out = append(out, r)
			}
		}
		return out
	}
	if strings.Contains(axis, "x") && t.w%2 != 0 || strings.Contains(axis, "y") && t.h%2 != 0 {
		return nil, false
	}
	w, h := int32(t.w), int32(t.h)
	whole := func(of shape.Set, mirror func(shape.Run) shape.Run) bool {
		other := make(shape.Set, 0, len(of))
		for _, r := range of {
			other = append(other, mirror(r))
		}
		slices.SortFunc(other, byRow)
		return slices.Equal(other, of)
	}
	left := func(r shape.Run) shape.Run { return shape.Run{Y: r.Y, X0: w - r.X1, X1: w - r.X0} }
	down := func(r shape.Run) shape.Run { return shape.Run{Y: h - 1 - r.Y, X0: r.X0, X1: r.X1} }
	if strings.Contains(axis, "x") {
		if !whole(s, left) {
			return nil, false
		}
	}
	if strings.Contains(axis, "y") {
		if !whole(s, down) {
			return nil, false
		}
	}
	if strings.Contains(axis, "x") {
		w /= 2
	}
	if strings.Contains(axis, "y") {
		h /= 2
	}
	out := cut(s, w, h)
	return out, len(out) > 0
}

// components splits a set into its connected parts, in the order of their first
// pixels; with reach 1 corners connect too.
func components(s shape.Set, reach int32) []shape.Set {
	parent := make([]int, len(s))
	for i := range parent {
		parent[i] = i
	}
	find := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	above := 0
	for i, r := range s {
		for above < i && (s[above].Y < r.Y-1 || s[above].Y == r.Y-1 && s[above].X1+reach <= r.X0) {
			above++
		}
		for j := above; j < i && s[j].Y == r.Y-1 && s[j].X0 < r.X1+reach; j++ {
			a, b := find(i), find(j)
			parent[max(a, b)] = min(a, b)
		}
	}
	var out []shape.Set
	at := make(map[int]int)
	for i, r := range s {
		root := find(i)
		k, ok := at[root]
		if !ok {
			k = len(out)
			at[root] = k
			out = append(out, nil)
		}
		out[k] = append(out[k], r)
	}
	return out
}

// component describes one connected set by the shortest exact shape.
func (t *tracer) component(s shape.Set) (text string, isPoints bool) {
	b, _ := s.Bounds()
	x, y, w, h := b.X0, b.Y0, b.X1-b.X0+1, b.Y1-b.Y0+1
	n := s.Count()
	if n <= 2 {
		return pointsJSON(s), true
	}
	if n == w*h {
		return listJSON("rect", x, y, w, h), false
	}
	best := ""
	try := func(exact func() bool, text func() string) {
		t.arena.Reset(traceBudget)
		if d := text(); (best == "" || len(d) < len(best)) && exact() && !t.arena.Exceeded {
			best = d
		}
	}
	same := func(o shape.Set) bool { return slices.Equal(o, s) }
	if w >= 3 && h >= 3 {
		try(func() bool { return same(t.arena.Stroke(x, y, w, h, 1, 0)) }, func() string { return listJSON("stroke", x, y, w, h) })
	}
	if w%2 == 1 && h%2 == 1 && h >= 3 {
		t.ellipses(try, same, x+w/2, y+h/2, w/2, h/2)
	}
	rects := rectangles(s)
	if d := unionJSON(rects); best == "" || len(d) < len(best) {
		best = d
	}
	if n >= 6 && len(best) > 40 {
		if outline := t.outline(s, b); len(outline) >= 3 && len(outline) <= 50 {
			try(func() bool { return same(t.arena.Polygon(outline)) }, func() string { return pairsJSON("polygon", outline) })
		}
	}
	if pointsLength(s, len(best)) < len(best) {
		return pointsJSON(s), true
	}
	return best, false
}

// line describes a set that is one slanted line, "" when it is none.
func (t *tracer) line(s shape.Set) string {
	b, _ := s.Bounds()
	w, h := b.X1-b.X0+1, b.Y1-b.Y0+1
	if w < 2 || h < 2 || max(w, h) < 3 || s.Count() != max(w, h) {
		return "" // a line has one pixel for each step of its longer side
	}
	best := ""
	for _, p := range ends(s) {
		t.arena.Reset(traceBudget)
		if d := pairsJSON("line", p[:]); (best == "" || len(d) < len(best)) && slices.Equal(t.arena.Line(p[:]), s) {
			best = d
		}
	}
	if pointsLength(s, len(best)) < len(best) {
		return ""
	}
	return best
}

// ellipses tries the radii whose pixels may be 2·hw+1 wide; the engine's ellipses
// are a little wider than their radius says.
func (t *tracer) ellipses(try func(func() bool, func() string), same func(shape.Set) bool, cx, cy, hw, ry int) {
	for rx := hw; rx >= max(1, hw*3/4-1); rx-- {
		if rx == ry {
			try(func() bool { return same(t.arena.Ellipse(cx, cy, rx, ry)) }, func() string { return listJSON("circle", cx, cy, rx) })
			continue
		}
		try(func() bool { return same(t.arena.Ellipse(cx, cy, rx, ry)) }, func() string { return listJSON("ellipse", cx, cy, rx, ry) })
	}
}

// ends lists the pairs of extreme pixels that a line may run between.
func ends(s shape.Set) (pairs [][2]shape.Point) {
	first, last := s[0], s[len(s)-1]
	tops := []shape.Point{{X: int(first.X0), Y: int(first.Y)}, {X: int(first.X1) - 1, Y: int(first.Y)}}
	bottoms := []shape.Point{{X: int(last.X0), Y: int(last.Y)}, {X: int(last.X1) - 1, Y: int(last.Y)}}
	for _, p := range tops {
		for _, q := range bottoms {
			pairs = append(pairs, [2]shape.Point{p, q}, [2]shape.Point{q, p})
		}
	}
	return pairs
}

// rectangles cuts a set into runs and joins equal ones downwards.
func rectangles(s shape.Set) (out [][4]int) {
	open := map[[2]int32]int{}
	for _, r := range s {
		key := [2]int32{r.X0, r.X1}
		if i, ok := open[key]; ok && out[i][1]+out[i][3] == int(r.Y) {
			out[i][3]++
			continue
		}
		open[key] = len(out)
		out = append(out, [4]int{int(r.X0), int(r.Y), int(r.X1 - r.X0), 1})
	}
	return out
}

// outline walks round a connected set, clockwise along its border pixels, and
// keeps the corners.
func (t *tracer) outline(s shape.Set, b shape.Box) []shape.Point {
	dirs := [8]shape.Point{{X: 1}, {X: 1, Y: 1}, {Y: 1}, {X: -1, Y: 1}, {X: -1}, {X: -1, Y: -1}, {Y: -1}, {X: 1, Y: -1}}
	start := shape.Point{X: int(s[0].X0), Y: int(s[0].Y)}
	at, from := start, 6
	var corners []shape.Point
	last := -1
	limit := 4 * ((b.X1 - b.X0 + 2) * (b.Y1 - b.Y0 + 2))
	for step := 0; step < limit && len(corners) <= 50; step++ {
		moved := false
		for k := range 8 {
			d := (from + k) % 8
			next := shape.Point{X: at.X + dirs[d].X, Y: at.Y + dirs[d].Y}
			if !s.Has(next.X, next.Y) {
				continue
			}
			if d != last {
				corners = append(corners, at)
			}
			at, last, from, moved = next, d, (d+6)%8, true
			if d%2 == 1 {
				from = (d + 5) % 8
			}
			break
		}
		if !moved || at == start {
			break
		}
	}
	return corners
}

// shapeJSON is a region of one shape.
func shapeJSON(key string, numbers any) string {
	b, _ := json.Marshal(numbers) // lists of integers
	return `{"` + key + `":` + string(b) + "}"
}

func listJSON(key string, values ...int) string { return shapeJSON(key, values) }

func pairsJSON(key string, points []shape.Point) string {
	pairs := make([][2]int, len(points))
	for i, p := range points {
		pairs[i] = [2]int{p.X, p.Y}
	}
	return shapeJSON(key, pairs)
}

func pointsJSON(s shape.Set) string {
	pairs := make([][2]int32, 0, s.Count())
	for _, r := range s {
		for x := r.X0; x < r.X1; x++ {
			pairs = append(pairs, [2]int32{x, r.Y})
		}
	}
	return shapeJSON("points", pairs)
}

// pointsLength is the length of pointsJSON; it stops counting beyond limit.
func pointsLength(s shape.Set, limit int) int {
	n := len(`{"points":[]}`) - 1
	digits := func(v int32) int {
		d := 1
		for ; v > 9; v /= 10 {
			d++
		}
		return d
	}
	for _, r := range s {
		for x := r.X0; x < r.X1 && n <= limit; x++ {
			n += 4 + digits(x) + digits(r.Y)
		}
	}
	return n
}

func unionJSON(rects [][4]int) string {
	list := make([]string, len(rects))
	for i, r := range rects {
		list[i] = listJSON("rect", r[:]...)
	}
	return union(list)
}

// union is a region of several shapes.
func union(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	return `{"union":[` + strings.Join(list, ",") + "]}"
}
