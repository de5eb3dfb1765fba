// Package frames writes several pictures to one file: an animated GIF, a sprite
// sheet, or an atlas with its description.
package frames

import (
	"context"
	"image"
	"image/color"
	"image/draw"
	"io"
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/quant"
)

// Frame is one picture of an animation and how long it stands; of a picture that stands
// alone, Duration is 0.
type Frame struct {
	Image    *image.NRGBA
	Duration time.Duration
	Name     string // of the sprite or composition it shows, where one is
}

// Pixels is how many it has.
func (f Frame) Pixels() int { return f.Image.Rect.Dx() * f.Image.Rect.Dy() }

// Bounds is the common size of all frames: the largest width and height.
func Bounds(list []Frame) (w, h int) {
	for _, f := range list {
		b := f.Image.Bounds()
		w, h = max(w, b.Dx()), max(h, b.Dy())
	}
	return w, h
}

// writer takes nothing more once ctx has ended.
type writer struct {
	ctx context.Context //nolint:containedctx // that of one call of GIF
	io.Writer
}

func (w writer) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.Writer.Write(p)
}

// indexer maps colours to entries of a palette whose first is transparent.
type indexer struct {
	palette color.Palette
	of      map[color.NRGBA]uint8
}

// flat is a colour as a GIF can show it.
func flat(c color.NRGBA) color.NRGBA {
	if c.A == 0 {
		return color.NRGBA{}
	}
	c.A = 255
	return c
}

// newIndexer has the exact colours of some frames, or is nil when they are too many.
func newIndexer(list []Frame) *indexer {
	seen := map[color.NRGBA]bool{}
	for _, f := range list {
		order, _ := quant.Colours(f.Image)
		for _, c := range order {
			if c.A > 0 {
				seen[flat(c)] = true
			}
		}
		if len(seen) > 255 {
			return nil
		}
	}
	all := make([]color.NRGBA, 0, len(seen))
	for c := range seen {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b color.NRGBA) int { return order(a) - order(b) })
	return indexed(all)
}

func order(c color.NRGBA) int { return int(c.R)<<16 | int(c.G)<<8 | int(c.B) }

func indexed(opaque []color.NRGBA) *indexer {
	ix := &indexer{palette: color.Palette{color.NRGBA{}}, of: map[color.NRGBA]uint8{{}: 0}}
	for _, c := range opaque {
		ix.of[c] = uint8(len(ix.palette))
		ix.palette = append(ix.palette, c)
	}
	for n := len(ix.palette); n < 2 || n&(n-1) != 0; n++ {
		ix.palette = append(ix.palette, color.NRGBA{A: 255})
	}
	return ix
}

// reduced has 255 colours that stand for those of one image.
func reduced(ctx context.Context, img *image.NRGBA) (*indexer, error) {
	solid := image.NewNRGBA(image.Rect(0, 0, img.Bounds().Dx(), img.Bounds().Dy()))
	draw.Draw(solid, solid.Rect, img, img.Bounds().Min, draw.Src)
	for i := 3; i < len(solid.Pix); i += 4 {
		if solid.Pix[i] > 0 {
			solid.Pix[i] = 255
		}
	}
	r, err := quant.Reduce(ctx, solid, 256)
	if err != nil {
		return nil, err
	}
	ix := indexed(slices.DeleteFunc(slices.Clone(r.Palette), func(c color.NRGBA) bool { return c.A == 0 }))
	for c, at := range r.Of {
		if c.A > 0 {
			ix.of[c] = uint8(at + 1)
		}
	}
	return ix, nil
}

// Grid is how n pictures stand on a sheet: columns in a row, with columns 0 all of them.
func Grid(n, columns int) (cols, rows int) {
	if columns < 1 || columns > n {
		columns = n
	}
	return columns, (n + columns - 1) / max(columns, 1)
}

// Sheet lays frames out in cells of the largest size, each at the top left of its cell, on a
// [Grid].
func Sheet(list []Frame, columns int) *image.NRGBA {
	w, h := Bounds(list)
	columns, rows := Grid(len(list), columns)
	out := image.NewNRGBA(image.Rect(0, 0, w*columns, h*rows))
	for i, f := range list {
		place(out, f.Image, i%columns*w, i/columns*h)
	}
	return out
}

// place copies a picture, alpha included.
func place(out, img *image.NRGBA, x, y int) {
	b := img.Bounds()
	for j := range b.Dy() {
		copy(out.Pix[(y+j)*out.Stride+4*x:], img.Pix[j*img.Stride:][:4*b.Dx()])
	}
}
