package colour

import (
	"image/color"
	"math"
)

// space is a colour space; the order is that of the tables below.
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
	spaces
)

// value is a colour on its way: three components and alpha in its space. A
// component that is not a number is missing ("none").
type value struct {
	space space
	c     [4]float32
	// exact is the colour itself when it was given in bytes; space is then srgb.
	exact   color.NRGBA
	isBytes bool
}

// parents is the tree of primitive conversions, xyz65 at its root.
var parents = [spaces]space{
	xyz65: xyz65, xyz50: xyz65, lab: xyz50, lch: lab, oklab: xyz65, oklch: oklab,
	linear: xyz65, srgb: linear, rgb255: srgb, hsl: srgb, hwb: srgb,
	displayP3: xyz65, a98: xyz65, rec2020: xyz65, prophoto: xyz50,
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
	for at := to; ; at = parents[at] {
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
	for ; of != a; of = parents[of] {
		if of == xyz65 {
			return false
		}
	}
	return true
}

// up is the primitive step from a space to its parent.
func (v value) up() value {
	a, b, c := v.c[0], v.c[1], v.c[2]
	from := v.space
	v.space, v.isBytes = parents[from], false
	switch from {
	case lch, oklch:
		b, c = rect(b, c, math.Cos), rect(b, c, math.Sin)
	case lab:
		a, b, c = labToXYZ(a, b, c)
	case oklab:
		a, b, c = oklabToLMS.of(a, b, c)
		a, b, c = lmsToXYZ.of(cube(a), cube(b), cube(c))
	case hsl:
		a, b, c = hslToRGB(a, b, c)
	case hwb:
		a, b, c = hwbToRGB(a, b, c)
	case rgb255:
		a, b, c = a/255, b/255, c/255
	default:
		curve, matrix := rgbLike(from)
		if curve != nil {
			a, b, c = curve.decode(a), curve.decode(b), curve.decode(c)
		}
		if matrix != nil {
			a, b, c = matrix.of(a, b, c)
		}
	}
	v.c[0], v.c[1], v.c[2] = a, b, c
	return v
}

// down is the primitive step from a parent to its child.
func (v value) down(to space) value {
	a, b, c := v.c[0], v.c[1], v.c[2]
	v.space, v.isBytes = to, false
	switch to {
	case lch, oklch:
		a, b, c = polar(a, b, c)
	case lab:
		a, b, c = xyzToLab(a, b, c)
	case oklab:
		a, b, c = xyzToLMS.of(a, b, c)
		a, b, c = lmsToOKLab.of(cbrt(a), cbrt(b), cbrt(c))
	case hsl:
		a, b, c = rgbToHSL(a, b, c)
	case hwb:
		h, _, _ := rgbToHSL(a, b, c)
		a, b, c = h, min(a, b, c)*100, (1-max(a, b, c))*100
	case rgb255:
		a, b, c = a*255, b*255, c*255
	case xyz50:
		a, b, c = xyz65to50.of(a, b, c)
	default:
		curve, _ := rgbLike(to)
		if m := fromXYZ(to); m != nil {
			a, b, c = m.of(a, b, c)
		}
		if curve != nil {
			a, b, c = curve.encode(a), curve.encode(b), curve.encode(c)
		}
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
	switch s {
	case rgb255:
		return 255
	case hsl, hwb:
		if channel > 0 {
			return 100
		}
		return 0
	case srgb, linear, displayP3, a98, rec2020, prophoto:
		return 1
	default:
		return 0
	}
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
