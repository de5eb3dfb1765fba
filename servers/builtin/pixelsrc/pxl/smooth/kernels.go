package smooth

import (
	"image/color"
	"math"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/colour"
)

func scale2x(src raster, o Options, ctx *Context) raster {
	out := newRaster(src.w*2, src.h*2)
	src.each(o, func(x, y int, p color.NRGBA) {
		if o.Strength < 0.001 || o.preserves() && ctx.role(x, y) == Anchor {
			out.block(x, y, 2, p)
			return
		}
		a, b, c, d := src.at(x, y-1), src.at(x-1, y), src.at(x+1, y), src.at(x, y+1)
		free := func(dx, dy int) bool {
			return !o.Containment || !ctx.edge(min(max(x+dx, 0), src.w-1), min(max(y+dy, 0), src.h-1))
		}
		pick := func(rule bool, with color.NRGBA) color.NRGBA {
			switch {
			case !rule:
				return p
			case o.Strength >= 1:
				return with
			}
			return mix(p, with, o.Strength)
		}
		top, left, right, bottom := free(0, -1), free(-1, 0), free(1, 0), free(0, 1)
		at := y*2*out.w + x*2
		out.px[at] = pick(top && left && a == b && a != c && b != d, a)
		out.px[at+1] = pick(top && right && a == c && a != b && c != d, c)
		out.px[at+out.w] = pick(left && bottom && b == d && b != a && d != c, b)
		out.px[at+out.w+1] = pick(right && bottom && c == d && c != a && d != b, c)
	})
	return out
}

// similarYUV is the reference's test for its hq filters.
func similarYUV(p, q color.NRGBA, threshold float32) bool {
	if p.A == 0 || q.A == 0 {
		return p.A == q.A
	}
	r, g, b := float32(int(p.R)-int(q.R)), float32(int(p.G)-int(q.G)), float32(int(p.B)-int(q.B))
	y := float32(float32(0.299*r)+float32(0.587*g)) + float32(0.114*b)
	u := float32(float32(0.5*r)-float32(0.419*g)) - float32(0.081*b)
	v := float32(float32(-0.169*r)-float32(0.331*g)) + float32(0.5*b)
	return float32(abs(y)*2)+abs(u)+abs(v) < threshold
}

// hq is the reference's hq2x (k = 2) and hq4x (k = 4): only similar neighbours
// are blended.
func hq(src raster, k int, o Options, ctx *Context) raster {
	out := newRaster(src.w*k, src.h*k)
	s := o.Strength
	src.each(o, func(x, y int, c color.NRGBA) {
		if src.flat(x, y) || o.kept(ctx, x, y) {
			out.block(x, y, k, c)
			return
		}
		threshold := o.threshold(ctx, x, y)
		similar := func(n color.NRGBA) bool { return similarYUV(c, n, threshold) }
		for i, sign := range corners {
			dx, dy := sign[0], sign[1]
			e1, e2, dg := src.at(x, y+dy), src.at(x+dx, y), src.at(x+dx, y+dy)
			near1, near2 := similar(e1), similar(e2)
			q := hqCorner(c, e1, e2, dg, near1, near2, similar(dg), s)
			if k == 2 {
				out.px[(y*2+i/2)*out.w+x*2+i%2] = q
				continue
			}
			beside := func(near bool, n color.NRGBA) color.NRGBA {
				if near {
					return mix(q, n, 0.25*s)
				}
				return q
			}
			// Outermost and inner cell of the quadrant, counted from its corner.
			ox, oy := x*4+3*(i%2), y*4+3*(i/2)
			out.px[oy*out.w+ox] = q
			out.px[oy*out.w+ox-dx] = beside(near1, e1)
			out.px[(oy-dy)*out.w+ox] = beside(near2, e2)
			out.px[(oy-dy)*out.w+ox-dx] = mix(q, c, 0.5)
		}
	})
	return out
}

// corners are the directions of the four corners, row by row.
var corners = [4][2]int{{-1, -1}, {1, -1}, {-1, 1}, {1, 1}}

func hqCorner(c, e1, e2, dg color.NRGBA, near1, near2, nearD bool, s float32) color.NRGBA {
	switch {
	case near1 && near2 && nearD:
		return mix(c, avg(avg(e1, e2), dg), 0.375*s)
	case near1 && near2:
		return mix(c, avg(e1, e2), 0.25*s)
	case near1 && nearD:
		return mix(c, e1, 0.1875*s)
	case near2 && nearD:
		return mix(c, e2, 0.1875*s)
	case near1:
		return mix(c, e1, 0.125*s)
	case near2:
		return mix(c, e2, 0.125*s)
	case nearD:
		return mix(c, dg, 0.0625*s)
	}
	return c
}

// xbr2x is the reference's; above strength 0.375 it doubles plainly.
func xbr2x(src raster, o Options, ctx *Context) raster {
	out := newRaster(src.w*2, src.h*2)
	src.each(o, func(x, y int, c color.NRGBA) {
		threshold := o.threshold(ctx, x, y)
		// No edge is more than 13 strong.
		if threshold > 26 || threshold > 0 && src.flat(x, y) || o.kept(ctx, x, y) {
			out.block(x, y, 2, c)
			return
		}
		for i, sign := range corners {
			out.px[(y*2+i/2)*out.w+x*2+i%2] = xbrCorner(src, x, y, sign[0], sign[1], threshold, o.Strength)
		}
	})
	return out
}

func xbrCorner(src raster, x, y, sx, sy int, threshold, strength float32) color.NRGBA {
	same := func(p, q color.NRGBA) bool {
		if p.A == 0 || q.A == 0 {
			return p.A == q.A
		}
		r, g, b := abs(float32(int(p.R)-int(q.R))), abs(float32(int(p.G)-int(q.G))), abs(float32(int(p.B)-int(q.B)))
		return float32(float32(0.299*r)+float32(0.587*g))+float32(0.114*b) < threshold
	}
	at := func(dx, dy int) color.NRGBA { return src.at(x+dx*sx, y+dy*sy) }
	c, e1, e2, dg := at(0, 0), at(1, 0), at(0, 1), at(1, 1)
	weight := func(p, q, d, o, fp, fq color.NRGBA) (w float32) {
		add := func(when bool, n float32) {
			if when {
				w += n
			}
		}
		add(!same(c, p), 1)
		add(!same(c, q), 1)
		add(same(p, d) && same(q, d), 2)
		add(!same(c, o) && same(p, q), 1)
		add(same(p, fp), 4)
		add(same(q, fq), 4)
		return w
	}
	w1 := weight(e1, e2, dg, at(-1, 0), at(2, 0), at(2, 1))
	w2 := weight(dg, e1, e2, at(0, -1), at(1, 2), at(0, 2))
	strengthOfEdge := abs(w1 - w2)
	if strengthOfEdge < 0.5*threshold {
		return c
	}
	f := strengthOfEdge / threshold
	if !(f < 1) && f == f {
		f = 1
	}
	f *= strength
	blend := func(with color.NRGBA, by float32) color.NRGBA {
		// 0/0 at strength 0 is not a number, and colours become nothing, as in
		// the reference.
		if by == by {
			by = min(max(by, 0), 1)
		}
		return colour.Lerp(c, with, by)
	}
	if w1 > w2 {
		switch near1, near2 := same(e1, dg), same(e2, dg); {
		case near1 && near2:
			return blend(dg, 0.5*f)
		case near1:
			return blend(e1, 0.25*f)
		case near2:
			return blend(e2, 0.25*f)
		}
		return c
	}
	if same(e1, e2) {
		return blend(avg(e1, e2), 0.375*f)
	}
	return c
}

// kernel has the weights of the 3×3 blur, exp(−d²/0.5) normalised.
var kernel = [9]float32{
	0.0113437353, 0.0838194937, 0.0113437353,
	0.0838194937, 0.619346976, 0.0838194937,
	0.0113437353, 0.0838194937, 0.0113437353,
}

func blur(src raster, o Options, ctx *Context) raster {
	out := newRaster(src.w, src.h)
	src.each(o, func(x, y int, p color.NRGBA) {
		out.px[y*src.w+x] = p
		weight := float32(o.blurMask(ctx, x, y) * o.Strength)
		if weight < 0.001 {
			return
		}
		var r, g, b, a float32
		for i, w := range kernel {
			q := src.at(x+i%3-1, y+i/3-1)
			r += float32(float32(q.R) * w)
			g += float32(float32(q.G) * w)
			b += float32(float32(q.B) * w)
			a += float32(float32(q.A) * w)
		}
		blurred := color.NRGBA{R: rounded(r), G: rounded(g), B: rounded(b), A: rounded(a)}
		out.px[y*src.w+x] = mix(p, blurred, weight)
	})
	return out
}

func rounded(f float32) uint8 { return colour.ToByte(float32(math.Round(float64(f)))) }

func (o Options) blurMask(c *Context, x, y int) float32 {
	role := c.role(x, y)
	switch {
	case role == Anchor && o.preserves():
		return 0
	case role == Anchor && o.Anchors == Reduce:
		return 0.25
	case role == Anchor:
		return 1
	case o.Containment && c.edge(x, y):
		return 0
	case role == Boundary:
		return 0.25
	}
	return 1
}

// gradients softens the edges between colours that derive from each other.
func gradients(src raster, o Options, ctx *Context) raster {
	out := raster{src.w, src.h, append([]color.NRGBA(nil), src.px...)}
	reach := max(1, int(math.Round(float64(3*o.Strength))))
	for _, g := range ctx.Gradients {
		half := func(p, q uint8) uint8 { return rounded(float32(int(p)+int(q)) / 2) }
		middle := color.NRGBA{R: half(g.From.R, g.To.R), G: half(g.From.G, g.To.G), B: half(g.From.B, g.To.B), A: half(g.From.A, g.To.A)}
		near := make(map[int]int) // pixel → squared distance
		if o.stopped() {
			break
		}
		for _, p := range g.Boundary {
			for y := max(p.Y-reach, 0); y <= min(p.Y+reach, src.h-1); y++ {
				for x := max(p.X-reach, 0); x <= min(p.X+reach, src.w-1); x++ {
					d := (x-p.X)*(x-p.X) + (y-p.Y)*(y-p.Y)
					if old, ok := near[y*src.w+x]; !ok || d < old {
						near[y*src.w+x] = d
					}
				}
			}
		}
		for at, d2 := range near {
			if o.Containment && ctx.edge(at%src.w, at/src.w) {
				continue
			}
			d := float32(math.Sqrt(float64(d2)))
			if d > float32(reach) {
				continue
			}
			amount := float32(float32((1-min(d/float32(reach), 1))*o.Strength) * 0.5)
			out.px[at] = mix(src.px[at], middle, amount)
		}
	}
	return out
}
