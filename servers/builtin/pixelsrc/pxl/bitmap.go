package pxl

import (
	"encoding/binary"
	"image"
	"image/color"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/shape"
)

// noToken marks a pixel that no region painted.
const noToken = ^uint16(0)

// bitmap is a picture in straight-alpha RGBA and, where someone needs it, the number
// of the region that painted each pixel. A bitmap handed out by a cache is not written to.
type bitmap struct {
	w, h int
	pix  []byte
	tok  []uint16
}

func newBitmap(w, h int, withTokens bool) *bitmap {
	b := &bitmap{w: w, h: h, pix: make([]byte, 4*w*h)}
	if withTokens {
		b.tok = make([]uint16, w*h)
		for i := range b.tok {
			b.tok[i] = noToken
		}
	}
	return b
}

// standIn is the one transparent pixel that replaces what cannot be drawn.
func standIn(withTokens bool) *bitmap { return newBitmap(1, 1, withTokens) }

func (b *bitmap) image() *image.NRGBA {
	return &image.NRGBA{Pix: b.pix, Stride: 4 * b.w, Rect: image.Rect(0, 0, b.w, b.h)}
}

func fromImage(m *image.NRGBA) *bitmap {
	return &bitmap{w: m.Rect.Dx(), h: m.Rect.Dy(), pix: m.Pix}
}

func (b *bitmap) clone() *bitmap {
	return &bitmap{w: b.w, h: b.h, pix: slices.Clone(b.pix), tok: slices.Clone(b.tok)}
}

// plain is the picture without what painted it, with room for that if it is wanted.
func (b *bitmap) plain(withTokens bool) *bitmap {
	out := &bitmap{w: b.w, h: b.h, pix: b.pix}
	if withTokens {
		out.tok = newBitmap(b.w, b.h, true).tok
	}
	return out
}

func pack(c color.NRGBA) uint32 {
	return uint32(c.R) | uint32(c.G)<<8 | uint32(c.B)<<16 | uint32(c.A)<<24
}

func unpack(v uint32) color.NRGBA {
	return color.NRGBA{R: uint8(v), G: uint8(v >> 8), B: uint8(v >> 16), A: uint8(v >> 24)}
}

// at reads pixel i (y·w + x) as four packed bytes.
func (b *bitmap) at(i int) uint32 { return binary.LittleEndian.Uint32(b.pix[4*i:]) }

func (b *bitmap) put(i int, v uint32) { binary.LittleEndian.PutUint32(b.pix[4*i:], v) }

func (b *bitmap) alpha(i int) uint8 { return b.pix[4*i+3] }

// paint writes one colour to every pixel of a set that lies on the bitmap and
// returns how many that were.
func (b *bitmap) paint(s shape.Set, c color.NRGBA, token uint16) int {
	n := 0
	v := pack(c)
	for _, r := range s {
		if r.Y < 0 || int(r.Y) >= b.h {
			continue
		}
		x0, x1 := max(int(r.X0), 0), min(int(r.X1), b.w)
		if x0 >= x1 {
			continue
		}
		n += x1 - x0
		from := int(r.Y)*b.w + x0
		row := b.pix[4*from : 4*(from+x1-x0)]
		for len(row) >= 4 {
			binary.LittleEndian.PutUint32(row, v)
			row = row[4:]
		}
		if b.tok != nil {
			t := b.tok[from : from+x1-x0]
			for i := range t {
				t[i] = token
			}
		}
	}
	return n
}

// axes makes a bitmap whose column x shows column xs[x] and whose row y shows row
// ys[y] of b; -1 is transparent.
func (b *bitmap) axes(xs, ys []int) *bitmap {
	out := newBitmap(len(xs), len(ys), b.tok != nil)
	for y, sy := range ys {
		if sy < 0 {
			continue
		}
		for x, sx := range xs {
			if sx >= 0 {
				out.take(y*out.w+x, b, sy*b.w+sx)
			}
		}
	}
	return out
}

// take copies pixel j of src to pixel i.
func (b *bitmap) take(i int, src *bitmap, j int) {
	b.put(i, src.at(j))
	if b.tok != nil && src.tok != nil {
		b.tok[i] = src.tok[j]
	}
}

// span gives n numbers of which number i is f(i).
func span(n int, f func(i int) int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = f(i)
	}
	return out
}

func same(i int) int { return i }

// within gives a reader of an axis of length n that answers -1 outside of it.
func within(n, shift int) func(int) int {
	return func(i int) int {
		if i += shift; i < 0 || i >= n {
			return -1
		}
		return i
	}
}
