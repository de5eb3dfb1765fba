package pxl

import (
	"math"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/shape"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// modify makes the shape of a region and applies transform, repeat, jitter and range, in this
// order.
func (d *drawing) modify(r *Region) shape.Set {
	m := r.More
	var s shape.Set
	if m.Transform != "" {
		s = d.reshape(r)
	} else {
		s = d.shape(r)
	}
	if m.Repeat != nil {
		s = d.arena.Repeat(s, shape.Grid{
			NX: m.Repeat[0], NY: m.Repeat[1], GapX: m.Spacing[0], GapY: m.Spacing[1],
			Alternate: m.Alternate, Width: d.w, Height: d.h,
		})
	}
	if m.JitterX != nil || m.JitterY != nil {
		s = d.arena.Jitter(s, d.span(r, m.JitterX), d.span(r, m.JitterY), m.Seed, d.w, d.h)
	}
	if m.X != nil || m.Y != nil {
		b := shape.Box{X0: shape.Low, Y0: shape.Low, X1: shape.High, Y1: shape.High}
		if m.X != nil {
			x := d.span(r, m.X)
			b.X0, b.X1 = x.Min, x.Max
		}
		if m.Y != nil {
			y := d.span(r, m.Y)
			b.Y0, b.Y1 = y.Min, y.Max
		}
		s = d.arena.Limit(s, b)
	}
	return s
}

// span reads an inclusive range; one that is reversed is swapped with a warning.
func (d *drawing) span(r *Region, p *[2]int) shape.Range {
	if p == nil {
		return shape.Range{}
	}
	if p[0] > p[1] {
		d.s.warn(r.Pos, CodeShape, "write the smaller number first", "reversed range of %q, read as [%d, %d]", r.Token, p[1], p[0])
		return shape.Range{Min: p[1], Max: p[0]}
	}
	return shape.Range{Min: p[0], Max: p[1]}
}

// reshape applies the functions of a region's transform to its shape, left to right. A set is
// cut at a window round the canvas, so the translations that come first move the coordinates:
// what they bring into the window must not have been cut off before.
func (d *drawing) reshape(r *Region) shape.Set {
	calls, err := parseCalls(r.More.Transform)
	if err != nil {
		d.s.warn(r.More.transformAt, CodeTransform, "use translate, rotate, scale, flip-x and flip-y", "transform of %q: %v", r.Token, err)
	}
	for len(calls) > 0 && calls[0].name == "translate" && r.Shape.absolute() {
		d.by[0] += shiftOf(calls[0].args[0])
		d.by[1] += shiftOf(calls[0].args[1])
		calls = calls[1:]
	}
	s := d.shape(r)
	d.by = [2]int{}
	for _, c := range calls {
		b, ok := s.Bounds()
		if !ok {
			return s
		}
		sx, sy := b.X0+b.X1, b.Y0+b.Y1
		a := c.args
		switch c.name {
		case "translate":
			s = d.arena.Translate(s, shiftOf(a[0]), shiftOf(a[1]))
		case "rotate":
			s = d.arena.Rotate(s, a[0])
		case "scale":
			s = d.arena.Scale(s, a[0], a[1])
		case "flip-x":
			s = d.arena.Flip(s, &sx, nil)
		case "flip-y":
			s = d.arena.Flip(s, nil, &sy)
		default:
			d.s.warn(r.More.transformAt, CodeTransform, "use translate, rotate, scale, flip-x and flip-y", "transform of %q: unknown function %s", r.Token, c.name)
		}
	}
	return s
}

// shiftOf is how far a region is moved.
func shiftOf(v float64) int { return int(math.Round(min(max(v, -1<<40), 1<<40))) }

func whole32(v float64) int { return int(math.Round(min(max(v, -1<<20), 1<<20))) }

// checkPlace tells what of a region lies off the canvas and whether within and adjacent-to hold.
func (d *drawing) checkPlace(i int) {
	r, s := &d.regions[i], d.sets[i]
	if len(s) == 0 {
		if d.extends(r) && !d.arena.Exceeded {
			d.s.warn(r.Pos, CodeBounds, "move it, or make the canvas larger", "region %q is outside the %d×%d canvas and draws nothing", r.Token, d.w, d.h)
		}
		return
	}
	if off := s.Count() - s.Inside(d.w, d.h); off > 0 {
		d.s.warn(r.Pos, CodeBounds, "move it, or make the canvas larger", "region %q has %s outside the %d×%d canvas", r.Token, humanize.Count(off, "pixel"), d.w, d.h)
	}
	if r.More == nil {
		return
	}
	if name := r.More.Within; name != "" {
		if t := d.target(r, name, "within", CodeWithinRef); t >= 0 {
			on := d.arena.Limit(s, shape.Box{X0: 0, Y0: 0, X1: d.w - 1, Y1: d.h - 1})
			out := d.arena.Subtract(on, d.arena.Covered(d.sets[t], d.w, d.h))
			if len(out) > 0 {
				d.s.warn(r.Pos, CodeConstraint, "", "%q has %s not within %q; the first is at %d,%d", r.Token, humanize.Count(out.Count(), "pixel"), name, out[0].X0, out[0].Y)
			}
		}
	}
	if name := r.More.AdjacentTo; name != "" {
		if t := d.target(r, name, "adjacent-to", CodeAdjacentRef); t >= 0 && len(s) > 0 && !d.touches(s, d.sets[t]) {
			d.s.warn(r.Pos, CodeConstraint, "", "none of the %s of %q touches %q; the first is at %d,%d", humanize.Count(s.Count(), "pixel"), r.Token, name, s[0].X0, s[0].Y)
		}
	}
}

// extends reports whether a region is a plain shape that has pixels somewhere.
func (d *drawing) extends(r *Region) bool {
	if len(r.Except) > 0 || r.More != nil && (r.More.X != nil || r.More.Y != nil || r.More.Repeat != nil) {
		return false
	}
	switch r.Shape {
	case ShapePoints:
		return len(r.Points) > 0
	case ShapeLine:
		return len(r.Points) > 1
	case ShapePolygon:
		return len(r.Points) > 2
	case ShapeRect, ShapeStroke, ShapeEllipse, ShapeCircle:
		return r.Box[2] > 0 && r.Box[3] > 0 && (r.More == nil || r.More.Thickness == nil || *r.More.Thickness > 0)
	default:
		return false
	}
}

func (d *drawing) target(r *Region, name, key, code string) int {
	i := d.find(name)
	if i < 0 {
		d.s.warn(r.Pos, code, "", "%s of %q names %q, which is not a region of this sprite", key, r.Token, name)
	}
	return i
}

// touches reports whether a pixel of one set has a 4-neighbour in the other.
func (d *drawing) touches(s, t shape.Set) bool {
	for _, o := range [4][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
		if len(d.arena.Intersect(d.arena.Translate(s, o[0], o[1]), t)) > 0 {
			return true
		}
	}
	return false
}

// call is one function of a CSS-like transform with its numbers; angles are in degrees.
type call struct {
	name string
	args [2]float64
}

// parseCalls reads "rotate(90deg) translate(2, 1) flip-x". One number given to scale counts for both axes.
// What follows a mistake is not read.
func parseCalls(text string) ([]call, error) {
	var out []call
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimLeft(rest, " \t\r\n,;") {
		end := strings.IndexAny(rest, "( \t\r\n,;")
		c, args := call{name: strings.ToLower(rest)}, ""
		switch {
		case end < 0:
			rest = ""
		case rest[end] != '(' && !strings.HasPrefix(strings.TrimLeft(rest[end:], " "), "("):
			c.name, rest = strings.ToLower(rest[:end]), rest[end:]
		default:
			stop := strings.IndexByte(rest, ')')
			if stop < 0 {
				return out, errText("a closing parenthesis is missing in " + quoted(rest))
			}
			open := strings.IndexByte(rest, '(')
			c.name, args, rest = strings.ToLower(strings.TrimSpace(rest[:open])), rest[open+1:stop], rest[stop+1:]
		}
		list, flags, err := callNumbers(args)
		if err != nil {
			return out, err
		}
		c, err = canonicalCall(c, list, flags)
		if err != nil {
			return out, err
		}
		out = append(out, c)
		if len(out) > 64 {
			return out, errText("it has more than 64 functions")
		}
	}
	return out, nil
}

// callNumbers reads the arguments of a function: numbers with px, deg, rad, turn or %; words come back as they are.
func callNumbers(args string) (nums []float64, words []string, err error) {
	for _, f := range strings.FieldsFunc(args, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		unit := strings.TrimLeft(strings.ToLower(f), "+-.0123456789")
		v, ok := number(f[:len(f)-len(unit)])
		if !ok {
			words = append(words, strings.ToLower(f))
			continue
		}
		switch unit {
		case "", "px", "deg", "°":
		case "rad":
			v = v * 180 / math.Pi
		case "turn":
			v *= 360
		case "%":
			v /= 100
		default:
			return nil, nil, errText("unknown unit in " + quoted(f))
		}
		nums = append(nums, v)
	}
	return nums, words, nil
}

// canonicalCall checks the arguments and reduces the many spellings to translate, rotate, scale, skew-x, skew-y, flip-x, flip-y.
func canonicalCall(c call, n []float64, words []string) (call, error) {
	bad := func() (call, error) { return c, errText(c.name + " has the wrong arguments") }
	c.args = [2]float64{}
	word := strings.Join(words, "")
	switch c.name {
	case "flip":
		c.name = map[string]string{"x": "flip-x", "h": "flip-x", "horizontal": "flip-x", "y": "flip-y", "v": "flip-y", "vertical": "flip-y"}[word]
		if c.name == "" || len(n) > 0 {
			return call{name: "flip"}, errText("flip takes x or y")
		}
		return c, nil
	case "flip-x", "flipx", "flip-h", "mirror-h":
		c.name = "flip-x"
		return c, nil
	case "flip-y", "flipy", "flip-v", "mirror-v":
		c.name = "flip-y"
		return c, nil
	}
	if len(n) == 0 || len(n) > 2 || word != "" {
		return bad()
	}
	c.args[0] = n[0]
	if len(n) == 2 {
		c.args[1] = n[1]
	}
	switch c.name {
	case "translate", "translatex", "rotate", "skew-x", "skew-y":
	case "translatey":
		c.args = [2]float64{0, n[0]}
	case "scale":
		if len(n) == 1 {
			c.args[1] = n[0]
		}
	case "scalex", "scale-x":
		c.name, c.args[1] = "scale", 1
	case "scaley", "scale-y":
		c.name, c.args = "scale", [2]float64{1, n[0]}
	case "skewx":
		c.name = "skew-x"
	case "skewy":
		c.name = "skew-y"
	default:
		return c, nil
	}
	if strings.HasPrefix(c.name, "translate") {
		c.name = "translate"
	}
	return c, nil
}

type errText string

func (e errText) Error() string { return string(e) }

func quoted(s string) string {
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return `"` + s + `"`
}
