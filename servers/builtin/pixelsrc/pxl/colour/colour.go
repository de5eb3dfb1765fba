// Package colour reads CSS colour strings and converts and mixes colours, with
// the float32 steps and the roundings that make every byte reproducible.
package colour

import (
	"image/color"
	"math"
)

// Hex writes a colour as #RRGGBB, or #RRGGBBAA when it is not opaque.
func Hex(c color.NRGBA) string {
	const digits = "0123456789ABCDEF"
	b := [9]byte{'#'}
	n := 4
	if c.A == 255 {
		n = 3
	}
	for i, v := range [4]uint8{c.R, c.G, c.B, c.A} {
		b[1+2*i], b[2+2*i] = digits[v>>4], digits[v&15]
	}
	return string(b[:1+2*n])
}

// ToHSL gives hue in degrees (0 to 360), saturation and lightness in percent.
func ToHSL(c color.NRGBA) (h, s, l float64) {
	r, g, b := float64(c.R)/255, float64(c.G)/255, float64(c.B)/255
	hi, lo := max(r, g, b), min(r, g, b)
	l = (hi + lo) / 2
	if hi == lo {
		return 0, 0, l * 100
	}
	d := hi - lo
	if l < 0.5 {
		s = d / (hi + lo)
	} else {
		s = d / (2 - hi - lo)
	}
	switch hi {
	case r:
		if h = math.Mod((g-b)/d, 6); h < 0 {
			h += 6
		}
	case g:
		h = (b-r)/d + 2
	default:
		h = (r-g)/d + 4
	}
	return h * 60, s * 100, l * 100
}

// FromHSL is the way back from ToHSL; the hue is reduced to 0…360, the two
// percentages are clamped.
func FromHSL(h, s, l float64, alpha uint8) color.NRGBA {
	if h = math.Mod(h, 360); h < 0 {
		h += 360
	}
	h, s, l = h/360, min(max(s, 0), 100)/100, min(max(l, 0), 100)/100
	if s == 0 {
		v := byte64(l)
		return color.NRGBA{R: v, G: v, B: v, A: alpha}
	}
	q := l + s - l*s
	if l < 0.5 {
		q = l * (1 + s)
	}
	p := 2*l - q
	channel := func(t float64) uint8 {
		if t < 0 {
			t++
		}
		if t > 1 {
			t--
		}
		switch {
		case t < 1.0/6:
			return byte64(p + (q-p)*6*t)
		case t < 1.0/2:
			return byte64(q)
		case t < 2.0/3:
			return byte64(p + (q-p)*(2.0/3-t)*6)
		}
		return byte64(p)
	}
	return color.NRGBA{R: channel(h + 1.0/3), G: channel(h), B: channel(h - 1.0/3), A: alpha}
}

// ToOKLab gives lightness (0 to 1) and the two opponent axes of OKLab.
func ToOKLab(c color.NRGBA) (l, a, b float64) {
	v := convert(fromBytes(c), oklab)
	return float64(v.c[0]), float64(v.c[1]), float64(v.c[2])
}

// FromOKLab is the way back from ToOKLab; colours outside sRGB are brought in.
func FromOKLab(l, a, b float64, alpha uint8) color.NRGBA {
	v := convert(value{space: oklab, c: [4]float32{float32(l), float32(a), float32(b), 1}}, srgb)
	if near := v.clipped(); distance(v, near) < 0.002 {
		v = near // outside by rounding only: mapping would take chroma away
	}
	out := v.bytes()
	out.A = alpha
	return out
}

// Lerp mixes two colours channel by channel in straight sRGB, alpha included;
// w is the share of b.
func Lerp(a, b color.NRGBA, w float32) color.NRGBA {
	return color.NRGBA{R: lerp(a.R, b.R, w), G: lerp(a.G, b.G, w), B: lerp(a.B, b.B, w), A: lerp(a.A, b.A, w)}
}

func lerp(a, b uint8, w float32) uint8 {
	return ToByte(round32(float32(float32(a)*(1-w)) + float32(float32(b)*w)))
}

// ToByte truncates to a byte: not a number and negative values give 0, what is
// too large 255.
func ToByte(v float32) uint8 {
	switch {
	case !(v > 0):
		return 0
	case v >= 255:
		return 255
	}
	return uint8(v)
}

// round32 rounds to the nearest integer, halves away from zero.
func round32(v float32) float32 { return float32(math.Round(float64(v))) }

func byte64(v float64) uint8 {
	return uint8(min(max(math.Round(v*255), 0), 255))
}
