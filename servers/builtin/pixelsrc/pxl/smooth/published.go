package smooth

import "image/color"

// soften is hq and xBR by their published ideas: find where a diagonal passes a
// pixel's corner, and give the part of the pixel beyond it the colour from
// there. hq looks at the eight neighbours and knows three slopes, xBR weighs a
// 5×5 window and knows the even diagonal. Flat areas and straight edges stay.
func soften(src raster, k int, o Options, ctx *Context) raster {
	out := newRaster(src.w*k, src.h*k)
	find := hqSlope
	if o.Algorithm == XBR2x || o.Algorithm == XBR4x {
		find = xbrSlope
	}
	src.each(o, func(x, y int, c color.NRGBA) {
		out.block(x, y, k, c)
		if src.flat(x, y) || o.kept(ctx, x, y) {
			return
		}
		strength := min(max(o.Strength, 0), 1)
		if o.Anchors == Reduce && ctx.role(x, y) == Anchor {
			strength *= 0.25
		}
		for i, sign := range corners {
			at := window{src, x, y, sign[0], sign[1]}
			legX, legY, with := find(at, c)
			if legX == 0 {
				continue
			}
			cut(out, x, y, k, i, legX, legY, with, strength)
		}
	})
	return out
}

// window reads neighbours of a pixel, mirrored so that the corner in question
// is always at (+1, +1).
type window struct {
	src              raster
	x, y, dirX, dirY int
}

func (w window) at(dx, dy int) color.NRGBA { return w.src.at(w.x+dx*w.dirX, w.y+dy*w.dirY) }

// hqSlope reports the triangle that is cut off a pixel's corner, as the lengths
// of its legs in quarters of a pixel, and the colour beyond.
func hqSlope(w window, c color.NRGBA) (legX, legY int, with color.NRGBA) {
	side, below := w.at(1, 0), w.at(0, 1)
	if alike(side, c) || alike(below, c) || !alike(side, below) {
		return 0, 0, c
	}
	with = premultipliedMix(side, below, 0.5)
	across, along := alike(w.at(1, -1), c), alike(w.at(-1, 1), c)
	switch {
	case across && along: // even stairs
		return 2, 2, with
	case across: // a shallow slope: the edge below runs on
		return 4, 2, with
	case along: // a steep slope
		return 2, 4, with
	}
	return 1, 1, with // the corner of a block
}

// alike compares two colours in YUV, as hq does: up to 48 in lightness and 7
// and 6 in the two colour axes are taken for the same.
func alike(p, q color.NRGBA) bool {
	if p == q {
		return true
	}
	if p.A == 0 || q.A == 0 {
		return p.A == q.A
	}
	y, u, v := yuv(p, q)
	a := int(p.A) - int(q.A)
	return y <= 48 && u <= 7 && v <= 6 && -48 <= a && a <= 48
}

func yuv(p, q color.NRGBA) (y, u, v float32) {
	r, g, b := float32(int(p.R)-int(q.R)), float32(int(p.G)-int(q.G)), float32(int(p.B)-int(q.B))
	return abs(0.299*r + 0.587*g + 0.114*b), abs(-0.169*r - 0.331*g + 0.5*b), abs(0.5*r - 0.419*g - 0.081*b)
}

// distance weighs lightness most, as xBR does.
func distance(p, q color.NRGBA) float32 {
	if p == q || p.A == 0 && q.A == 0 {
		return 0
	}
	y, u, v := yuv(p, q)
	a := abs(float32(int(p.A) - int(q.A)))
	return 48*(y+a) + 7*u + 6*v
}

// xbrSlope weighs the two diagonals through the corner over a 5×5 window; the
// one along which colours change less is the edge.
func xbrSlope(w window, c color.NRGBA) (legX, legY int, with color.NRGBA) {
	side, below := w.at(1, 0), w.at(0, 1)
	if same(c, side) || same(c, below) {
		return 0, 0, c
	}
	diagonal := w.at(1, 1)
	up, left := w.at(0, -1), w.at(-1, 0)
	upSide, downLeft := w.at(1, -1), w.at(-1, 1)
	farSide, farBelow := w.at(2, 0), w.at(0, 2)
	farSide1, farBelow1 := w.at(2, 1), w.at(1, 2)
	along := distance(c, upSide) + distance(c, downLeft) + distance(diagonal, farBelow) + distance(diagonal, farSide) + 4*distance(below, side)
	across := distance(below, left) + distance(below, farBelow1) + distance(side, farSide1) + distance(side, up) + 4*distance(c, diagonal)
	if along >= across {
		return 0, 0, c
	}
	stairs := same(c, downLeft) || same(c, upSide) ||
		!same(side, up) && !same(side, upSide) || !same(below, left) && !same(below, downLeft) ||
		same(c, diagonal) && (!same(side, farSide) && !same(side, farSide1) || !same(below, farBelow) && !same(below, farBelow1))
	if !stairs {
		return 0, 0, c
	}
	if distance(c, side) <= distance(c, below) {
		return 2, 2, side
	}
	return 2, 2, below
}

// same is xBR's test for one colour.
func same(p, q color.NRGBA) bool { return distance(p, q) < 155 }

// cut mixes a colour into the cells of a k×k block by how much of each lies in
// the triangle at corner i with the given legs (quarters of the block).
func cut(out raster, x, y, k, i, legX, legY int, with color.NRGBA, strength float32) {
	const samples = 8
	for cy := range k {
		for cx := range k {
			hits := 0
			for s := range samples * samples {
				// The centre of a sample from the corner, in 1/(2·samples·k) of the block.
				px, py := 2*(cx*samples+s%samples)+1, 2*(cy*samples+s/samples)+1
				// px/legX + py/legY < full
				if lhs := px*legY + py*legX; 2*lhs < legX*legY*samples*k {
					hits += 2
				} else if 2*lhs == legX*legY*samples*k {
					hits++
				}
			}
			if hits == 0 {
				continue
			}
			tx, ty := x*k+cx, y*k+cy
			if i%2 == 1 {
				tx = x*k + k - 1 - cx
			}
			if i/2 == 1 {
				ty = y*k + k - 1 - cy
			}
			p := &out.px[ty*out.w+tx]
			*p = premultipliedMix(*p, with, strength*float32(hits)/(2*samples*samples))
		}
	}
}

// premultipliedMix mixes so that the colour of a transparent pixel does not show.
func premultipliedMix(a, b color.NRGBA, w float32) color.NRGBA {
	if a == b || w <= 0 {
		return a
	}
	wa, wb := (1-w)*float32(a.A), w*float32(b.A)
	alpha := wa + wb
	if alpha == 0 {
		return color.NRGBA{}
	}
	ch := func(p, q uint8) uint8 { return rounded((float32(p)*wa + float32(q)*wb) / alpha) }
	return color.NRGBA{R: ch(a.R, b.R), G: ch(a.G, b.G), B: ch(a.B, b.B), A: rounded(alpha)}
}
