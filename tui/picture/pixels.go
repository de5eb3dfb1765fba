package picture

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
)

// ToNRGBA converts an image to NRGBA with its top left corner at the origin. An image that
// already has this form is returned as is.
func ToNRGBA(img image.Image) *image.NRGBA {
	b := img.Bounds()
	if n, ok := img.(*image.NRGBA); ok && b.Min == (image.Point{}) {
		return n
	}
	out := image.NewNRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	if from, ok := img.(*image.RGBA); ok && from.Opaque() {
		// Opaque: straight and premultiplied alpha are the same bytes.
		for y := range b.Dy() {
			copy(out.Pix[y*out.Stride:(y+1)*out.Stride], from.Pix[y*from.Stride:])
		}
		return out
	}
	draw.Draw(out, out.Bounds(), img, b.Min, draw.Src)
	return out
}

// Scale enlarges img by a whole factor: each pixel becomes a square of side factor.
func Scale(img *image.NRGBA, factor int) *image.NRGBA {
	b := img.Bounds()
	if factor <= 1 {
		return img
	}
	out := image.NewNRGBA(image.Rect(0, 0, b.Dx()*factor, b.Dy()*factor))
	for y := range b.Dy() {
		line := out.Pix[y*factor*out.Stride : (y*factor+1)*out.Stride]
		for x := range b.Dx() {
			p := img.Pix[y*img.Stride+4*x : y*img.Stride+4*x+4]
			for i := range factor {
				copy(line[4*(x*factor+i):], p)
			}
		}
		for i := 1; i < factor; i++ {
			copy(out.Pix[(y*factor+i)*out.Stride:], line)
		}
	}
	return out
}

// Pad enlarges img to at least w by h pixels, adding transparency on the right and bottom.
func Pad(img *image.NRGBA, w, h int) *image.NRGBA {
	b := img.Bounds()
	if b.Dx() >= w && b.Dy() >= h {
		return img
	}
	out := image.NewNRGBA(image.Rect(0, 0, max(w, b.Dx()), max(h, b.Dy())))
	for y := range b.Dy() {
		copy(out.Pix[y*out.Stride:], img.Pix[y*img.Stride:y*img.Stride+4*b.Dx()])
	}
	return out
}

// Checker is the checkerboard drawn behind transparent pixels.
type Checker struct {
	// Light and Dark alternate. If they are equal, the ground is plain.
	Light, Dark color.NRGBA
	// Square is the side of a square in pixels.
	Square int
	// X and Y shift the pattern, for a picture that is cropped on the left or top.
	X, Y int
}

func (c Checker) at(x, y int) color.NRGBA {
	n := max(c.Square, 1)
	if (floorDiv(x+c.X, n)+floorDiv(y+c.Y, n))%2 == 0 {
		return c.Light
	}
	return c.Dark
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Over draws img over a checkerboard. The result is opaque where the checkerboard is.
func Over(img *image.NRGBA, c Checker) *image.NRGBA {
	b := img.Bounds()
	out := image.NewNRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	for y := range b.Dy() {
		for x := range b.Dx() {
			from := y*img.Stride + 4*x
			p := color.NRGBA{img.Pix[from], img.Pix[from+1], img.Pix[from+2], img.Pix[from+3]}
			if p.A != 255 {
				p = Mix(c.at(x, y), p)
			}
			to := y*out.Stride + 4*x
			out.Pix[to], out.Pix[to+1], out.Pix[to+2], out.Pix[to+3] = p.R, p.G, p.B, p.A
		}
	}
	return out
}

// Mix composites over on under, both with straight alpha.
func Mix(under, over color.NRGBA) color.NRGBA {
	if over.A == 255 || under.A == 0 {
		return over
	}
	if over.A == 0 {
		return under
	}
	a, rest := uint32(over.A)*255, uint32(under.A)*uint32(255-over.A)
	all := a + rest
	channel := func(o, u uint8) uint8 { return uint8((uint32(o)*a + uint32(u)*rest + all/2) / all) }
	return color.NRGBA{channel(over.R, under.R), channel(over.G, under.G), channel(over.B, under.B), uint8((all + 127) / 255)}
}

// Hex formats a colour as #rrggbb, followed by its alpha if it is not opaque.
func Hex(c color.NRGBA) string {
	if c.A == 255 {
		return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)
	}
	return fmt.Sprintf("#%02x%02x%02x%02x", c.R, c.G, c.B, c.A)
}
