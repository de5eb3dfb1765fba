package pxl

import "strings"

// blendMode is how a source value joins the canvas value below it, both 0…1.
type blendMode func(d, s float32) float32

// blendOf finds a blend mode by name; nil is normal.
func blendOf(name string) (mode blendMode, ok bool) {
	switch strings.ToLower(name) {
	case "", "normal":
		return nil, true
	case "multiply":
		return func(d, s float32) float32 { return d * s }, true
	case "screen":
		return func(d, s float32) float32 { return 1 - float32((1-d)*(1-s)) }, true
	case "overlay":
		return func(d, s float32) float32 {
			if d < 0.5 {
				return float32(2*d) * s
			}
			return 1 - float32(float32(2*(1-d))*(1-s))
		}, true
	case "add", "additive":
		return func(d, s float32) float32 { return min(1, d+s) }, true
	case "subtract", "subtractive":
		return func(d, s float32) float32 { return max(0, d-s) }, true
	case "difference":
		return func(d, s float32) float32 { return max(d-s, s-d) }, true
	case "darken":
		return func(d, s float32) float32 { return min(d, s) }, true
	case "lighten":
		return func(d, s float32) float32 { return max(d, s) }, true
	}
	return nil, false
}

// blend draws src with its top left at (x, y), clipped, and returns what that
// cost of the budget. The mode sees the raw canvas colour also where the canvas is
// transparent, so multiply over nothing is black. solid says that every pixel of src is opaque.
func (b *bitmap) blend(src *bitmap, x, y int, mode blendMode, opacity float32, solid bool) int {
	x0, x1 := max(0, -x), min(src.w, b.w-x)
	y0, y1 := max(0, -y), min(src.h, b.h-y)
	if x0 >= x1 || y0 >= y1 {
		return 0
	}
	opacity = min(max(opacity, 0), 1)
	cost := blendCost
	if mode == nil && opacity == 1 {
		cost = 2
	}
	for sy := y0; sy < y1; sy++ {
		from := src.pix[4*(sy*src.w+x0) : 4*(sy*src.w+x1)]
		to := b.pix[4*((y+sy)*b.w+x+x0):]
		to = to[:len(from)]
		if mode == nil && opacity == 1 {
			if solid {
				copy(to, from)
			} else {
				over(to, from)
			}
			continue
		}
		for i := 0; i+4 <= len(from); i += 4 {
			mixPixel(to[i:i+4:i+4], from[i:i+4:i+4], mode, opacity)
		}
	}
	return cost * (x1 - x0) * (y1 - y0)
}

// solid reports whether every pixel is opaque.
func (b *bitmap) solid() bool {
	for i := 3; i < len(b.pix); i += 4 {
		if b.pix[i] != 255 {
			return false
		}
	}
	return true
}

// over draws a row in normal mode at full opacity.
func over(to, from []byte) {
	for i := 0; i+4 <= len(from) && i+4 <= len(to); i += 4 {
		switch from[i+3] {
		case 0:
		case 255:
			copy(to[i:i+4], from[i:i+4])
		default:
			if to[i+3] == 0 {
				copy(to[i:i+4], from[i:i+4])
				continue
			}
			mixPixel(to[i:i+4:i+4], from[i:i+4:i+4], nil, 1)
		}
	}
}

// mixPixel joins one pixel, rounding to float32 after every step.
func mixPixel(to, from []byte, mode blendMode, opacity float32) {
	if from[3] == 0 {
		return
	}
	sa := float32(float32(from[3])/255) * opacity
	if sa == 0 {
		return
	}
	da := float32(to[3]) / 255
	rest := 1 - sa
	oa := sa + float32(da*rest)
	for i := range 3 {
		s, d := float32(from[i])/255, float32(to[i])/255
		m := s
		if mode != nil {
			m = mode(d, s)
		}
		v := (float32(m*sa) + float32(float32(d*da)*rest)) / oa
		to[i] = toByte(min(max(v, 0), 1))
	}
	to[3] = toByte(oa)
}

// toByte rounds 0…1 to a byte; NaN is 0.
func toByte(v float32) uint8 {
	if v != v {
		return 0
	}
	return uint8(min(max(float64(v*255)+0.5, 0), 255))
}
