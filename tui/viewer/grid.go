package viewer

import (
	"image"
	"image/color"
	"image/draw"
	"strings"

	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/picture"
)

// tile is the side of the tiles that the grid marks, in pixels.
const tile = 8

// ruler is the frame round a picture in text: ticks where tiles begin.
type ruler struct {
	top  string   // over the picture, with the corner
	left []string // beside each row
}

// rulerOf draws the ticks for a view. Where tiles are too small to be told apart, they
// stand for 16, 32 … pixels.
func rulerOf(th *theme.Theme, w view, repeat image.Point) ruler {
	tick, side, corner := "┬", "├", "┌"
	if th.Glyph.ASCII {
		tick, side, corner = "+", "+", "+"
	}
	across, down := w.pitch(repeat, image.Pt(2, 1))
	line := func(n, from, to, unit, step int, rest, mark string) []string {
		out := make([]string, n)
		for i := range out {
			// The cell holds the pixels from a to b; one of them begins a tile.
			a, b := from+i*unit/w.factor, min(from+((i+1)*unit-1)/w.factor, to-1)
			begins := a%step == 0 && i*unit%w.factor == 0
			if begins || a/step != b/step {
				out[i] = mark
			} else {
				out[i] = rest
			}
		}
		return out
	}
	var r ruler
	for _, one := range line(w.rows, w.crop.Min.Y, w.crop.Max.Y, w.room.UnitH*w.divisor, down, th.Glyph.Frame.Left, side) {
		r.left = append(r.left, th.Faint.Render(one))
	}
	if w.wide {
		w.factor = 2
	}
	top := line(w.cols, w.crop.Min.X, w.crop.Max.X, w.room.UnitW*w.divisor, across, th.Glyph.Frame.Top, tick)
	r.top = th.Faint.Render(corner + strings.Join(top, ""))
	return r
}

// pitch is how many pixels there are from tick to tick, so that at least least cells are
// between them. A picture that repeats has ticks where it begins anew.
func (w view) pitch(repeat, least image.Point) (across, down int) {
	step := func(tile, unit, least int) int {
		for tile*w.factor < least*unit {
			tile *= 2
		}
		return tile
	}
	x, y := tile, tile
	if repeat != (image.Point{}) {
		x, y = repeat.X, repeat.Y
	}
	return step(x, w.room.UnitW*w.divisor, least.X), step(y, w.room.UnitH*w.divisor, least.Y)
}

// drawGrid draws a line at the left and upper side of each pixel, a stronger one where a
// tile begins. The picture's upper left is the pixel from.
func drawGrid(img *image.NRGBA, factor int, from image.Point) {
	b := img.Bounds()
	alpha := func(at, from int) uint8 {
		switch pixel := from + at/factor; {
		case at%factor != 0:
			return 0
		case pixel%tile == 0:
			return 200
		}
		return 110
	}
	for y := range b.Dy() {
		for x := range b.Dx() {
			if a := max(alpha(x, from.X), alpha(y, from.Y)); a > 0 {
				img.SetNRGBA(x, y, picture.Mix(img.NRGBAAt(x, y), color.NRGBA{128, 128, 128, a}))
			}
		}
	}
}

// standsOut is black or white, whichever is farther from c.
func standsOut(c color.NRGBA) color.NRGBA {
	white := color.NRGBA{255, 255, 255, 255}
	if picture.Difference(c, white) < 45 {
		return color.NRGBA{0, 0, 0, 255}
	}
	return white
}

// drawCursor marks a pixel in a colour that stands out from it: by a frame where there
// is room, else by filling it.
func drawCursor(img *image.NRGBA, at image.Point, factor int) {
	r := image.Rect(at.X*factor, at.Y*factor, (at.X+1)*factor, (at.Y+1)*factor).Intersect(img.Bounds())
	if r.Empty() {
		return
	}
	if factor < 4 {
		fillUnit(img, r)
		return
	}
	mark := standsOut(img.NRGBAAt((r.Min.X+r.Max.X)/2, (r.Min.Y+r.Max.Y)/2))
	drawFrame(img, r, max(1, factor/10), mark)
}

// drawFrame draws the sides of a rectangle.
func drawFrame(img *image.NRGBA, r image.Rectangle, thick int, c color.NRGBA) {
	inside := r.Inset(thick)
	for _, side := range [...]image.Rectangle{
		{r.Min, image.Pt(r.Max.X, inside.Min.Y)},
		{image.Pt(r.Min.X, inside.Max.Y), r.Max},
		{r.Min, image.Pt(inside.Min.X, r.Max.Y)},
		{image.Pt(inside.Max.X, r.Min.Y), r.Max},
	} {
		draw.Draw(img, side, image.NewUniform(c), image.Point{}, draw.Src)
	}
}

// fillUnit marks the pixels that share the cursor's place on the screen.
func fillUnit(img *image.NRGBA, r image.Rectangle) {
	r = r.Intersect(img.Bounds())
	if r.Empty() {
		return
	}
	mark := standsOut(img.NRGBAAt((r.Min.X+r.Max.X)/2, (r.Min.Y+r.Max.Y)/2))
	draw.Draw(img, r, image.NewUniform(mark), image.Point{}, draw.Src)
}

// drawRing marks a place that is too small to be framed: white round it, black round that.
func drawRing(img *image.NRGBA, at image.Point) {
	for d, c := range map[int]color.NRGBA{3: {255, 255, 255, 255}, 4: {0, 0, 0, 255}} {
		drawFrame(img, image.Rect(at.X-d, at.Y-d, at.X+d+1, at.Y+d+1), 1, c)
	}
}
