package viewer

import (
	"cmp"
	"fmt"
	"image"
	"image/color"
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/tui/picture"
)

// Ground is what stands behind transparent pixels.
type Ground int

// The grounds.
const (
	GroundChecker Ground = iota
	GroundDark
	GroundLight
	GroundTheme // the terminal's own
	grounds
)

// String is how the screen names it.
func (g Ground) String() string {
	return [...]string{"checkerboard", "dark", "light", "the terminal's own"}[min(max(g, 0), grounds-1)]
}

// Compare is how two pictures are held against each other.
type Compare int

// The ways to compare.
const (
	CompareOff Compare = iota
	CompareSide
	CompareHighlight
	CompareBlink
	compares
)

// String is how the screen names it.
func (c Compare) String() string {
	return [...]string{"off", "side by side", "highlight", "blink"}[min(max(c, 0), compares-1)]
}

// Viewer shows a picture in a box. The zero Viewer shows nothing; its Slot must be set
// to a name that no other viewer of the screen has.
type Viewer struct {
	Slot string

	pic    *Picture
	before *Picture // what pic is compared with
	clock  clock

	first      int // zoom of the first picture
	zoom       int // 0 fits; above: units a pixel; below: pixels a unit
	x, y       int // cursor, in pixels
	cursor     bool
	panX, panY int // first pixel shown
	held       *anchor
	grip       grip
	blink      bool // flips by itself
	ground     Ground
	onion      int // frames each way
	grid       bool
	repeat     bool
	compare    Compare
	tolerance  int  // steps of Tolerance beyond the picture's own
	flipped    bool // blink shows the other one
	only       *color.NRGBA

	// As last drawn.
	frame   int
	stepped time.Time // when playback last came to another frame
	view    view
	boxX    int // of the picture in the viewer's rows
	boxY    int
	facts   *facts
	legend  *legend
	usesOf  *Picture
	uses    [][]Use // by frame
	change  int
}

// view is the part of a picture that is shown and how large.
type view struct {
	factor, divisor int
	crop            image.Rectangle
	cols, rows      int
	wide            bool // letters take two columns a pixel
	whole           bool // nothing is cut off
	room            picture.Room
}

// Look is how pictures are looked at, to be kept.
type Look struct {
	Zoom   int
	Ground Ground
	Grid   bool
}

// Look is how pictures are looked at.
func (v *Viewer) Look() Look { return Look{cmp.Or(v.zoom, v.first), v.ground, v.grid} }

// LookSo looks at pictures in an earlier way; the zoom is that of the next one, if there
// is such a zoom.
func (v *Viewer) LookSo(l Look) {
	const most = 64
	if l.Zoom < -most || l.Zoom > most || l.Zoom == -1 || l.Ground < 0 || l.Ground >= grounds {
		return
	}
	v.first, v.ground, v.grid = l.Zoom, l.Ground, l.Grid
}

// Set shows a picture. Zoom, cursor and the rest stay when it has the same size, as
// after a render of the same sprite; playback goes on where it was.
func (v *Viewer) Set(p *Picture) {
	w, h := v.pic.Size()
	nw, nh := p.Size()
	v.pic = p
	if w == nw && h == nh {
		return
	}
	v.zoom, v.panX, v.panY, v.only = 0, 0, 0, nil
	if p != nil {
		v.zoom, v.first = v.first, 0
	}
	v.x, v.y = nw/2, nh/2
	v.cursor = false
	if p != nil {
		v.clock = clock{loop: p.Loop}
	}
}

// Picture is what is shown, nil when nothing is.
func (v *Viewer) Picture() *Picture { return v.pic }

// SetBefore sets what the picture is compared with; nil ends comparing.
func (v *Viewer) SetBefore(p *Picture) {
	v.before = p
	if p == nil {
		v.compare = CompareOff
	}
}

// Comparing is how pictures are compared now.
func (v *Viewer) Comparing() Compare { return v.compare }

// NextCompare goes to the next way of comparing.
func (v *Viewer) NextCompare() {
	v.compare = (v.compare + 1) % compares
	v.flipped = false
	if v.before == nil {
		v.compare = CompareOff
	}
}

// Flip shows the other picture while they blink.
func (v *Viewer) Flip() { v.flipped, v.blink = !v.flipped, false }

// Blink starts or stops flipping by itself, twice a second.
func (v *Viewer) Blink() bool {
	v.blink = !v.blink
	return v.blink
}

// blinkEvery is how long each picture stands: nobody should have to look at more.
const blinkEvery = 500 * time.Millisecond

// Advance brings blinking up to the time of a frame, for those who write beside the
// picture which one it is before they draw it.
func (v *Viewer) Advance(now time.Time) {
	if v.compare == CompareBlink && v.blink {
		v.flipped = now.UnixMilli()/blinkEvery.Milliseconds()%2 == 1
	}
}

// View is the part of the picture that is shown, in pixels.
func (v *Viewer) View() image.Rectangle { return v.view.crop }

// Flipped reports whether the earlier picture is the one on the screen.
func (v *Viewer) Flipped() bool { return v.compare == CompareBlink && v.flipped }

// Zoom makes pixels larger (1) or smaller (-1), around the cursor.
func (v *Viewer) Zoom(d int) {
	z := v.zoom
	if z == 0 {
		z = v.view.factor
		if v.view.divisor > 1 {
			z = -v.view.divisor
		}
	}
	steps := zooms()
	at, found := slices.BinarySearch(steps, z)
	switch {
	case d < 0:
		at--
	case found:
		at++
	}
	v.zoom = steps[min(max(at, 0), len(steps)-1)]
	v.hold()
}

// zooms are the steps of zooming: pixels a unit below zero, units a pixel above.
func zooms() []int {
	return []int{-64, -48, -32, -24, -16, -12, -8, -6, -4, -3, -2, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64}
}

// Fit shows the whole picture as large as whole scales allow.
func (v *Viewer) Fit() { v.zoom, v.panX, v.panY = 0, 0, 0 }

// Full shows one device pixel or half cell a pixel, or fits again.
func (v *Viewer) Full() {
	if v.zoom == 1 {
		v.Fit()
		return
	}
	v.zoom = 1
	v.hold()
}

// anchor holds the cursor's pixel where it is in the box, as a share of the box, while
// the scale changes.
type anchor struct{ x, y float64 }

func (v *Viewer) hold() {
	c := v.view.crop
	if c.Empty() {
		return
	}
	share := func(at, from, n int) float64 { return min(max((float64(at-from)+0.5)/float64(n), 0), 1) }
	v.held = &anchor{share(v.x, c.Min.X, c.Dx()), share(v.y, c.Min.Y, c.Dy())}
}

// Move moves the pixel cursor; what is shown follows it.
func (v *Viewer) Move(dx, dy int) {
	w, h := v.pic.Size()
	if v.cursor {
		v.x, v.y = v.x+dx, v.y+dy
	}
	v.cursor = true
	v.x, v.y = min(max(v.x, 0), w-1), min(max(v.y, 0), h-1)
	c := v.view.crop
	switch {
	case v.x < c.Min.X:
		v.panX = v.x
	case v.x >= c.Max.X:
		v.panX = v.x - c.Dx() + 1
	}
	switch {
	case v.y < c.Min.Y:
		v.panY = v.y
	case v.y >= c.Max.Y:
		v.panY = v.y - c.Dy() + 1
	}
}

// Pan moves what is shown by pixels and leaves the cursor.
func (v *Viewer) Pan(dx, dy int) { v.panX, v.panY = v.view.crop.Min.X+dx, v.view.crop.Min.Y+dy }

// grip is where a drag began: a cell, and the first pixel in view then.
type grip struct{ col, row, panX, panY int }

// DragFrom begins to drag the picture at a cell, of any origin.
func (v *Viewer) DragFrom(col, row int) {
	v.grip = grip{col, row, v.view.crop.Min.X, v.view.crop.Min.Y}
}

// DragTo brings the pixel that DragFrom took hold of to another cell, as far as the
// picture goes.
func (v *Viewer) DragTo(col, row int) {
	if v.view.factor == 0 {
		return // all of it is in view
	}
	g, room := v.grip, v.view.room
	v.panX = g.panX + (g.col-col)*room.UnitW*v.view.divisor/v.view.factor
	v.panY = g.panY + (g.row-row)*room.UnitH*v.view.divisor/v.view.factor
}

// Point puts the cursor on the pixel under a cell of the viewer's rows, and reports whether
// there is one. A cell that shows several pixels gives its upper left one.
func (v *Viewer) Point(x, y int) bool {
	x, y = x-v.boxX, y-v.boxY
	if v.pic == nil || x < 0 || y < 0 || x >= v.view.cols || y >= v.view.rows {
		return false
	}
	px, py := v.view.pixel(x, y)
	if !(image.Point{px, py}).In(v.view.crop) {
		return false
	}
	v.x, v.y, v.cursor = px, py, true
	return true
}

func (w view) pixel(col, row int) (x, y int) {
	if w.factor == 0 { // fitted by means: the box has the picture's proportions
		return w.crop.Min.X + col*w.crop.Dx()/max(w.cols, 1), w.crop.Min.Y + row*w.crop.Dy()/max(w.rows, 1)
	}
	if w.wide {
		col /= 2
	}
	return w.crop.Min.X + col*w.room.UnitW*w.divisor/w.factor, w.crop.Min.Y + row*w.room.UnitH*w.divisor/w.factor
}

// ZoomAt zooms around the pixel under a cell.
func (v *Viewer) ZoomAt(d, x, y int) {
	v.Point(x, y)
	v.Zoom(d)
}

// Cursor is the pixel under the cursor; ok is false while there is no cursor.
func (v *Viewer) Cursor() (x, y int, c color.NRGBA, ok bool) {
	if !v.cursor || v.pic == nil || len(v.pic.Frames) == 0 {
		return 0, 0, color.NRGBA{}, false
	}
	return v.x, v.y, v.pic.Frames[v.Index()].Image.NRGBAAt(v.x, v.y), true
}

// HideCursor takes the cursor away, and reports whether there was one.
func (v *Viewer) HideCursor() bool {
	was := v.cursor
	v.cursor = false
	return was
}

// NextGround goes to the next ground and returns it.
func (v *Viewer) NextGround() Ground {
	v.ground = (v.ground + 1) % grounds
	return v.ground
}

// Grid switches the grid: ticks at the tiles in text, lines round the pixels from eight
// device pixels a pixel on.
func (v *Viewer) Grid() bool { v.grid = !v.grid; return v.grid }

// Repeat switches showing the picture three times each way, as for textures.
func (v *Viewer) Repeat() bool { v.repeat = !v.repeat; return v.repeat }

// NextOnion shows more neighbours of the frame: none to three each way.
func (v *Viewer) NextOnion() int { v.onion = (v.onion + 1) % 4; return v.onion }

// Only dims all other colours; nil ends that.
func (v *Viewer) Only(c *color.NRGBA) { v.only = c }

// IsOnly reports whether all colours but c are dimmed.
func (v *Viewer) IsOnly(c color.NRGBA) bool { return v.only != nil && *v.only == c }

// Loop is how playback goes on at the end.
func (v *Viewer) Loop() Loop { return v.clock.loop }

// Speed is the speed of playback, 1 for the true one.
func (v *Viewer) Speed() float64 { return v.clock.rate() }

// Playing reports whether playback runs.
func (v *Viewer) Playing() bool { return v.clock.playing }

// Play starts or stops playback.
func (v *Viewer) Play(on bool) {
	if v.pic == nil || len(v.pic.Frames) < 2 {
		return
	}
	now := time.Now()
	if on && v.clock.loop == Once && v.clock.position(now) >= length(v.pic.Frames) {
		v.clock.seek(0, v.pic.Frames, now)
	}
	v.clock.set(on, now)
}

// Step goes d frames on and stops.
func (v *Viewer) Step(d int) {
	if v.pic == nil || len(v.pic.Frames) < 2 {
		return
	}
	n := len(v.pic.Frames)
	v.seek(((v.Index()+d)%n + n) % n)
}

// First and Last go to the ends and stop.
func (v *Viewer) First() { v.seek(0) }

// Last goes to the last frame and stops.
func (v *Viewer) Last() {
	if v.pic != nil {
		v.seek(len(v.pic.Frames) - 1)
	}
}

func (v *Viewer) seek(i int) {
	if v.pic == nil || i < 0 || i >= len(v.pic.Frames) {
		return
	}
	v.clock.playing = false
	v.clock.seek(i, v.pic.Frames, time.Now())
}

// Faster changes the speed by steps and returns it.
func (v *Viewer) Faster(d int) float64 {
	steps := speeds()
	at := 2
	for i, s := range steps {
		if s == v.clock.rate() {
			at = i
		}
	}
	v.clock.set(v.clock.playing, time.Now())
	v.clock.speed = steps[min(max(at+d, 0), len(steps)-1)]
	return v.clock.speed
}

// NextLoop changes how playback goes on at the end.
func (v *Viewer) NextLoop() Loop {
	v.clock.loop = (v.clock.loop + 1) % (Once + 1)
	return v.clock.loop
}

// Index is the frame that is due.
func (v *Viewer) Index() int {
	if v.pic == nil {
		return 0
	}
	i, _ := v.clock.at(time.Now(), v.pic.Frames)
	return i
}

// Scale says how large the picture is drawn: "6x", "1/2".
func (v *Viewer) Scale() string {
	switch {
	case v.view.factor == 0:
		return "fitted"
	case v.view.divisor > 1:
		return fmt.Sprintf("1/%d", v.view.divisor)
	}
	return fmt.Sprintf("%d×", v.view.factor)
}

// Lossy reports whether what is shown has fewer pixels than the picture.
func (v *Viewer) Lossy() bool { return v.view.factor == 0 || v.view.divisor > 1 }

// Cropped reports whether parts of the picture are outside the box.
func (v *Viewer) Cropped() bool { return v.pic != nil && !v.view.whole }
