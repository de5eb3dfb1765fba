package pxl

import (
	"fmt"
	"image/color"
	"math"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/colour"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/shape"
)

// level is a dither pattern's value at a pixel, 0 ≤ level < 1 for the Bayer
// matrices and noise, 0 or 1 for the others.
func level(pattern string, x, y int, seed uint64) float64 {
	bit := func(on bool) float64 {
		if on {
			return 1
		}
		return 0
	}
	switch pattern {
	case "ordered-2x2":
		return bayer(x, y, 1)
	case "ordered-4x4":
		return bayer(x, y, 2)
	case "ordered-8x8":
		return bayer(x, y, 3)
	case "checker":
		return bit((x+y)%2 == 1)
	case "diagonal":
		return bit((x+y)%4 < 2)
	case "horizontal":
		return bit(y%2 == 1)
	case "vertical":
		return bit(x%2 == 1)
	}
	return shape.Noise(x, y, seed)
}

// bayer is (k+½)/n² of the Bayer matrix with n = 2^bits.
func bayer(x, y, bits int) float64 {
	k, n := 0, 1
	for i := range bits {
		cell := [2][2]int{{0, 2}, {3, 1}}[y>>i&1][x>>i&1]
		k = k*4 + cell
		n *= 2
	}
	return (float64(k) + 0.5) / float64(n*n)
}

// dither mixes the two tokens by a pattern where either of them was painted, or
// over everything opaque when neither was.
func dither(e *effect, b *bitmap, o *Op) (*bitmap, error) {
	dark, err := e.colour(o.Tokens[0], color.NRGBA{})
	if err != nil {
		return nil, err
	}
	light, err := e.colour(o.Tokens[1], color.NRGBA{})
	if err != nil {
		return nil, err
	}
	member := make([]bool, len(e.names))
	for i, n := range e.names {
		member[i] = Bare(n) == Bare(o.Tokens[0]) || Bare(n) == Bare(o.Tokens[1])
	}
	hit := func(i int) bool { return b.tok[i] != noToken && member[b.tok[i]] }
	any := false
	for i := range b.tok {
		any = any || hit(i)
	}
	if !any {
		e.s.warn(o.Pos, CodeTransform, "name the tokens to dither", "neither %s nor %s is painted; dithering everything opaque", o.Tokens[0], o.Tokens[1])
		hit = func(i int) bool { return b.alpha(i) == 255 }
	}
	out := b.clone()
	for i := range b.w * b.h {
		if hit(i) {
			c := dark
			if level(o.Pattern, i%b.w, i/b.w, uint64(o.N[0])) >= o.F[0] {
				c = light
			}
			out.put(i, pack(c))
		}
	}
	return out, nil
}

// ditherGradient runs from one token to another over everything opaque.
func ditherGradient(e *effect, b *bitmap, o *Op) (*bitmap, error) {
	from, err := e.colour(o.Tokens[0], color.NRGBA{})
	if err != nil {
		return nil, err
	}
	to, err := e.colour(o.Tokens[1], color.NRGBA{})
	if err != nil {
		return nil, err
	}
	x0, y0, x1, y1 := b.w, b.h, -1, -1
	for i := range b.w * b.h {
		if b.alpha(i) > 0 {
			x0, x1, y0, y1 = min(x0, i%b.w), max(x1, i%b.w), min(y0, i/b.w), max(y1, i/b.w)
		}
	}
	if x1 < 0 {
		return b, nil
	}
	cx, cy := float64(x0+x1)/2, float64(y0+y1)/2
	far := math.Hypot(float64(x1)-cx, float64(y1)-cy)
	position := func(x, y int) float64 {
		v, length := float64(y-y0), float64(y1-y0)
		switch o.Direction {
		case "horizontal":
			v, length = float64(x-x0), float64(x1-x0)
		case "radial":
			v, length = math.Hypot(float64(x)-cx, float64(y)-cy), far
		}
		if length == 0 {
			return 0
		}
		return v / length
	}
	out := b.clone()
	for i := range b.w * b.h {
		if b.alpha(i) == 0 {
			continue
		}
		c := from
		if x, y := i%b.w, i/b.w; level(o.Pattern, x, y, 0) < position(x, y) {
			c = to
		}
		out.put(i, pack(c))
	}
	return out, nil
}

// selOut recolours the pixels at the edge of the picture: by the mapping of their
// token, else of "*", else darker by auto_darken; a pixel of no token takes the fallback instead.
func selOut(e *effect, b *bitmap, o *Op) (*bitmap, error) {
	darken := 0.3
	if o.N[0] == 1 {
		darken = o.F[0]
	}
	choice := make([]*color.NRGBA, len(e.names)+1)
	pick := func(token string) (*color.NRGBA, error) {
		for _, m := range o.Mapping {
			if Bare(m.Token) == Bare(token) {
				c, err := e.colour(m.Value, color.NRGBA{})
				if err != nil {
					if c, err = colour.Parse(m.Value); err != nil {
						return nil, fmt.Errorf("mapping of %s: %q is neither a token nor a colour", token, m.Value)
					}
				}
				return &c, nil
			}
		}
		return nil, nil
	}
	star, err := pick("*")
	if err != nil {
		return nil, err
	}
	for i, n := range e.names {
		if choice[i], err = pick(n); err != nil {
			return nil, err
		}
		if choice[i] == nil {
			choice[i] = star
		}
	}
	var fallback *color.NRGBA
	if o.Token != "" {
		c, err := e.colour(o.Token, color.NRGBA{})
		if err != nil {
			return nil, err
		}
		fallback = &c
	}
	out := b.clone()
	for i := range b.w * b.h {
		if b.alpha(i) == 0 || !b.edge(i%b.w, i/b.w) {
			continue
		}
		switch t := b.tok[i]; {
		case t != noToken && choice[t] != nil:
			out.put(i, pack(*choice[t]))
		case t == noToken && star != nil:
			out.put(i, pack(*star))
		case t == noToken && fallback != nil:
			out.put(i, pack(*fallback))
		default:
			c := unpack(b.at(i))
			l, ca, cb := colour.ToOKLab(c)
			out.put(i, pack(colour.FromOKLab(l*(1-darken), ca, cb, c.A)))
		}
	}
	return out, nil
}

// edge reports whether one of the four neighbours is transparent or off the canvas.
func (b *bitmap) edge(x, y int) bool {
	clear := func(x, y int) bool {
		return x < 0 || y < 0 || x >= b.w || y >= b.h || b.alpha(y*b.w+x) == 0
	}
	return clear(x-1, y) || clear(x+1, y) || clear(x, y-1) || clear(x, y+1)
}

// subpixel shifts by fractions of a pixel: bilinear, on premultiplied values, same canvas.
func subpixel(_ *effect, b *bitmap, o *Op) (*bitmap, error) {
	out := newBitmap(b.w, b.h, b.tok != nil)
	ix, iy := math.Floor(o.F[0]), math.Floor(o.F[1])
	fx, fy := o.F[0]-ix, o.F[1]-iy
	weight := [4]float64{(1 - fx) * (1 - fy), fx * (1 - fy), (1 - fx) * fy, fx * fy}
	for y := range b.h {
		for x := range b.w {
			var sum [4]float64
			for k, w := range weight {
				sx, sy := float64(x)-ix-float64(k&1), float64(y)-iy-float64(k>>1)
				if w == 0 || sx < 0 || sy < 0 || sx >= float64(b.w) || sy >= float64(b.h) {
					continue
				}
				j := int(sy)*b.w + int(sx)
				if k == 0 && b.tok != nil {
					out.tok[y*b.w+x] = b.tok[j]
				}
				c := unpack(b.at(j))
				a := w * float64(c.A)
				sum[0] += a * float64(c.R)
				sum[1] += a * float64(c.G)
				sum[2] += a * float64(c.B)
				sum[3] += a
			}
			if sum[3] > 0 {
				v := func(i int) uint8 { return uint8(math.Round(sum[i] / sum[3])) }
				out.put(y*b.w+x, pack(color.NRGBA{R: v(0), G: v(1), B: v(2), A: uint8(math.Round(sum[3]))}))
			}
		}
	}
	return out, nil
}
