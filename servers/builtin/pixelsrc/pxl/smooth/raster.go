package smooth

import (
	"image"
	"image/color"
	"math"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/colour"
)

// raster is an image as a plain slice of pixels.
type raster struct {
	w, h int
	px   []color.NRGBA
}

func newRaster(w, h int) raster { return raster{w, h, make([]color.NRGBA, w*h)} }

func view(img *image.NRGBA) raster {
	b := img.Bounds()
	r := newRaster(b.Dx(), b.Dy())
	for y := range r.h {
		row := img.Pix[y*img.Stride:]
		for x := range r.w {
			p := row[4*x : 4*x+4 : 4*x+4]
			r.px[y*r.w+x] = color.NRGBA{R: p[0], G: p[1], B: p[2], A: p[3]}
		}
	}
	return r
}

func (r raster) image() *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, r.w, r.h))
	for i, c := range r.px {
		p := img.Pix[4*i : 4*i+4 : 4*i+4]
		p[0], p[1], p[2], p[3] = c.R, c.G, c.B, c.A
	}
	return img
}

// at reads a pixel; outside, the nearest border pixel.
func (r raster) at(x, y int) color.NRGBA {
	return r.px[min(max(y, 0), r.h-1)*r.w+min(max(x, 0), r.w-1)]
}

// each visits the pixels of a picture, row by row, until it is stopped.
func (r raster) each(o Options, visit func(x, y int, c color.NRGBA)) {
	for y := 0; y < r.h && !o.stopped(); y++ {
		for x := range r.w {
			visit(x, y, r.px[y*r.w+x])
		}
	}
}

// flat reports whether a pixel has the colour of all eight around it.
func (r raster) flat(x, y int) bool {
	c := r.px[y*r.w+x]
	for j := max(y-1, 0); j <= min(y+1, r.h-1); j++ {
		for i := max(x-1, 0); i <= min(x+1, r.w-1); i++ {
			if r.px[j*r.w+i] != c {
				return false
			}
		}
	}
	return true
}

// block fills the k×k block of a pixel.
func (r raster) block(x, y, k int, c color.NRGBA) {
	for j := range k {
		row := r.px[(y*k+j)*r.w+x*k:][:k]
		for i := range row {
			row[i] = c
		}
	}
}

// Scale makes every pixel a k×k block.
func Scale(img *image.NRGBA, k int) *image.NRGBA {
	b := img.Bounds()
	w, h := b.Dx(), b.Dy()
	out := image.NewNRGBA(image.Rect(0, 0, w*k, h*k))
	for y := range h {
		in := img.Pix[y*img.Stride:][:4*w]
		row := out.Pix[y*k*out.Stride:][:4*w*k]
		for x := range w {
			p := in[4*x : 4*x+4]
			for i := range k {
				copy(row[4*(x*k+i):], p)
			}
		}
		for j := 1; j < k; j++ {
			copy(out.Pix[(y*k+j)*out.Stride:], row)
		}
	}
	return out
}

// mix is colour.Lerp with the weight held in 0…1.
func mix(a, b color.NRGBA, w float32) color.NRGBA {
	if a == b {
		return a
	}
	return colour.Lerp(a, b, w)
}

// avg halves two colours channel by channel, rounding down.
func avg(a, b color.NRGBA) color.NRGBA {
	half := func(p, q uint8) uint8 { return uint8((int(p) + int(q)) / 2) }
	return color.NRGBA{R: half(a.R, b.R), G: half(a.G, b.G), B: half(a.B, b.B), A: half(a.A, b.A)}
}

func abs(f float32) float32 { return float32(math.Abs(float64(f))) }
