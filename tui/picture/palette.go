package picture

import (
	"cmp"
	"image"
	"image/color"
	"slices"
)

// Depth is the number of colours a terminal can show.
type Depth uint8

// The colour depths.
const (
	TrueColor Depth = iota
	Colors256
	Colors16
	NoColor
)

// String returns a description of the depth.
func (d Depth) String() string {
	return [...]string{"24-bit colour", "256 colours", "16 colours", "no colour"}[min(d, NoColor)]
}

// Palette writes colours for a terminal of a given depth. The zero Palette writes 24-bit
// colours. For lower depths, the mapping is done here rather than by a renderer, which might
// map two colours of a sprite to the same one.
type Palette struct {
	Depth Depth
	// index maps the picture's colours to terminal colours; others use the nearest.
	index map[color.NRGBA]uint8
}

// distinctLimit is the maximum number of colours that a palette keeps distinct.
const distinctLimit = 48

// newPalette returns the palette for a picture. With few colours (a sprite), each gets its
// own terminal colour, the best-matching pairs first; with many, each uses the nearest.
func newPalette(d Depth, c Cells) Palette {
	p := Palette{Depth: d}
	if d != Colors256 && d != Colors16 {
		return p
	}
	seen := map[color.NRGBA]bool{}
	var list []color.NRGBA
	for _, cell := range c.Cells {
		for _, one := range [...]color.NRGBA{cell.BG, cell.FG} {
			if one.A != 0 && !seen[one] {
				seen[one] = true
				list = append(list, one)
			}
		}
	}
	fixed := terminalColours(d)
	p.index = make(map[color.NRGBA]uint8, len(list))
	if len(list) <= min(distinctLimit, len(fixed)) {
		p.assignDistinct(list, fixed)
		return p
	}
	for _, one := range list {
		p.index[one] = nearest(fixed, toLab(one))
	}
	return p
}

func (p *Palette) assignDistinct(list []color.NRGBA, fixed []terminalColour) {
	type pair struct {
		colour, slot int
		d            float64
	}
	pairs := make([]pair, 0, len(list)*len(fixed))
	for i, one := range list {
		at := toLab(one)
		for j := range fixed {
			pairs = append(pairs, pair{i, j, at.distance(fixed[j].at)})
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(a.d, b.d) })
	taken := make([]bool, len(fixed))
	for _, one := range pairs {
		if _, done := p.index[list[one.colour]]; done || taken[one.slot] {
			continue
		}
		taken[one.slot] = true
		p.index[list[one.colour]] = fixed[one.slot].index
	}
}

// code appends the SGR parameters for a colour. Alpha 0 selects the terminal's default.
func (p Palette) code(buf []byte, c color.NRGBA, background bool) []byte {
	base := 30
	if background {
		base = 40
	}
	switch {
	case c.A == 0:
		return appendInt(buf, base+9)
	case p.Depth == TrueColor:
		buf = append(appendInt(buf, base+8), ";2;"...)
		buf = append(appendInt(buf, int(c.R)), ';')
		buf = append(appendInt(buf, int(c.G)), ';')
		return appendInt(buf, int(c.B))
	}
	n, ok := p.index[c]
	if !ok {
		n = nearest(terminalColours(p.Depth), toLab(c))
	}
	switch {
	case p.Depth == Colors256:
		buf = append(appendInt(buf, base+8), ";5;"...)
		return appendInt(buf, int(n))
	case n < 8:
		return appendInt(buf, base+int(n))
	}
	return appendInt(buf, base+60+int(n)-8)
}

type terminalColour struct {
	index  uint8
	colour color.NRGBA
	at     lab
}

// terminalColours returns the colours a picture may use. For 256 colours these are the 240
// fixed ones, because users change the first 16; for 16 they are xterm's values.
func terminalColours(d Depth) []terminalColour {
	if d == Colors16 {
		return sixteen()
	}
	return fixed240()
}

func nearest(list []terminalColour, at lab) uint8 {
	best, distance := list[0].index, at.distance(list[0].at)
	for i := 1; i < len(list); i++ {
		if d := at.distance(list[i].at); d < distance {
			best, distance = list[i].index, d
		}
	}
	return best
}

// dither maps every pixel of img to one of the colours of a depth and spreads the error to
// its neighbours (Floyd–Steinberg in OKLab). It is for photos and screenshots below 24-bit
// colour. Pass one pixel per half cell and fit the result with [Half]. At other depths,
// dither returns img itself.
func dither(img *image.NRGBA, d Depth) *image.NRGBA {
	if d != Colors256 && d != Colors16 {
		return img
	}
	list := terminalColours(d)
	byIndex := map[uint8]*terminalColour{}
	for i := range list {
		byIndex[list[i].index] = &list[i]
	}
	b := img.Bounds()
	out := image.NewNRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	here, below := make([]lab, b.Dx()+2), make([]lab, b.Dx()+2)
	for y := range b.Dy() {
		clear(below)
		for x := range b.Dx() {
			p := img.Pix[y*img.Stride+4*x:]
			if p[3] < opaqueFrom {
				continue
			}
			want := toLab(color.NRGBA{p[0], p[1], p[2], 255}).plus(here[x+1], 1)
			got := byIndex[nearest(list, want)]
			out.SetNRGBA(x, y, got.colour)
			miss := want.plus(got.at, -1)
			here[x+2] = here[x+2].plus(miss, 7.0/16)
			below[x] = below[x].plus(miss, 3.0/16)
			below[x+1] = below[x+1].plus(miss, 5.0/16)
			below[x+2] = below[x+2].plus(miss, 1.0/16)
		}
		here, below = below, here
	}
	return out
}
