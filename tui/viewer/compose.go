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

	onion        int
	grid, repeat bool
	cursor       *image.Point
	only         *color.NRGBA
	before       *Picture // set when the changes are to be highlighted
	beforeAt     int
}

func (v *Viewer) composer(p *Picture, index int, vw view, mode picture.Mode) *composer {
	c := &composer{p: p, index: index, view: vw, mode: mode, grid: v.grid, repeat: v.repeat, only: v.only}
	if !v.clock.playing {
		c.onion = v.onion
	}
	if v.cursor && !v.repeat && !p.Smooth {
		c.cursor = &image.Point{X: v.x, Y: v.y}
	}
	if v.compare == CompareHighlight && v.before != nil && p == v.pic {
		c.before, c.beforeAt = v.before, min(index, len(v.before.Frames)-1)
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
		before = c.before.Key
	}
	if c.checker != nil {
		ground = picture.Hex(c.checker.Light) + picture.Hex(c.checker.Dark)
	}
	return fmt.Sprintf("%s\x01%d %d/%d %v %s %s %s %s %d %v %v", c.p.Key, c.index, c.view.factor, c.view.divisor, c.view.crop, ground, only, cursor, before, c.onion, c.grid, c.repeat)
}

// compose is the order of layers: onion skins, the frame, highlights, the ground; then
// the scale, and on it grid and cursor.
func (c *composer) compose() *image.NRGBA {
	img := c.layers()
	if c.repeat {
		img = tile(img)
	}
	img = crop(img, c.view.crop)
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
	if c.view.factor == 0 {
		if c.mode.Pixels() {
			return picture.Shrink(img, boxW, boxH)
		}
		return img
	}
	if d := c.view.divisor; d > 1 {
		if !c.mode.Pixels() {
			return picture.Pad(img, boxW*d, boxH*d)
		}
		b := img.Bounds()
		return picture.Pad(picture.Shrink(img, max(b.Dx()/d, 1), max(b.Dy()/d, 1)), boxW, boxH)
	}
	img = picture.Scale(img, c.view.factor)
	if c.mode.Pixels() && c.grid && c.view.factor >= 8 {
		drawGrid(img, c.view.factor)
	}
	if c.cursor != nil && c.cursor.In(c.view.crop) {
		if c.view.factor == 1 {
			img = crop(img, img.Bounds()) // Scale gives the same picture back
		}
		drawCursor(img, c.cursor.Sub(c.view.crop.Min), c.view.factor)
	}
	return crop(picture.Pad(img, boxW, boxH), image.Rect(0, 0, boxW, boxH))
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

func tile(img *image.NRGBA) *image.NRGBA {
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
		img = highlight(c.before.Frames[c.beforeAt].Image, img)
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

// changedAt tells whether a pixel differs; outside one of the pictures it does.
func changedAt(before, after *image.NRGBA, x, y int) bool {
	p := image.Point{X: x, Y: y}
	if !p.In(before.Bounds()) || !p.In(after.Bounds()) {
		return true
	}
	a, b := before.NRGBAAt(x, y), after.NRGBAAt(x, y)
	return a != b && (a.A != 0 || b.A != 0)
}

// highlight shows what changed in full colour over a dim grey copy; what became
// transparent is magenta.
func highlight(before, after *image.NRGBA) *image.NRGBA {
	out := image.NewNRGBA(after.Bounds())
	each(out, after, func(_, p color.NRGBA) color.NRGBA { return dimmed(p) })
	b := after.Bounds()
	for y := range b.Dy() {
		for x := range b.Dx() {
			if !changedAt(before, after, x, y) {
				continue
			}
			p := after.NRGBAAt(x, y)
			if p.A < 16 {
				p = color.NRGBA{255, 0, 255, 255}
			}
			out.SetNRGBA(x, y, p)
		}
	}
	return out
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

// drawGrid draws a line at the left and upper side of each pixel.
func drawGrid(img *image.NRGBA, factor int) {
	line := color.NRGBA{128, 128, 128, 110}
	b := img.Bounds()
	for y := range b.Dy() {
		for x := range b.Dx() {
			if x%factor == 0 || y%factor == 0 {
				img.SetNRGBA(x, y, picture.Mix(img.NRGBAAt(x, y), line))
			}
		}
	}
}

// drawCursor marks a pixel in a colour that stands out from it: by a frame where there
// is room, else by filling it.
func drawCursor(img *image.NRGBA, at image.Point, factor int) {
	r := image.Rect(at.X*factor, at.Y*factor, (at.X+1)*factor, (at.Y+1)*factor).Intersect(img.Bounds())
	if r.Empty() {
		return
	}
	c := img.NRGBAAt((r.Min.X+r.Max.X)/2, (r.Min.Y+r.Max.Y)/2)
	mark := color.NRGBA{255, 255, 255, 255}
	if picture.Difference(c, mark) < 45 {
		mark = color.NRGBA{0, 0, 0, 255}
	}
	thick := 0
	if factor >= 4 {
		thick = max(1, factor/10)
	}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			edge := x < r.Min.X+thick || x >= r.Max.X-thick || y < r.Min.Y+thick || y >= r.Max.Y-thick
			if thick == 0 || edge {
				img.SetNRGBA(x, y, mark)
			}
		}
	}
}
