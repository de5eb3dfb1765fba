// Package quant reduces the colours of an image by median cut in CIE L*a*b*.
package quant

import (
	"cmp"
	"context"
	"image"
	"image/color"
	"math"
	"slices"
)

// Result is a reduced set of colours and what each original colour became.
type Result struct {
	// Palette has at most the asked number of colours; the transparent one, if
	// there is one, comes last.
	Palette []color.NRGBA
	// Of maps every colour of the image to its place in Palette.
	Of map[color.NRGBA]int
	// Distinct is the number of colours before, all transparent ones as one.
	Distinct int
}

// sample is one distinct colour, with its place in L*a*b* and alpha on a scale
// of 0 to 100.
type sample struct {
	c  color.NRGBA
	n  int
	at [4]float64
}

// Colours counts the distinct colours of an image, in the order of their first
// pixel; all with alpha 0 are the zero colour.
func Colours(img *image.NRGBA) (order []color.NRGBA, count map[color.NRGBA]int) {
	b := img.Bounds()
	count = make(map[color.NRGBA]int)
	var last color.NRGBA
	run := 0
	flush := func() {
		if run > 0 {
			if _, ok := count[last]; !ok {
				order = append(order, last)
			}
			count[last] += run
		}
		run = 0
	}
	for y := range b.Dy() {
		row := img.Pix[y*img.Stride:]
		for x := range b.Dx() {
			c := color.NRGBA{R: row[4*x], G: row[4*x+1], B: row[4*x+2], A: row[4*x+3]}
			if c.A == 0 {
				c = color.NRGBA{}
			}
			if c != last {
				flush()
				last = c
			}
			run++
		}
	}
	flush()
	return order, count
}

// often is how many colours are worked on before the context is asked again.
const often = 1 << 12

// Reduce finds at most limit colours (at least 2) for an image. With no more
// than that in it, they are kept as they are. The error is that of ctx.
func Reduce(ctx context.Context, img *image.NRGBA, limit int) (Result, error) {
	limit = max(limit, 2)
	order, count := Colours(img)
	r := Result{Distinct: len(order), Of: make(map[color.NRGBA]int, len(order))}
	transparent := count[color.NRGBA{}] > 0
	var rest []sample
	linear := newCurve()
	for i, c := range order {
		if i%often == 0 && ctx.Err() != nil {
			return Result{}, ctx.Err()
		}
		if c.A > 0 {
			rest = append(rest, sample{c, count[c], linear.place(c)})
		}
	}
	budget := limit
	if transparent {
		budget--
	}
	if len(rest) <= budget {
		for _, s := range rest {
			r.Of[s.c] = len(r.Palette)
			r.Palette = append(r.Palette, s.c)
		}
	} else {
		chosen := cut(ctx, rest, budget)
		for _, s := range chosen {
			r.Palette = append(r.Palette, s.c)
		}
		for i, s := range rest {
			if i%often == 0 && ctx.Err() != nil {
				return Result{}, ctx.Err()
			}
			r.Of[s.c] = nearest(chosen, s.at)
		}
	}
	if transparent {
		r.Of[color.NRGBA{}] = len(r.Palette)
		r.Palette = append(r.Palette, color.NRGBA{})
	}
	return r, ctx.Err()
}

// cut chooses colours for all: it splits boxes until there are enough, or ctx ends.
// A box is a list of indices into all, which is sorted by bytes.
func cut(ctx context.Context, all []sample, budget int) []sample {
	slices.SortFunc(all, func(a, b sample) int { return cmp.Compare(bytes(a.c), bytes(b.c)) })
	first := box{members: make([]int32, len(all))}
	for i, s := range all {
		first.members[i] = int32(i)
		first.pixels += s.n
	}
	boxes := []box{first}
	keys := make([]key, len(all))
	for len(boxes) < budget && ctx.Err() == nil {
		pick := -1
		for i, b := range boxes {
			if len(b.members) > 1 && (pick < 0 || b.pixels >= boxes[pick].pixels) {
				pick = i
			}
		}
		if pick < 0 {
			break
		}
		left, right := boxes[pick].split(all, keys)
		boxes = append(slices.Delete(boxes, pick, pick+1), left, right)
	}
	out := make([]sample, len(boxes))
	for i, b := range boxes {
		out[i] = representative(b.of(all))
	}
	return out
}

// box is a set of colours that will become one.
type box struct {
	members []int32
	pixels  int
}

// key is a member with its place on the axis that is split.
type key struct {
	v float64
	i int32
}

func (b box) of(all []sample) []sample {
	list := make([]sample, len(b.members))
	for i, m := range b.members {
		list[i] = all[m]
	}
	return list
}

// split cuts a box along its widest axis so that each half has about as many
// pixels; keys is scratch space.
func (b box) split(all []sample, keys []key) (left, right box) {
	axis, widest := 0, -1.0
	for i := range 4 {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, m := range b.members {
			v := all[m].at[i]
			lo, hi = min(lo, v), max(hi, v)
		}
		if hi-lo > widest {
			axis, widest = i, hi-lo
		}
	}
	keys = keys[:len(b.members)]
	for i, m := range b.members {
		keys[i] = key{all[m].at[axis], m}
	}
	slices.SortFunc(keys, func(a, b key) int {
		switch {
		case a.v < b.v:
			return -1
		case a.v > b.v:
			return 1
		}
		return int(a.i - b.i)
	})
	sum, at := 0, -1
	for i, k := range keys {
		b.members[i] = k.i
		if at < 0 {
			left.pixels = sum + all[k.i].n
			if sum = left.pixels; sum >= b.pixels/2 {
				at = i
			}
		}
	}
	if at++; at == len(keys) {
		at--
		left.pixels -= all[b.members[at]].n
	}
	left.members, right.members = b.members[:at:at], b.members[at:]
	right.pixels = b.pixels - left.pixels
	return left, right
}

// bytes is a colour as a number, red first.
func bytes(c color.NRGBA) uint32 {
	return uint32(c.R)<<24 | uint32(c.G)<<16 | uint32(c.B)<<8 | uint32(c.A)
}

func representative(box []sample) sample {
	var mean [4]float64
	total := 0.0
	for _, s := range box {
		total += float64(s.n)
	}
	for _, s := range box {
		for i, v := range s.at {
			mean[i] += v * float64(s.n)
		}
	}
	for i := range mean {
		mean[i] /= total
	}
	return box[nearest(box, mean)]
}

func nearest(list []sample, to [4]float64) int {
	best, least := 0, math.Inf(1)
	for i, s := range list {
		var d float64
		for k, v := range s.at {
			d += (v - to[k]) * (v - to[k])
		}
		if d < least {
			best, least = i, d
		}
	}
	return best
}

// curve is the linear light of each channel value.
type curve [256]float64

func newCurve() *curve {
	var t curve
	for v := range t {
		if f := float64(v) / 255; f <= 0.04045 {
			t[v] = f / 12.92
		} else {
			t[v] = math.Pow((f+0.055)/1.055, 2.4)
		}
	}
	return &t
}

// place is a colour in L*a*b* (D65), with alpha as a fourth axis.
func (t *curve) place(c color.NRGBA) [4]float64 {
	r, g, b := t[c.R], t[c.G], t[c.B]
	const d = 6.0 / 29
	f := func(t float64) float64 {
		if t > d*d*d {
			return math.Cbrt(t)
		}
		return t/(3*d*d) + 4.0/29
	}
	x := f((0.4124564*r + 0.3575761*g + 0.1804375*b) / 0.95047)
	y := f(0.2126729*r + 0.7151522*g + 0.0721750*b)
	z := f((0.0193339*r + 0.1191920*g + 0.9503041*b) / 1.08883)
	return [4]float64{116*y - 16, 500 * (x - y), 200 * (y - z), float64(c.A) / 255 * 100}
}
