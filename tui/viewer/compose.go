package viewer

import (
	"fmt"
	"image"
	"image/color"

	"github.com/mcpdeck/mcpdeck/tui/picture"
)

// composer draws what a view shows. It runs off the update loop, so it holds all it
// needs, and nothing of it changes.
type composer struct {
	p       *Picture
	index   int
	view    view
	mode    picture.Mode
	checker *picture.Checker
	letters *picture.Lettering // set when the picture is written, not drawn

	onion        int
	grid, repeat bool
	cursor       *image.Point
	only         *color.NRGBA
	before       *Picture // set when the changes are to be highlighted
	beforeAt     int
	tolerance    float64
}

func (v *Viewer) composer(p *Picture, index int, vw view, mode picture.Mode) *composer {
	c := &composer{p: p, index: index, view: vw, mode: mode, grid: v.grid, repeat: v.repeat, only: v.only}
	if !v.clock.playing {
		c.onion = v.onion
	}
	if v.cursor && !v.repeat {
		c.cursor = &image.Point{X: v.x, Y: v.y}
	}
	if v.compare == CompareHighlight && v.before != nil && p == v.pic {
		c.before, c.beforeAt, c.tolerance = v.before, min(index, len(v.before.Frames)-1), v.Tolerance()
	}
	return c
}

// key names everything the pixels depend on.
func (c *composer) key() string {
	only, cursor, before, ground := "", "", "", ""
	if c.only != nil {
		only = picture.Hex(*c.only)
	}
	if c.cursor != nil {
		cursor = c.cursor.String()
	}
	if c.before != nil {
		before = fmt.Sprint(c.before.Key, " ", c.tolerance)
	}
	if c.checker != nil {
		ground = picture.Hex(c.checker.Light) + picture.Hex(c.checker.Dark)
	}
	return fmt.Sprintf("%s\x01%d %d/%d %v %s %s %s %s %d %v %v", c.p.Key, c.index, c.view.factor, c.view.divisor, c.view.crop, ground, only, cursor, before, c.onion, c.grid, c.repeat)
}

// compose is the order of layers: onion skins, the frame, highlights, the ground; then
// the scale, and on it grid and cursor.
func (c *composer) compose() *image.NRGBA {
	img := c.p.Frames[c.index].Image
	if c.letters == nil {
		img = c.layers()
	}
	if c.repeat {
		img = threeByThree(img)
	}
	img = crop(img, c.view.crop)
	if c.letters != nil {
		return img
	}
	if d := c.view.divisor; d > 1 && !c.mode.Pixels() {
		// Pixels that share a cell with nothing would be lost beside it: ground to the edge.
		img = picture.Pad(img, c.view.cols*c.view.room.UnitW*d, c.view.rows*c.view.room.UnitH*d)
	}
	if c.checker != nil {
		ground := *c.checker
		ground.X, ground.Y = c.view.crop.Min.X, c.view.crop.Min.Y
		img = picture.Over(img, ground)
	}
	boxW, boxH := c.view.cols*c.view.room.UnitW, c.view.rows*c.view.room.UnitH
	if c.view.factor == 0 || c.view.divisor > 1 {
		return c.shrunk(img, boxW, boxH)
	}
	img = picture.Scale(img, c.view.factor)
	if c.mode.Pixels() && c.grid && c.view.factor >= 8 {
		drawGrid(img, c.view.factor, c.view.crop.Min)
	}
	if c.cursor != nil && c.cursor.In(c.view.crop) {
		if c.view.factor == 1 {
			img = crop(img, img.Bounds()) // Scale gives the same picture back
		}
		drawCursor(img, c.cursor.Sub(c.view.crop.Min), c.view.factor)
	}
	return crop(picture.Pad(img, boxW, boxH), image.Rect(0, 0, boxW, boxH))
}

// shrunk draws what has more pixels than there are units. In text the fitter shrinks, so
// the cursor fills all pixels of its unit; else it is a ring round what is left of them.
func (c *composer) shrunk(img *image.NRGBA, boxW, boxH int) *image.NRGBA {
	w, h := img.Bounds().Dx(), img.Bounds().Dy() // of what fills the box
	d := c.view.divisor
	ring := func(img *image.NRGBA) *image.NRGBA { return img }
	if c.cursor != nil && c.cursor.In(c.view.crop) {
		at := c.cursor.Sub(c.view.crop.Min)
		if !c.mode.Pixels() {
			img = crop(img, img.Bounds())
			across, down := boxW*d, boxH*d // pixels of all units together
			if c.view.factor == 0 {
				across, down = w, h
			}
			x, y := at.X*boxW/across, at.Y*boxH/down
			r := image.Rect(x*across/boxW, y*down/boxH, (x+1)*across/boxW, (y+1)*down/boxH)
			fillUnit(img, r.Union(image.Rectangle{Min: at, Max: at.Add(image.Pt(1, 1))}))
		}
		ring = func(img *image.NRGBA) *image.NRGBA {
			b := img.Bounds()
			drawRing(img, image.Point{X: at.X * b.Dx() / w, Y: at.Y * b.Dy() / h})
			return img
		}
	}
	switch {
	case !c.mode.Pixels() && c.view.factor == 0:
		return img
	case !c.mode.Pixels():
		return picture.Pad(img, boxW*d, boxH*d)
	case c.view.factor == 0:
		return ring(picture.Shrink(img, boxW, boxH))
	}
	return picture.Pad(ring(picture.Shrink(img, max(w/d, 1), max(h/d, 1))), boxW, boxH)
}

// crop copies a part.
func crop(img *image.NRGBA, r image.Rectangle) *image.NRGBA {
	r = r.Intersect(img.Bounds())
	out := image.NewNRGBA(image.Rect(0, 0, r.Dx(), r.Dy()))
	for y := range r.Dy() {
		copy(out.Pix[y*out.Stride:(y+1)*out.Stride], img.Pix[img.PixOffset(r.Min.X, r.Min.Y+y):])
	}
	return out
}

func threeByThree(img *image.NRGBA) *image.NRGBA {
	b := img.Bounds()
	out := image.NewNRGBA(image.Rect(0, 0, 3*b.Dx(), 3*b.Dy()))
	for y := range 3 * b.Dy() {
		row := img.Pix[y%b.Dy()*img.Stride : y%b.Dy()*img.Stride+4*b.Dx()]
		for x := range 3 {
			copy(out.Pix[y*out.Stride+4*x*b.Dx():], row)
		}
	}
	return out
}

func (c *composer) layers() *image.NRGBA {
	img := c.p.Frames[c.index].Image
	if c.onion > 0 && len(c.p.Frames) > 1 {
		img = c.onionSkin(img)
	}
	if c.before != nil {
		img = highlight(difference{c.before.Frames[c.beforeAt].Image, img, c.tolerance})
	}
	if c.only != nil {
		img = onlyColour(img, *c.only)
	}
	return img
}

// onionSkin lays the frame over its neighbours: earlier ones red, later ones blue, the
// nearer the stronger.
func (c *composer) onionSkin(img *image.NRGBA) *image.NRGBA {
	share := [...]uint32{0, 35, 25, 15}
	out := image.NewNRGBA(img.Bounds())
	for k := min(c.onion, len(share)-1); k >= 1; k-- {
		for _, side := range [...]struct {
			at   int
			tint color.NRGBA
		}{{c.index - k, color.NRGBA{255, 60, 60, 255}}, {c.index + k, color.NRGBA{70, 110, 255, 255}}} {
			if side.at < 0 || side.at >= len(c.p.Frames) {
				continue
			}
			each(out, c.p.Frames[side.at].Image, func(under, p color.NRGBA) color.NRGBA {
				tint := side.tint
				tint.A = 150
				a := uint32(p.A) * share[k] / 100
				p.A = 255
				p = picture.Mix(p, tint)
				p.A = uint8(a)
				return picture.Mix(under, p)
			})
		}
	}
	each(out, img, picture.Mix)
	return out
}

// each sets every pixel of out from itself and img's.
func each(out, img *image.NRGBA, f func(under, p color.NRGBA) color.NRGBA) {
	r := out.Bounds().Intersect(img.Bounds())
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			out.SetNRGBA(x, y, f(out.NRGBAAt(x, y), img.NRGBAAt(x, y)))
		}
	}
}

func dimmed(p color.NRGBA) color.NRGBA {
	l := uint8((uint32(p.R)*54 + uint32(p.G)*183 + uint32(p.B)*19) >> 8)
	l = uint8(96 + (int(l)-128)/4)
	return color.NRGBA{l, l, l, p.A}
}

func onlyColour(img *image.NRGBA, only color.NRGBA) *image.NRGBA {
	out := image.NewNRGBA(img.Bounds())
	each(out, img, func(_, p color.NRGBA) color.NRGBA {
		if p == only {
			return p
		}
		return dimmed(p)
	})
	return out
}
