package colour

import (
	"image/color"
	"math"
)

// space is a colour space, and its place in models.
type space uint8

const (
	xyz65 space = iota
	xyz50
	lab
	lch
	oklab
	oklch
	linear
	srgb
	rgb255
	hsl
	hwb
	displayP3
	a98
	rec2020
	prophoto
)

// model is what there is to know of a space. The steps to its parent and back are a curve, a
// matrix or a function; xyz65 is the root of the tree.
type model struct {
	name     string  // in color() and color-mix()
	letters  string  // of its channels
	top      float32 // the upper end of the range of all channels but the hue; 0: they have none
	parent   space
	curve    *transfer
	up, down *matrix
	to, from func(a, b, c float32) (x, y, z float32)
}

var models = [...]model{
	xyz65:     {name: "xyz-d65", letters: "xyz"},
	xyz50:     {name: "xyz-d50", letters: "xyz", parent: xyz65, up: &xyz50to65, down: &xyz65to50},
	lab:       {name: "lab", letters: "lab", parent: xyz50, to: labToXYZ, from: xyzToLab},
	lch:       {name: "lch", letters: "lch", parent: lab, to: rectangular, from: polar},
	oklab:     {name: "oklab", letters: "lab", parent: xyz65, to: oklabToXYZ, from: xyzToOKLab},
	oklch:     {name: "oklch", letters: "lch", parent: oklab, to: rectangular, from: polar},
	linear:    {name: "srgb-linear", letters: "rgb", top: 1, parent: xyz65, up: &linearToXYZ, down: &xyzToLinear},
	srgb:      {name: "srgb", letters: "rgb", top: 1, parent: linear, curve: &srgbCurve},
	rgb255:    {letters: "rgb", top: 255, parent: srgb, to: fromBytesEach, from: toBytesEach},
	hsl:       {name: "hsl", letters: "hsl", top: 100, parent: srgb, to: hslToRGB, from: rgbToHSL},
	hwb:       {name: "hwb", letters: "hwb", top: 100, parent: srgb, to: hwbToRGB, from: rgbToHWB},
	displayP3: {name: "display-p3", letters: "rgb", top: 1, parent: xyz65, curve: &srgbCurve, up: &p3ToXYZ, down: &xyzToP3},
	a98:       {name: "a98-rgb", letters: "rgb", top: 1, parent: xyz65, curve: &a98Curve, up: &a98ToXYZ, down: &xyzToA98},
	rec2020:   {name: "rec2020", letters: "rgb", top: 1, parent: xyz65, curve: &rec2020Curve, up: &rec2020ToXYZ, down: &xyzToRec2020},
	prophoto:  {name: "prophoto-rgb", letters: "rgb", top: 1, parent: xyz50, curve: &prophotoCurve, up: &prophotoToXYZ, down: &xyzToProphoto},
}

// value is a colour on its way: three components and alpha in its space. A
// component that is not a number is missing ("none").
type value struct {
	space space
	c     [4]float32
	// exact is the colour itself when it was given in bytes; space is then srgb.
	exact   color.NRGBA
	isBytes bool
}

func fromBytes(c color.NRGBA) value {
	return value{
		space: srgb, isBytes: true, exact: c,
		c: [4]float32{float32(c.R) / 255, float32(c.G) / 255, float32(c.B) / 255, float32(c.A) / 255},
	}
}

func isNone(f float32) bool { return f != f }

func (v value) withoutNone() value {
	for i, f := range v.c {
		if isNone(f) {
			v.c[i] = 0
		}
	}
	return v
}

// convert takes a colour to another space, along the tree through the lowest
// common ancestor. A few pairs go through the root, which only shows as noise
// in the last bit.
func convert(v value, to space) value {
	if v.space == to {
		return v
	}
	throughRoot := detour(v.space, to) || detour(to, v.space)
	var down [8]space
	n := 0
	for at := to; ; at = models[at].parent {
		if !throughRoot && isAncestor(at, v.space) || at == xyz65 {
			for v.space != at {
				v = v.withoutNone().up()
			}
			break
		}
		down[n] = at
		n++
	}
	for n--; n >= 0; n-- {
		v = v.withoutNone().down(down[n])
	}
	return v
}

func detour(a, b space) bool {
	switch a {
	case xyz50:
		return b == lch
	case prophoto:
		return b == lab || b == lch
	case hsl, hwb:
		return b == linear
	default:
		return false
	}
}

func isAncestor(a, of space) bool {
	for ; of != a; of = models[of].parent {
		if of == xyz65 {
			return false
		}
	}
	return true
}

// up is the primitive step from a space to its parent.
func (v value) up() value {
	a, b, c := v.c[0], v.c[1], v.c[2]
	m := &models[v.space]
	v.space, v.isBytes = m.parent, false
	if m.curve != nil {
		a, b, c = m.curve.decode(a), m.curve.decode(b), m.curve.decode(c)
	}
	if m.up != nil {
		a, b, c = m.up.of(a, b, c)
	}
	if m.to != nil {
		a, b, c = m.to(a, b, c)
	}
	v.c[0], v.c[1], v.c[2] = a, b, c
	return v
}

// down is the primitive step from a parent to its child.
func (v value) down(to space) value {
	a, b, c := v.c[0], v.c[1], v.c[2]
	m := &models[to]
	v.space, v.isBytes = to, false
	if m.from != nil {
		a, b, c = m.from(a, b, c)
	}
	if m.down != nil {
		a, b, c = m.down.of(a, b, c)
	}
	if m.curve != nil {
		a, b, c = m.curve.encode(a), m.curve.encode(b), m.curve.encode(c)
	}
	v.c[0], v.c[1], v.c[2] = a, b, c
	return v
}

// bytes is the colour as it is painted: in sRGB, brought into its gamut.
func (v value) bytes() color.NRGBA {
	if v.isBytes {
		return v.exact
	}
	v = toGamut(convert(v, srgb).withoutNone())
	return color.NRGBA{R: byte32(v.c[0]), G: byte32(v.c[1]), B: byte32(v.c[2]), A: byte32(v.c[3])}
}

func byte32(f float32) uint8 { return ToByte(round32(f * 255)) }

// gamutTop is the upper end of a channel's range in a space, 0 when it has none.
func gamutTop(s space, channel int) float32 {
	if models[s].letters[channel] == 'h' {
		return 0
	}
	return models[s].top
}

func (v value) inGamut() bool {
	for i := range 3 {
		if top := gamutTop(v.space, i); top > 0 && !(v.c[i] >= 0 && v.c[i] <= top) {
			return false
		}
	}
	return true
}

func (v value) clipped() value {
	for i := range 3 {
		if top := gamutTop(v.space, i); top > 0 {
			v.c[i] = min(max(v.c[i], 0), top)
		}
	}
	v.c[3] = min(max(v.c[3], 0), 1)
	return v
}

// toGamut lowers the OKLCH chroma of a colour until clipping it into its own
// space is not seen.
func toGamut(v value) value {
	v = v.withoutNone()
	if v.inGamut() {
		return v
	}
	to := v.space
	c := convert(v, oklch).withoutNone()
	if d := c.c[0] - 1; d > -1e-5 {
		return convert(value{space: oklch, c: [4]float32{1, 0, 0, v.c[3]}}, to).withoutNone()
	}
	if c.c[0] < 1e-5 {
		return convert(value{space: oklch, c: [4]float32{0, 0, 0, v.c[3]}}, to).withoutNone()
	}
	lo, hi := float32(0), c.c[1]
	for range 64 { // halving: an infinite chroma must not loop for ever
		if !(hi-lo > 1e-5) {
			break
		}
		c.c[1] = (lo + hi) / 2
		t := convert(c, to).withoutNone()
		if t.inGamut() {
			lo = c.c[1]
			continue
		}
		clip := t.clipped()
		if distance(clip, c) < 0.02 {
			return clip
		}
		hi = c.c[1]
	}
	return convert(c, to).withoutNone()
}

func distance(p, q value) float32 {
	a, b := convert(p, oklab).withoutNone(), convert(q, oklab).withoutNone()
	var sum float32
	for i := range 3 {
		d := a.c[i] - b.c[i]
		sum += float32(d * d)
	}
	return float32(math.Sqrt(float64(sum)))
}
