package pxl

import (
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/json5"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/shape"
)

// more gives the region its rarely used part.
func (r *Region) more() *Modifiers {
	if r.More == nil {
		r.More = &Modifiers{}
	}
	return r.More
}

// is makes k the shape of the region unless one that wins over it was given.
func (r *Region) is(k ShapeKind) bool {
	r.several = r.several || r.Shape != ShapeNone
	if r.Shape != ShapeNone && r.Shape < k {
		return false
	}
	r.Shape = k
	return true
}

// regionFields lists what every region may hold; regionRest the rest.
func regionFields() []field[Region] {
	return []field[Region]{
		{"points", func(d *decoder, r *Region, n *json5.Node) { d.vertices(r, ShapePoints, n) }},
		{"line", func(d *decoder, r *Region, n *json5.Node) { d.vertices(r, ShapeLine, n) }},
		{"polygon", func(d *decoder, r *Region, n *json5.Node) { d.vertices(r, ShapePolygon, n) }},
		{"rect", func(d *decoder, r *Region, n *json5.Node) { d.box(r, ShapeRect, n) }},
		{"stroke", func(d *decoder, r *Region, n *json5.Node) { d.box(r, ShapeStroke, n) }},
		{"ellipse", func(d *decoder, r *Region, n *json5.Node) { d.box(r, ShapeEllipse, n) }},
		{"circle", func(d *decoder, r *Region, n *json5.Node) {
			var c [3]int
			d.tuple(n, (*decoder).coord, c[:])
			if r.is(ShapeCircle) {
				r.Box = [4]int{c[0], c[1], c[2], c[2]}
			}
		}},
		{"path", func(d *decoder, r *Region, n *json5.Node) { d.text(r, ShapePath, n) }},
		{"fill", func(d *decoder, r *Region, n *json5.Node) { d.text(r, ShapeFill, n); r.refs = true }},
		{"auto-shadow", func(d *decoder, r *Region, n *json5.Node) { d.text(r, ShapeShadow, n); r.refs = true }},
		{"union", func(d *decoder, r *Region, n *json5.Node) { d.subs(r, ShapeUnion, n) }},
		{"base", func(d *decoder, r *Region, n *json5.Node) {
			b := d.sub(n)
			if r.is(ShapeBase) {
				r.Base = &b
			}
		}},
		{"subtract", func(d *decoder, r *Region, n *json5.Node) {
			r.Minus = d.regions(n)
		}},
		{"intersect", func(d *decoder, r *Region, n *json5.Node) { d.subs(r, ShapeIntersect, n) }},
		{"z", func(d *decoder, r *Region, n *json5.Node) { r.Z = new(d.signed(n)) }},
		{"role", func(d *decoder, r *Region, n *json5.Node) { r.Role = d.role(n) }},
		{"except", func(d *decoder, r *Region, n *json5.Node) { r.Except = d.strings(n) }},
		{"symmetric", func(d *decoder, r *Region, n *json5.Node) {
			if !d.ref && n.Kind != json5.String {
				r.Axis = new(d.signed(n))
				return
			}
			r.Symmetry = d.str(n)
		}},
		{"thickness", func(d *decoder, r *Region, n *json5.Node) { r.more().Thickness = new(d.unsigned(n)) }},
		{"offset", func(d *decoder, r *Region, n *json5.Node) { r.more().Offset = d.pair(n, (*decoder).signed) }},
	}
}

func regionRest() []field[Region] {
	return []field[Region]{
		{"round", func(d *decoder, r *Region, n *json5.Node) { r.more().Round = d.unsigned(n) }},
		{"x", func(d *decoder, r *Region, n *json5.Node) { r.more().X = d.pair(n, (*decoder).coord) }},
		{"y", func(d *decoder, r *Region, n *json5.Node) { r.more().Y = d.pair(n, (*decoder).coord) }},
		{"repeat", func(d *decoder, r *Region, n *json5.Node) { r.more().Repeat = d.pair(n, (*decoder).unsigned) }},
		{"spacing", func(d *decoder, r *Region, n *json5.Node) { r.more().Spacing = *d.pair(n, (*decoder).coord) }},
		{"offset-alternate", func(d *decoder, r *Region, n *json5.Node) { r.more().Alternate = d.boolean(n) }},
		{"transform", func(d *decoder, r *Region, n *json5.Node) {
			r.more().Transform, r.More.transformAt = d.str(n), n.Pos
		}},
		{"jitter", func(d *decoder, r *Region, n *json5.Node) {
			fields(d, n, r.more(), []field[Modifiers]{
				{"x", func(d *decoder, m *Modifiers, n *json5.Node) { m.JitterX = d.pair(n, (*decoder).signed) }},
				{"y", func(d *decoder, m *Modifiers, n *json5.Node) { m.JitterY = d.pair(n, (*decoder).signed) }},
			})
		}},
		{"seed", func(d *decoder, r *Region, n *json5.Node) {
			if n.Kind == json5.Array && !d.ref {
				r.more().SeedPoint = d.pair(n, (*decoder).signed)
				return
			}
			r.more().Seed = uint64(d.unsigned(n))
		}},
		{"auto-outline", func(d *decoder, r *Region, n *json5.Node) {
			if d.ref {
				d.str(n)
				return
			}
			d.text(r, ShapeOutline, n)
			r.refs = r.refs || r.Shape == ShapeOutline
		}},
		{"within", func(d *decoder, r *Region, n *json5.Node) { r.more().Within = d.str(n) }},
		{"adjacent-to", func(d *decoder, r *Region, n *json5.Node) { r.more().AdjacentTo = d.str(n) }},
		{"antialias", func(d *decoder, r *Region, n *json5.Node) {
			r.more().Antialias = true
			if n.Kind != json5.Object {
				d.bad(n, "expected an object, found %s", n.Kind)
			}
		}},
	}
}

// RegionKeys lists all keys of a region.
func RegionKeys() (keys []string) {
	for _, f := range append(regionFields(), regionRest()...) {
		keys = append(keys, f.name)
	}
	return keys
}

// region decodes one region; depth counts the compounds around it.
func (d *decoder) region(n *json5.Node, depth int) Region {
	var r Region
	if depth > maxNesting {
		d.bad(n, "regions nest deeper than %d", maxNesting)
		return r
	}
	before := d.depth
	d.depth = depth
	fields(d, n, &r, d.doc.regionTable())
	d.depth = before
	return r
}

func (d *decoder) sub(n *json5.Node) Region {
	r := d.region(n, d.depth+1)
	r.Pos = n.Pos
	return r
}

func (d *decoder) regions(n *json5.Node) []Region { return listOf(d, n, d.sub) }

// vertices reads a list of points.
func (d *decoder) vertices(r *Region, k ShapeKind, n *json5.Node) {
	pts := listOf(d, n, func(v *json5.Node) shape.Point {
		var p [2]int
		d.tuple(v, (*decoder).coord, p[:])
		return shape.Point{X: p[0], Y: p[1]}
	})
	if r.is(k) {
		r.Points = pts
	}
}

// box reads the four numbers of rect, stroke and ellipse; the last two are sizes.
func (d *decoder) box(r *Region, k ShapeKind, n *json5.Node) {
	var b [4]int
	read := (*decoder).coord
	if !d.ref && k != ShapeEllipse {
		read = (*decoder).edge
	}
	d.tuple(n, read, b[:])
	for i := range 2 { // of what is too far away, the part that can be reckoned with
		from, to := min(max(b[i], -maxInt), maxInt), min(max(b[i]+b[i+2], -maxInt), maxInt)
		if !d.ref && k != ShapeEllipse && b[i+2] >= 0 {
			b[i], b[i+2] = from, max(to-from, min(b[i+2], 1))
		}
	}
	if (b[2] < 0 || b[3] < 0) && d.err == "" {
		d.bad(n, "the size of a %s must not be negative", k)
	}
	if r.is(k) {
		r.Box = b
	}
}

func (d *decoder) text(r *Region, k ShapeKind, n *json5.Node) {
	s := d.str(n)
	if r.is(k) {
		r.Text = s
	}
}

func (d *decoder) subs(r *Region, k ShapeKind, n *json5.Node) {
	list := d.regions(n)
	if r.is(k) {
		r.Subs = list
	}
}
