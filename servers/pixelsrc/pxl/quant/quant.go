// Package quant reduces the colours of an image by median cut in CIE L*a*b*.
package quant

import (
	"cmp"
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

// Reduce finds at most limit colours (at least 2) for an image. With no more
// than that in it, they are kept as they are.
func Reduce(img *image.NRGBA, limit int) Result {
	limit = max(limit, 2)
	order, count := Colours(img)
	r := Result{Distinct: len(order), Of: make(map[color.NRGBA]int, len(order))}
	transparent := count[color.NRGBA{}] > 0
	var rest []sample
	for _, c := range order {
		if c.A > 0 {
			rest = append(rest, sample{c, count[c], place(c)})
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
		chosen := cut(rest, budget)
		for _, s := range chosen {
			r.Palette = append(r.Palette, s.c)
		}
		for _, s := range rest {
			r.Of[s.c] = nearest(chosen, s.at)
		}
	}
	if transparent {
		r.Of[color.NRGBA{}] = len(r.Palette)
		r.Palette = append(r.Palette, color.NRGBA{})
	}
	return r
}

func cut(all []sample, budget int) []sample {
	slices.SortFunc(all, byBytes)
	boxes := [][]sample{slices.Clone(all)}
	for len(boxes) < budget {
		pick, most := -1, -1
		for i, box := range boxes {
			if n := pixels(box); len(box) > 1 && n >= most {
				pick, most = i, n
			}
		}
		if pick < 0 {
			break
		}
		left, right := split(boxes[pick], most)
		boxes = append(slices.Delete(boxes, pick, pick+1), left, right)
	}
	out := make([]sample, len(boxes))
	for i, box := range boxes {
		out[i] = representative(box)
	}
	return out
}

func pixels(box []sample) (n int) {
	for _, s := range box {
		n += s.n
	}
	return n
}

func split(box []sample, total int) (left, right []sample) {
	axis, widest := 0, -1.0
	for i := range 4 {
		lo, hi := box[0].at[i], box[0].at[i]
		for _, s := range box[1:] {
			lo, hi = min(lo, s.at[i]), max(hi, s.at[i])
		}
		if hi-lo > widest {
			axis, widest = i, hi-lo
		}
	}
	slices.SortFunc(box, func(a, b sample) int {
		return cmp.Or(cmp.Compare(a.at[axis], b.at[axis]), byBytes(a, b))
	})
	sum, at := 0, 0
	for i, s := range box {
		if sum += s.n; sum >= total/2 {
			at = i
			break
		}
	}
	at = min(at+1, len(box)-1)
	return box[:at:at], box[at:]
}

func byBytes(a, b sample) int {
	return cmp.Or(cmp.Compare(a.c.R, b.c.R), cmp.Compare(a.c.G, b.c.G), cmp.Compare(a.c.B, b.c.B), cmp.Compare(a.c.A, b.c.A))
}

func representative(box []sample) sample {
	var mean [4]float64
	total := float64(pixels(box))
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

// place is a colour in L*a*b* (D65), with alpha as a fourth axis.
func place(c color.NRGBA) [4]float64 {
	linear := func(v uint8) float64 {
		f := float64(v) / 255
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	r, g, b := linear(c.R), linear(c.G), linear(c.B)
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
