package pxl

import (
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/shape"
)

// drawing rasterises the regions of one sprite.
type drawing struct {
	s       *sink
	dial    Dialect
	tell    bool // report what is doubtful but drawn; the reference only does so when checking
	regions []Region
	w, h    int
	arena   *shape.Arena
	sets    []shape.Set
	done    []bool
	index   map[string]int // only for sprites of many regions
	told    bool           // the budget's end was reported
	by      [2]int         // how far the shape at hand is moved
}

// find gives the number of the region that a name means: exact spelling first; -1 for none.
func (d *drawing) find(name string) int {
	if d.index == nil && len(d.regions) > 12 {
		d.index = make(map[string]int, len(d.regions))
		for i := range d.regions {
			d.index[d.regions[i].Token] = i
		}
	}
	look := func(name string) int {
		if d.index != nil {
			if i, ok := d.index[name]; ok {
				return i
			}
			return -1
		}
		for i := range d.regions {
			if d.regions[i].Token == name {
				return i
			}
		}
		return -1
	}
	i := look(name)
	if i < 0 && d.dial == Documented {
		i = look(otherSpelling(name))
	}
	return i
}

// rasterise makes the pixel set of every region: first those whose own keys refer to
// no other region, then the rest, each group in the order of the text.
func (d *drawing) rasterise() {
	n := len(d.regions)
	d.sets, d.done = make([]shape.Set, n), make([]bool, n)
	for pass := range 2 {
		for i := range d.regions {
			r := &d.regions[i]
			if r.refs != (pass == 1) {
				continue
			}
			d.sets[i] = d.eval(r)
			d.done[i] = true
		}
	}
	if d.tell {
		for i := range d.regions {
			d.checkPlace(i)
		}
	}
}

// eval makes the set of one region: shape, transform, repeat, jitter, range, except, symmetry.
func (d *drawing) eval(r *Region) shape.Set {
	if d.arena.Exceeded {
		return nil
	}
	var s shape.Set
	if r.More != nil && d.dial == Documented {
		s = d.modify(r)
	} else {
		s = d.shape(r)
	}
	for _, name := range r.Except {
		if other, ok := d.refer(r, name, "except"); ok {
			s = d.arena.Subtract(s, other)
		}
	}
	if r.Symmetry != "" || r.Axis != nil {
		s = d.mirror(r, s)
	}
	if d.arena.Exceeded && !d.told {
		d.told = true
		d.s.warn(r.Pos, CodeLimit, "draw fewer or smaller shapes", "the shapes of this sprite take too much work to draw; they are incomplete from region %q on", r.Token)
	}
	return s
}

// refer finds the finished set of a region named by another.
func (d *drawing) refer(r *Region, name, key string) (shape.Set, bool) {
	i := d.find(name)
	if i < 0 {
		names := make([]string, min(len(d.regions), 256))
		for k := range names {
			names[k] = d.regions[k].Token
		}
		d.s.warn(r.Pos, CodeUnknownRegion, d.s.meant(name, names), "%s names region %q, which does not exist", key, name)
		return nil, false
	}
	if !d.done[i] {
		d.s.warn(r.Pos, CodeForward, "define it earlier", "%s names region %q, which is drawn later", key, name)
		return nil, false
	}
	if d.regions[i].Pos > r.Pos && d.tell {
		d.s.warn(r.Pos, CodeForward, "define it earlier", "%s names region %q, which is defined later", key, name)
	}
	return d.sets[i], true
}

func (d *drawing) invalid(r *Region, format string, args ...any) {
	d.s.warn(r.Pos, CodeShape, "", format, args...)
}

// shape rasterises the primitive or compound of a region.
func (d *drawing) shape(r *Region) shape.Set {
	m := r.More
	if m == nil {
		m = &Modifiers{}
	}
	round, thick := 0, 1
	if m.Thickness != nil {
		thick = *m.Thickness
	}
	if d.dial == Documented {
		round = m.Round
	}
	b := r.Box
	b[0], b[1] = b[0]+d.by[0], b[1]+d.by[1]
	switch r.Shape {
	case ShapePoints:
		return d.arena.Points(d.moved(r.Points))
	case ShapeLine, ShapePolygon:
		return d.vertices(r, thick)
	case ShapeRect:
		return d.arena.Rect(b[0], b[1], b[2], b[3], round)
	case ShapeStroke:
		return d.arena.Stroke(b[0], b[1], b[2], b[3], thick, round)
	case ShapeEllipse, ShapeCircle:
		if d.dial == Reference && (b[2] > shape.MaxCoord || b[3] > shape.MaxCoord) {
			d.invalid(r, "the radius of a %s is at most %d", r.Shape, shape.MaxCoord)
			return nil
		}
		return d.arena.Ellipse(b[0], b[1], b[2], b[3])
	case ShapePath:
		pts, err := shape.ParsePath(r.Text, d.dial == Documented)
		if err != nil {
			d.invalid(r, "the path of %q is not drawn: %v", r.Token, err)
			return nil
		}
		for i := range pts {
			pts[i].X, pts[i].Y = pts[i].X+d.by[0], pts[i].Y+d.by[1]
		}
		return d.arena.Polygon(pts)
	case ShapeBackground:
		return d.arena.Rect(0, 0, d.w, d.h, 0)
	default:
		return d.relative(r, m)
	}
}

// moved are points where the leading translations of their region put them.
func (d *drawing) moved(points []shape.Point) []shape.Point {
	if d.by == [2]int{} {
		return points
	}
	out := slices.Clone(points)
	for i := range out {
		out[i].X, out[i].Y = out[i].X+d.by[0], out[i].Y+d.by[1]
	}
	return out
}

// absolute reports whether a shape is given by coordinates of its own.
func (k ShapeKind) absolute() bool {
	switch k {
	case ShapePoints, ShapeLine, ShapePolygon, ShapeRect, ShapeStroke, ShapeEllipse, ShapeCircle, ShapePath:
		return true
	default:
		return false
	}
}

// reckonable moves coordinates that lie too far away to be reckoned with.
func reckonable(points []shape.Point) []shape.Point {
	const far = 1 << 30
	if !slices.ContainsFunc(points, func(p shape.Point) bool { return max(p.X, -p.X, p.Y, -p.Y) > far }) {
		return points
	}
	out := slices.Clone(points)
	for i, p := range out {
		out[i] = shape.Point{X: min(max(p.X, -far), far), Y: min(max(p.Y, -far), far)}
	}
	return out
}

// vertices rasterises a line or a polygon. The reference draws none whose vertices lie far away.
func (d *drawing) vertices(r *Region, thick int) shape.Set {
	points := r.Points
	if d.dial == Documented {
		points = reckonable(d.moved(points))
	}
	for _, p := range points {
		if d.dial == Reference && max(p.X, -p.X, p.Y, -p.Y) > shape.MaxCoord {
			d.invalid(r, "a vertex of a %s is beyond %d", r.Shape, shape.MaxCoord)
			return nil
		}
	}
	if r.Shape == ShapePolygon {
		if len(r.Points) < 3 && d.tell {
			d.invalid(r, "a polygon needs at least three vertices, %q has %d", r.Token, len(r.Points))
		}
		return d.arena.Polygon(points)
	}
	if len(r.Points) < 2 && d.tell {
		d.invalid(r, "a line needs at least two points, %q has %d", r.Token, len(r.Points))
	}
	s := d.arena.Line(points)
	if d.dial == Documented {
		s = d.arena.Thicken(s, thick)
	}
	return s
}

// relative rasterises what is made from other regions.
func (d *drawing) relative(r *Region, m *Modifiers) shape.Set {
	switch r.Shape {
	case ShapeFill:
		return d.fill(r, m)
	case ShapeShadow:
		other, _ := d.refer(r, r.Text, "auto-shadow")
		offset := [2]int{1, 1}
		if m.Offset != nil {
			offset = *m.Offset
		}
		return d.arena.Translate(other, offset[0], offset[1])
	case ShapeOutline:
		other, _ := d.refer(r, r.Text, "auto-outline")
		t := 1
		if m.Thickness != nil {
			t = *m.Thickness
		}
		return d.arena.Outline(other, t)
	case ShapeUnion:
		sets := make([]shape.Set, 0, len(r.Subs))
		for i := range r.Subs {
			sets = append(sets, d.sub(r, &r.Subs[i]))
		}
		return d.arena.Union(sets...)
	case ShapeBase:
		s := d.sub(r, r.Base)
		for i := range r.Minus {
			s = d.arena.Subtract(s, d.sub(r, &r.Minus[i]))
		}
		return s
	case ShapeIntersect:
		var s shape.Set
		for i := range r.Subs {
			if t := d.sub(r, &r.Subs[i]); i == 0 {
				s = t
			} else {
				s = d.arena.Intersect(s, t)
			}
		}
		return s
	default:
		return nil
	}
}

// sub evaluates a part of a compound; messages about it name the whole.
func (d *drawing) sub(whole, part *Region) shape.Set {
	if part.Token == "" {
		part = &Region{
			Token: whole.Token, Pos: part.Pos, Shape: part.Shape, Points: part.Points, Box: part.Box, Text: part.Text,
			Subs: part.Subs, Base: part.Base, Minus: part.Minus, Except: part.Except, Symmetry: part.Symmetry,
			Axis: part.Axis, More: part.More,
		}
	}
	return d.eval(part)
}

// fill floods from inside a boundary.
func (d *drawing) fill(r *Region, m *Modifiers) shape.Set {
	text := strings.TrimSpace(r.Text)
	name, ok := strings.CutPrefix(text, "inside(")
	if ok {
		name, ok = strings.CutSuffix(name, ")")
	}
	if !ok {
		d.invalid(r, "fill must be inside(region), not %q", r.Text)
		return nil
	}
	boundary, ok := d.refer(r, name, "fill")
	if !ok {
		return nil
	}
	if p := m.SeedPoint; p != nil {
		if x, y := p[0], p[1]; x >= 0 && y >= 0 && x < d.w && y < d.h && !boundary.Has(x, y) {
			return d.arena.Fill(boundary, d.w, d.h, x, y)
		}
		d.invalid(r, "the seed of %q is outside the canvas or on the boundary; choosing another", r.Token)
	}
	start, ok := d.arena.FillStart(boundary, d.w, d.h)
	if !ok {
		return nil
	}
	return d.arena.Fill(boundary, d.w, d.h, start.X, start.Y)
}

// mirror adds the mirror images. On odd sizes the axis of the words is off by one.
func (d *drawing) mirror(r *Region, s shape.Set) shape.Set {
	hx, hy := 2*(d.w/2)-1, 2*(d.h/2)-1
	columns := shape.Box{X0: 0, Y0: shape.Low, X1: d.w - 1, Y1: shape.High}
	rows := shape.Box{X0: shape.Low, Y0: 0, X1: shape.High, Y1: d.h - 1}
	if r.Axis != nil {
		sum := 2*(*r.Axis) - 1
		return d.arena.Union(s, d.arena.Limit(d.arena.Flip(s, &sum, nil), columns))
	}
	switch r.Symmetry {
	case "x":
		return d.arena.Union(s, d.arena.Limit(d.arena.Flip(s, &hx, nil), columns))
	case "y":
		return d.arena.Union(s, d.arena.Limit(d.arena.Flip(s, nil, &hy), rows))
	case "xy", "yx":
		fx := d.arena.Limit(d.arena.Flip(s, &hx, nil), columns)
		fy := d.arena.Limit(d.arena.Flip(s, nil, &hy), rows)
		both := d.arena.Limit(d.arena.Flip(fx, nil, &hy), rows)
		return d.arena.Union(s, fx, fy, both)
	}
	return s
}
