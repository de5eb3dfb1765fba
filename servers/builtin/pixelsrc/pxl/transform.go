package pxl

import (
	"fmt"
	"image/color"
	"math"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/shape"
)

// effect is what transforms of a finished picture need to know.
type effect struct {
	r      *renderer
	s      *sink
	dial   Dialect
	colors *tokens
	names  []string // token of every region number in the bitmap's tok
}

// run applies a transform list in order. What is malformed or fails is reported and skipped.
func (e *effect) run(b *bitmap, ops []Op) *bitmap {
	for i := range ops {
		o := &ops[i]
		if o.Name == "" {
			e.s.warn(o.Pos, CodeTransform, "see the list of transforms in the format guide", "unknown transform %q, skipped", o.Text)
			continue
		}
		out, err := e.apply(b, o)
		if err != nil {
			e.s.warn(o.Pos, CodeTransform, "", "transform %s is skipped: %v", o.Text, err)
			continue
		}
		b = out
		if !e.r.spend(e.s, o.Pos, 4*b.w*b.h+16, 0) {
			break
		}
	}
	return b
}

// applier is one transform of a whole picture.
type applier func(e *effect, b *bitmap, o *Op) (*bitmap, error)

func appliers() map[string]applier {
	plain := func(f func(b *bitmap, o *Op) *bitmap) applier {
		return func(_ *effect, b *bitmap, o *Op) (*bitmap, error) { return f(b, o), nil }
	}
	keep := plain(func(b *bitmap, _ *Op) *bitmap { return b })
	return map[string]applier{
		"mirror-h": plain(func(b *bitmap, _ *Op) *bitmap { return mirrorH(b) }),
		"mirror-v": plain(func(b *bitmap, _ *Op) *bitmap { return mirrorV(b) }),
		"rotate":   plain(func(b *bitmap, o *Op) *bitmap { return rotate(b, o.N[0]) }),
		"tile": func(_ *effect, b *bitmap, o *Op) (*bitmap, error) {
			if err := fits(b.w*o.N[0], b.h*o.N[1]); err != nil {
				return nil, err
			}
			return b.axes(span(b.w*o.N[0], func(i int) int { return i % b.w }), span(b.h*o.N[1], func(i int) int { return i % b.h })), nil
		},
		"pad": func(_ *effect, b *bitmap, o *Op) (*bitmap, error) { return grow(b, o.N[0], o.N[0], o.N[0], o.N[0]) },
		"crop": plain(func(b *bitmap, o *Op) *bitmap {
			x, y := min(o.N[0], b.w), min(o.N[1], b.h)
			w, h := min(o.N[2], b.w-x), min(o.N[3], b.h-y)
			if w <= 0 || h <= 0 {
				return standIn(b.tok != nil)
			}
			return b.axes(span(w, within(b.w, x)), span(h, within(b.h, y)))
		}),
		"shift": plain(func(b *bitmap, o *Op) *bitmap {
			return b.axes(span(b.w, within(b.w, -o.N[0])), span(b.h, within(b.h, -o.N[1])))
		}),
		"outline":         outline,
		"shadow":          shadow,
		"scale":           func(_ *effect, b *bitmap, o *Op) (*bitmap, error) { return scale(b, o.F[0], o.F[1]) },
		"skew-x":          func(_ *effect, b *bitmap, o *Op) (*bitmap, error) { return skew(b, o.F[0], false) },
		"skew-y":          func(_ *effect, b *bitmap, o *Op) (*bitmap, error) { return skew(b, o.F[0], true) },
		"squash":          documented(squash),
		"stretch":         documented(squash),
		"sel-out":         documented(selOut),
		"dither":          documented(dither),
		"dither-gradient": documented(ditherGradient),
		"subpixel":        documented(subpixel),
		"pingpong":        keep, "reverse": keep, "frame-offset": keep, "hold": keep,
	}
}

func (e *effect) apply(b *bitmap, o *Op) (*bitmap, error) { return appliers()[o.Name](e, b, o) }

// documented wraps a transform that the reference never carries out.
func documented(f applier) applier {
	return func(e *effect, b *bitmap, o *Op) (*bitmap, error) {
		if e.dial == Reference {
			return nil, fmt.Errorf("the reference dialect does not draw it")
		}
		return f(e, b, o)
	}
}

// fits checks a canvas against the limits.
func fits(w, h int) error {
	if w < 1 || h < 1 {
		return fmt.Errorf("the result would be empty")
	}
	if w > MaxSide || h > MaxSide || w*h > maxArea {
		return fmt.Errorf("the result of %d×%d pixels exceeds %d a side or %d in total", w, h, MaxSide, maxArea)
	}
	return nil
}

func mirrorH(b *bitmap) *bitmap {
	return b.axes(span(b.w, func(i int) int { return b.w - 1 - i }), span(b.h, same))
}

func mirrorV(b *bitmap) *bitmap {
	return b.axes(span(b.w, same), span(b.h, func(i int) int { return b.h - 1 - i }))
}

// rotate turns a picture clockwise by quarter turns.
func rotate(b *bitmap, degrees int) *bitmap {
	switch degrees {
	case 180:
		return mirrorH(mirrorV(b))
	case 90, 270:
		out := newBitmap(b.h, b.w, b.tok != nil)
		for y := range b.h {
			for x := range b.w {
				i := x*out.w + b.h - 1 - y
				if degrees == 270 {
					i = (b.w-1-x)*out.w + y
				}
				out.take(i, b, y*b.w+x)
			}
		}
		return out
	}
	return b
}

// grow adds transparent pixels around a picture.
func grow(b *bitmap, left, top, right, bottom int) (*bitmap, error) {
	w, h := b.w+left+right, b.h+top+bottom
	if err := fits(w, h); err != nil {
		return nil, err
	}
	return b.axes(span(w, within(b.w, -left)), span(h, within(b.h, -top))), nil
}

// colour finds the colour of a token that a transform names. A token with braces
// may stand for one without; the documented dialect takes either for the other.
func (e *effect) colour(token string, standard color.NRGBA) (color.NRGBA, error) {
	if token == "" {
		return standard, nil
	}
	i := e.colors.find(token)
	if i < 0 && token[0] == '{' {
		i = e.colors.find(Bare(token))
	}
	if i < 0 {
		return color.NRGBA{}, fmt.Errorf("no token %q in the palette", token)
	}
	if e.colors.bad[i] {
		return color.NRGBA{}, fmt.Errorf("invalid colour for token %q", token)
	}
	return e.colors.colours[i], nil
}

// opaque is the pixels with any alpha, as a set that the shape arithmetic understands.
func opaque(a *shape.Arena, b *bitmap) shape.Set {
	pts := make([]shape.Point, 0, b.w)
	for y := range b.h {
		for x := range b.w {
			if b.alpha(y*b.w+x) > 0 {
				pts = append(pts, shape.Point{X: x, Y: y})
			}
		}
	}
	return a.Points(pts)
}

// outline draws a ring of Chebyshev distance N[0] around everything visible.
func outline(e *effect, b *bitmap, o *Op) (*bitmap, error) {
	c, err := e.colour(o.Token, color.NRGBA{A: 255})
	if err != nil {
		return nil, err
	}
	n := o.N[0]
	if err := fits(b.w+2*n, b.h+2*n); err != nil {
		return nil, err
	}
	out := newBitmap(b.w+2*n, b.h+2*n, b.tok != nil)
	a := shape.NewArena(maxWork)
	out.paint(a.Spread(opaque(a, b), shape.Box{X0: 0, Y0: 0, X1: 2 * n, Y1: 2 * n}), c, noToken)
	out.stamp(b, n, n)
	return out, nil
}

// stamp copies the visible pixels of src to (x, y) without blending.
func (b *bitmap) stamp(src *bitmap, x, y int) {
	for sy := range src.h {
		for sx := range src.w {
			if src.alpha(sy*src.w+sx) > 0 {
				b.take((y+sy)*b.w+x+sx, src, sy*src.w+sx)
			}
		}
	}
}

// shadow puts a flat copy of everything visible behind it, shifted by N[0], N[1].
func shadow(e *effect, b *bitmap, o *Op) (*bitmap, error) {
	c, err := e.colour(o.Token, color.NRGBA{A: 128})
	if err != nil {
		return nil, err
	}
	dx, dy := o.N[0], o.N[1]
	w, h := b.w+max(dx, -dx), b.h+max(dy, -dy)
	if err := fits(w, h); err != nil {
		return nil, err
	}
	out := newBitmap(w, h, b.tok != nil)
	x, y := max(0, -dx), max(0, -dy)
	a := shape.NewArena(maxWork)
	out.paint(a.Translate(opaque(a, b), x+dx, y+dy), c, noToken)
	out.stamp(b, x, y)
	return out, nil
}

// scale resamples by factors, nearest neighbour, in the float32 steps of the format.
func scale(b *bitmap, fx, fy float64) (*bitmap, error) {
	sx, sy := float32(fx), float32(fy)
	near := func(f float32) bool { return max(f-1, 1-f) < 0.001 }
	if near(sx) && near(sy) {
		return b, nil
	}
	size := func(n int, f float32) int {
		v := math.Round(float64(float32(n) * f))
		if !(v < 1<<30) {
			return 1 << 30
		}
		return max(1, int(v))
	}
	w, h := size(b.w, sx), size(b.h, sy)
	if w == b.w && h == b.h {
		return b, nil
	}
	if err := fits(w, h); err != nil {
		return nil, err
	}
	axis := func(n, m int) []int {
		ratio := float32(n) / float32(m)
		return span(m, func(i int) int {
			at := float32(i) + 0.5
			return min(n-1, int(float32(at*ratio)))
		})
	}
	return b.axes(axis(b.w, w), axis(b.h, h)), nil
}

// skew shears by an angle in degrees: rows to the right, or columns down when down is set.
func skew(b *bitmap, degrees float64, down bool) (*bitmap, error) {
	if d := float32(degrees); max(d, -d) < 0.001 {
		return b, nil
	}
	if down {
		b = transpose(b)
	}
	rad := float32(degrees) * float32(math.Pi/180)
	t := float32(math.Tan(float64(rad)))
	slope := max(t, -t)
	w := b.w + int(math.Ceil(float64(float32(b.h)*slope)))
	if err := fits(w, b.h); err != nil {
		return nil, err
	}
	out := newBitmap(w, b.h, b.tok != nil)
	for y := range b.h {
		r := float32(y) / float32(b.h)
		var off float32
		if degrees > 0 {
			off = float32(float32(1-r)*float32(b.h)) * t
		} else {
			off = float32(r*float32(b.h)) * slope
		}
		dx := int(math.Round(float64(off)))
		for x := 0; x < b.w && x+dx < w; x++ {
			out.take(y*w+x+dx, b, y*b.w+x)
		}
	}
	if down {
		out = transpose(out)
	}
	return out, nil
}

func transpose(b *bitmap) *bitmap {
	out := newBitmap(b.h, b.w, b.tok != nil)
	for y := range b.h {
		for x := range b.w {
			out.take(x*b.h+y, b, y*b.w+x)
		}
	}
	return out
}
