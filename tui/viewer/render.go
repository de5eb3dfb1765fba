package viewer

import (
	"image"
	"image/color"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/picture"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Render draws the picture in the middle of a box of w by h cells whose upper left is at
// x, y of the frame, and returns the box's rows.
func (v *Viewer) Render(f *tui.Frame, x, y, w, h int) []string {
	v.Advance(f.Now)
	if v.pic == nil || len(v.pic.Frames) == 0 || w <= 0 || h <= 0 {
		v.view = view{}
		return widget.Rows(nil, w, h)
	}
	index, left := v.clock.at(f.Now, v.pic.Frames)
	if f.PictureCaps().Slow {
		index, left = v.throttle(f, index, left)
	}
	v.frame = index
	f.RedrawAfter(left)
	if c, ok := v.Changes(); ok && v.compare != CompareOff && c.Pending {
		f.RedrawAfter(countedAfter)
	}
	if v.compare == CompareSide && v.before != nil {
		return v.renderSides(f, x, y, w, h)
	}
	if v.compare == CompareBlink && v.blink {
		f.RedrawAfter(blinkEvery - time.Duration(f.Now.UnixNano())%blinkEvery)
	}
	shown := v.pic
	if v.Flipped() && v.before != nil {
		shown = v.before
	}
	return v.box(f, v.Slot, shown, x, y, w, h)
}

// slowBytes is how many bytes a second playback may send over a slow connection.
const slowBytes = 100_000

// throttle leaves out frames that a slow connection has no room for yet.
func (v *Viewer) throttle(f *tui.Frame, index int, left time.Duration) (int, time.Duration) {
	least := time.Duration(f.PictureBytes(v.Slot)) * time.Second / slowBytes
	since := f.Now.Sub(v.stepped)
	switch {
	case !v.clock.playing || index == v.frame:
	case since < least && v.frame < len(v.pic.Frames):
		return v.frame, least - since
	default:
		v.stepped = f.Now
	}
	return index, left
}

// renderSides draws the earlier picture left and the later one right, with the same part
// of both in view.
func (v *Viewer) renderSides(f *tui.Frame, x, y, w, h int) []string {
	half := (w - 1) / 2
	before := v.box(f, v.Slot+" before", v.before, x, y, half, h)
	after := v.box(f, v.Slot, v.pic, x+w-half, y, half, h)
	v.boxX += w - half
	gap := strings.Repeat(" ", w-2*half)
	rows := make([]string, h)
	for i := range rows {
		rows[i] = before[i] + gap + after[i]
	}
	return rows
}

// box draws one picture.
func (v *Viewer) box(f *tui.Frame, slot string, p *Picture, x, y, w, h int) []string {
	index := min(v.frame, len(p.Frames)-1)
	caps := f.PictureCaps()
	b := p.Frames[index].Image.Bounds()
	size := b.Size()
	if v.repeat {
		size = size.Mul(3)
	}
	margin := 0 // for the ticks of the grid
	if v.grid && !caps.Mode.Pixels() && !p.Smooth && w > 8 && h > 4 {
		margin = 1
	}
	room := f.PictureRoom(w-margin, h-margin)
	var letters []picture.Letter
	written := false
	if caps.Mode == picture.ModeLetters {
		if letters, written = v.letters(); !written {
			room.UnitH = 2 // by brightness a cell has no one pixel, so its shape counts
		}
	}
	vw := v.layout(p, room, size)
	if vw.cols <= 0 || vw.rows <= 0 {
		return widget.Rows(nil, w, h)
	}
	v.view = vw
	v.panX, v.panY = vw.crop.Min.X, vw.crop.Min.Y
	v.boxX, v.boxY = margin+(w-margin-vw.cols)/2, margin+(h-margin-vw.rows)/2
	c := v.composer(p, index, vw, caps.Mode)
	c.checker = v.checker(f.Theme, caps)
	if written {
		c.letters = c.lettering(letters)
	}
	key := c.key()
	if c.letters != nil && v.before != nil {
		key += "\x01" + v.before.Key // it has letters too
	}
	spec := picture.Spec{
		Letters: c.letters,
		Slot:    slot, Key: key, Cols: vw.cols, Rows: vw.rows, Smooth: p.Smooth, Make: c.compose,
		Now: !caps.Mode.Pixels() && vw.crop.Dx()*vw.crop.Dy()*vw.factor*vw.factor <= atOnce && !p.Smooth,
	}
	lines := f.Picture(x+v.boxX, y+v.boxY, spec)
	ticks := ruler{left: make([]string, vw.rows)}
	if margin > 0 {
		repeat := image.Point{}
		if v.repeat {
			repeat = b.Size()
		}
		ticks = rulerOf(f.Theme, vw, repeat)
	}
	rows := make([]string, h)
	before, after := widget.Blank(v.boxX-margin), widget.Blank(w-v.boxX-vw.cols)
	for i := range rows {
		switch at := i - v.boxY; {
		case at >= 0 && at < len(lines):
			rows[i] = before + ticks.left[at] + lines[at] + after
		case at == -1 && margin > 0:
			rows[i] = before + ticks.top + after
		default:
			rows[i] = widget.Blank(w)
		}
	}
	return rows
}

// atOnce is the number of units that are drawn within the frame; more come a frame later.
const atOnce = 1 << 15

// layout finds the scale and the part of the picture that is shown.
func (v *Viewer) layout(p *Picture, room picture.Room, size image.Point) view {
	vw := view{room: room, factor: 1, divisor: 1, crop: image.Rectangle{Max: size}, whole: true}
	switch {
	case v.zoom == 0 && p.Smooth:
		vw.factor = 0
		vw.cols, vw.rows = picture.FitSmooth(size.X, size.Y, room)
		return vw
	case v.zoom == 0:
		fit := picture.FitWhole(size.X, size.Y, room)
		vw.factor, vw.divisor = fit.Factor, fit.Divisor
	case v.zoom > 0:
		vw.factor = v.zoom
	default:
		vw.divisor = -v.zoom
	}
	if room.UnitW == 1 && room.UnitH == 1 {
		vw.factor, vw.divisor = 1, 1 // letters have one size
	}
	across, down := room.Cols*room.UnitW*vw.divisor/vw.factor, room.Rows*room.UnitH*vw.divisor/vw.factor
	cw, ch := min(size.X, max(across, 1)), min(size.Y, max(down, 1))
	if v.held != nil {
		v.panX, v.panY = v.x-int(v.held.x*float64(cw)), v.y-int(v.held.y*float64(ch))
		v.held = nil
	}
	left, top := min(max(v.panX, 0), size.X-cw), min(max(v.panY, 0), size.Y-ch)
	vw.crop = image.Rect(left, top, left+cw, top+ch)
	vw.whole = vw.crop.Size() == size
	perCol, perRow := room.UnitW*vw.divisor, room.UnitH*vw.divisor
	vw.cols = min((cw*vw.factor+perCol-1)/perCol, room.Cols)
	vw.rows = min((ch*vw.factor+perRow-1)/perRow, room.Rows)
	if room.UnitH == 1 && 2*size.X <= room.Cols {
		vw.wide, vw.cols = true, 2*vw.cols
	}
	return vw
}

// checker gives the ground: two greys near the theme's own background.
func (v *Viewer) checker(th *theme.Theme, caps picture.Caps) *picture.Checker {
	grey := func(a, b uint8) *picture.Checker {
		return &picture.Checker{Light: color.NRGBA{a, a, a, 255}, Dark: color.NRGBA{b, b, b, 255}, Square: 4}
	}
	switch {
	case caps.Mode == picture.ModeLetters:
		return nil
	case v.ground == GroundDark:
		return grey(16, 16)
	case v.ground == GroundLight:
		return grey(240, 240)
	case v.ground == GroundTheme:
		if !caps.Mode.Alpha() {
			if th.Dark {
				return grey(0, 0)
			}
			return grey(255, 255)
		}
		return nil
	case th.Dark:
		return grey(58, 44)
	}
	return grey(236, 218)
}
