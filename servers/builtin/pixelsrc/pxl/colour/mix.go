package colour

import (
	"math"
	"strings"
)

// hueMethod says which way round the circle two hues are mixed.
type hueMethod uint8

const (
	shorter hueMethod = iota
	longer
	increasing
	decreasing
	specified
)

// eps is the machine epsilon of float32.
const eps = 1.1920929e-7

// hueAt is the index of the hue component of a polar space, -1 for the others.
func hueAt(s space) int { return strings.IndexByte(models[s].letters, 'h') }

// mix is color-mix(in s method hue, a pa, b pb), pa and pb as unit values whose
// sum is not 0.
func mix(s space, method hueMethod, a value, pa float32, b value, pb float32) value {
	a, b = forMixing(a, s), forMixing(b, s)
	for i := range 4 {
		if isNone(a.c[i]) {
			a.c[i] = b.c[i]
		} else if isNone(b.c[i]) {
			b.c[i] = a.c[i]
		}
	}
	hue := hueAt(s)
	if hue >= 0 {
		a.c[hue], b.c[hue] = fixHues(method, a.c[hue], b.c[hue])
	}
	for i := range 3 {
		if i != hue {
			a.c[i] *= a.c[3]
			b.c[i] *= b.c[3]
		}
	}
	m := pa + pb
	if m != 1 {
		pa, pb = pa/m, pb/m
		m = min(m, 1)
	}
	out := value{space: s}
	for i := range 4 {
		out.c[i] = float32(a.c[i]*pa) + float32(b.c[i]*pb)
	}
	if hue >= 0 {
		out.c[hue] = mod360(out.c[hue])
	}
	for i := range 3 {
		if i != hue && (hue >= 0 || out.c[3] != 0) {
			out.c[i] /= out.c[3]
		}
	}
	out.c[3] *= m
	if s == srgb || s == hsl || s == hwb {
		return fromBytes(out.bytes())
	}
	return out
}

func mod360(h float32) float32 {
	return float32(math.Mod(float64(h), 360))
}

// forMixing brings a colour into the mixing space; what has no meaning there
// (the hue of a grey) goes missing, so that the other colour's is used.
func forMixing(v value, s space) value {
	if v.space == s {
		return v
	}
	v = convert(v, s)
	if !v.inGamut() {
		v = toGamut(v)
	}
	none := float32(math.NaN())
	tiny := func(f float32) bool { return abs(f) < eps }
	c := &v.c
	switch s {
	case lab, oklab:
		if tiny(c[0]) {
			c[1], c[2] = none, none
		}
	case lch, oklch:
		if tiny(c[1]) {
			c[2] = none
		}
		if tiny(c[0]) {
			c[1], c[2] = none, none
		}
	case hsl:
		if tiny(c[1]) {
			c[0] = none
		}
		if tiny(c[2]) || tiny(c[2]-100) {
			c[0], c[1] = none, none
		}
	case hwb:
		if tiny(c[1] + c[2] - 100) {
			c[0] = none
		}
	default:
	}
	return v
}

func fixHues(method hueMethod, a, b float32) (float32, float32) {
	if method == specified {
		return a, b
	}
	turn := func(h float32) float32 {
		if h = mod360(h); h < 0 {
			h += 360
		}
		return h
	}
	a, b = turn(a), turn(b)
	d := b - a
	switch method {
	case shorter:
		if d > 180 {
			a += 360
		} else if d < -180 {
			b += 360
		}
	case longer:
		if 0 < d && d < 180 {
			a += 360
		} else if -180 < d && d < 0 {
			b += 360
		}
	case increasing:
		if b < a {
			b += 360
		}
	case decreasing:
		if a < b {
			a += 360
		}
	default:
	}
	return a, b
}
