package picture

import (
	"cmp"
	"image"
	"image/color"
	"slices"
)

// hole is the index of a transparent pixel.
const hole = 0xFFFF

// indexed is a picture with a palette.
type indexed struct {
	w       int
	pix     []uint16
	colours []color.NRGBA
}

// index returns img with a palette of at most limit colours: its own if they fit (compared
// in steps of 1 %, the resolution of sixels), or else the result of quantise.
func index(img *image.NRGBA, limit int) *indexed {
	b := img.Bounds()
	limit = max(2, min(limit, 1024))
	p := &indexed{w: b.Dx(), pix: make([]uint16, b.Dx()*b.Dy())}
	known := map[uint32]uint16{}
	step := map[[3]int]uint16{}
	for i := range p.pix {
		c := img.NRGBAAt(b.Min.X+i%p.w, b.Min.Y+i/p.w)
		if c.A < opaqueFrom {
			p.pix[i] = hole
			continue
		}
		key := uint32(c.R)<<16 | uint32(c.G)<<8 | uint32(c.B)
		at, ok := known[key]
		if !ok {
			in := [3]int{percent(c.R), percent(c.G), percent(c.B)}
			if at, ok = step[in]; !ok {
				if len(p.colours) == limit {
					p.quantise(img, limit)
					return p
				}
				at = uint16(len(p.colours))
				step[in] = at
				c.A = 255
				p.colours = append(p.colours, c)
			}
			known[key] = at
		}
		p.pix[i] = at
	}
	return p
}

// bin counts the pixels of one 5-bit-per-channel colour, with the exact sum of their values.
type bin struct {
	r, g, b, n int
	key        uint16
}

func (b *bin) channel(i int) int { return [3]int{b.r, b.g, b.b}[i] / b.n }

// quantise splits the used colours into limit boxes. Each step splits the box with the
// largest product of longest side and pixels, at the median along that side.
func (p *indexed) quantise(img *image.NRGBA, limit int) {
	b := img.Bounds()
	count := make([]bin, 1<<15)
	keyAt := func(i int) (uint16, color.NRGBA) {
		c := img.NRGBAAt(b.Min.X+i%p.w, b.Min.Y+i/p.w)
		return uint16(c.R>>3)<<10 | uint16(c.G>>3)<<5 | uint16(c.B>>3), c
	}
	for i := range p.pix {
		key, c := keyAt(i)
		if c.A >= opaqueFrom {
			one := &count[key]
			one.key, one.r, one.g, one.b, one.n = key, one.r+int(c.R), one.g+int(c.G), one.b+int(c.B), one.n+1
		}
	}
	var all []bin
	for _, one := range count {
		if one.n > 0 {
			all = append(all, one)
		}
	}
	boxes := []colourBox{newColourBox(all)}
	for len(boxes) < limit {
		at := 0
		for i := range boxes {
			if boxes[i].weight > boxes[at].weight {
				at = i
			}
		}
		if boxes[at].weight == 0 {
			break
		}
		one, other := boxes[at].cut()
		boxes[at] = one
		boxes = append(boxes, other)
	}
	slot := make([]uint16, 1<<15)
	p.colours = p.colours[:0]
	for i := range boxes {
		for _, one := range boxes[i].bins {
			slot[one.key] = uint16(i)
		}
		p.colours = append(p.colours, boxes[i].mean())
	}
	for i := range p.pix {
		p.pix[i] = hole
		if key, c := keyAt(i); c.A >= opaqueFrom {
			p.pix[i] = slot[key]
		}
	}
}

type colourBox struct {
	bins    []bin
	longest int // channel
	weight  int // longest side × pixels; 0 if the box cannot be split
}

func newColourBox(bins []bin) colourBox {
	box := colourBox{bins: bins}
	length, n := 0, 0
	for c := range 3 {
		low, high := 255, 0
		for i := range bins {
			v := bins[i].channel(c)
			low, high = min(low, v), max(high, v)
		}
		if high-low > length {
			length, box.longest = high-low, c
		}
	}
	for i := range bins {
		n += bins[i].n
	}
	if len(bins) > 1 {
		box.weight = length * n
	}
	return box
}

func (b colourBox) cut() (colourBox, colourBox) {
	slices.SortStableFunc(b.bins, func(x, y bin) int {
		return cmp.Compare(x.channel(b.longest), y.channel(b.longest))
	})
	all, sum, at := 0, 0, 0
	for i := range b.bins {
		all += b.bins[i].n
	}
	for at < len(b.bins)-1 && (at == 0 || 2*sum < all) {
		sum += b.bins[at].n
		at++
	}
	return newColourBox(b.bins[:at]), newColourBox(b.bins[at:])
}

func (b colourBox) mean() color.NRGBA {
	var sum bin
	for i := range b.bins {
		one := &b.bins[i]
		sum.r, sum.g, sum.b, sum.n = sum.r+one.r, sum.g+one.g, sum.b+one.b, sum.n+one.n
	}
	if sum.n == 0 {
		return color.NRGBA{A: 255}
	}
	half := sum.n / 2
	return color.NRGBA{uint8((sum.r + half) / sum.n), uint8((sum.g + half) / sum.n), uint8((sum.b + half) / sum.n), 255}
}
