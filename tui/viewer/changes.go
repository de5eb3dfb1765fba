package viewer

import (
	"bytes"
	"image"
	"image/color"
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/tui/picture"
)

// Changes says what is different between two pictures.
type Changes struct {
	Pixels         int
	Box            image.Rectangle
	Added, Removed int // colours; not counted where the pictures are no pixel art
	// Places are the first pixels of the regions that changed, in reading order.
	Places  []image.Point
	Resized bool
	// Pending says that they are still being counted, TooLarge that they never will be.
	Pending, TooLarge bool
}

// difference tells which pixels of two pictures differ.
type difference struct {
	before, after *image.NRGBA
	tolerance     float64 // of [picture.Difference], and in hundredths of alpha
}

// at reports whether a pixel differs; outside one of the pictures it does.
func (d difference) at(x, y int) bool {
	p := image.Point{X: x, Y: y}
	if !p.In(d.before.Rect) || !p.In(d.after.Rect) {
		return true
	}
	a, b := d.before.NRGBAAt(x, y), d.after.NRGBAAt(x, y)
	if a == b || a.A == 0 && b.A == 0 {
		return false
	}
	if d.tolerance <= 0 {
		return true
	}
	alpha := float64(max(a.A, b.A)-min(a.A, b.A)) * 100 / 255
	return alpha > d.tolerance || picture.Difference(a, b) > d.tolerance
}

// tolerances are the differences that may be taken as none: pixel art begins with the
// first, anything else with the second.
func tolerances() []float64 { return []float64{0, nearlySame, 6, 12} }

// Tolerance is the difference up to which pixels count as the same when pictures are
// compared, as [picture.Difference] measures it.
func (v *Viewer) Tolerance() float64 {
	steps := tolerances()
	first := 0
	if v.pic != nil && v.pic.Smooth {
		first = 1
	}
	return steps[(first+v.tolerance)%len(steps)]
}

// NextTolerance goes to the next tolerance and returns it.
func (v *Viewer) NextTolerance() float64 {
	v.tolerance = (v.tolerance + 1) % len(tolerances())
	return v.Tolerance()
}

// facts are the changes between two frames, kept while they are shown.
type facts struct {
	of      difference
	changes atomic.Pointer[Changes]
}

// comparedAtOnce bounds the pixels that are compared within a frame; the rest is done
// beside it.
const comparedAtOnce = 1 << 16

// comparedMost bounds the pixels that are compared at all.
const comparedMost = 16 << 20

// countedAfter is how soon a frame asks again for changes that are being counted.
const countedAfter = 50 * time.Millisecond

// Changes compares the frame that is shown with the earlier picture's; ok is false when
// there is none.
func (v *Viewer) Changes() (c Changes, ok bool) {
	if v.pic == nil || v.before == nil || len(v.pic.Frames) == 0 || len(v.before.Frames) == 0 {
		return Changes{}, false
	}
	d := difference{
		before:    v.before.Frames[min(v.frame, len(v.before.Frames)-1)].Image,
		after:     v.pic.Frames[min(v.frame, len(v.pic.Frames)-1)].Image,
		tolerance: v.Tolerance(),
	}
	if v.facts == nil || v.facts.of != d {
		v.facts = &facts{of: d}
		facts, colours := v.facts, !v.pic.Smooth
		b := d.before.Rect.Union(d.after.Rect)
		switch n := b.Dx() * b.Dy(); {
		case n > comparedMost:
			facts.changes.Store(&Changes{Resized: d.before.Rect != d.after.Rect, TooLarge: true})
		case n > comparedAtOnce:
			recovery.Go("compare pictures", func() { facts.changes.Store(d.changes(colours)) })
		default:
			facts.changes.Store(d.changes(colours))
		}
	}
	if done := v.facts.changes.Load(); done != nil {
		return *done, true
	}
	return Changes{Pending: true}, true
}

func (d difference) changes(colours bool) *Changes {
	b := d.before.Rect.Union(d.after.Rect)
	c := &Changes{Resized: d.before.Rect != d.after.Rect}
	changed := make([]bool, b.Dx()*b.Dy())
	for y := range b.Dy() {
		if !c.Resized && bytes.Equal(row(d.before, y), row(d.after, y)) {
			continue
		}
		for x := range b.Dx() {
			if d.at(x, y) {
				changed[y*b.Dx()+x] = true
				c.Pixels++
				c.Box = c.Box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	for i, yes := range changed {
		if yes {
			p := image.Point{X: i % b.Dx(), Y: i / b.Dx()}
			c.Places = append(c.Places, p)
			clearRegion(changed, b.Dx(), b.Dy(), p)
		}
	}
	if colours {
		was, is := coloursOf(d.before), coloursOf(d.after)
		c.Added, c.Removed = without(is, was), without(was, is)
	}
	return c
}

func row(img *image.NRGBA, y int) []uint8 {
	return img.Pix[y*img.Stride : y*img.Stride+4*img.Rect.Dx()]
}

func coloursOf(img *image.NRGBA) map[color.NRGBA]bool {
	seen := map[color.NRGBA]bool{}
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			if c := img.NRGBAAt(x, y); c.A != 0 {
				seen[c] = true
			}
		}
	}
	return seen
}

// without counts what is in a and not in b.
func without(a, b map[color.NRGBA]bool) int {
	n := 0
	for c := range a {
		if !b[c] {
			n++
		}
	}
	return n
}

// clearRegion takes away all that hangs together with p.
func clearRegion(in []bool, w, h int, p image.Point) {
	in[p.Y*w+p.X] = false
	todo := []image.Point{p}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for y := max(p.Y-1, 0); y <= min(p.Y+1, h-1); y++ {
			for x := max(p.X-1, 0); x <= min(p.X+1, w-1); x++ {
				if in[y*w+x] {
					in[y*w+x] = false
					todo = append(todo, image.Point{X: x, Y: y})
				}
			}
		}
	}
}

// NextChange moves the cursor to the next region that changed, d of them on.
func (v *Viewer) NextChange(d int) bool {
	c, ok := v.Changes()
	if !ok || len(c.Places) == 0 {
		return false
	}
	n := len(c.Places)
	v.change = ((v.change+d)%n + n) % n
	v.x, v.y, v.cursor = c.Places[v.change].X, c.Places[v.change].Y, true
	v.Move(0, 0)
	return true
}

// highlight shows what changed in full colour over a dim grey copy; what became
// transparent is magenta.
func highlight(d difference) *image.NRGBA {
	out := image.NewNRGBA(d.after.Bounds())
	each(out, d.after, func(_, p color.NRGBA) color.NRGBA { return dimmed(p) })
	for y := range d.after.Rect.Dy() {
		for x := range d.after.Rect.Dx() {
			if !d.at(x, y) {
				continue
			}
			p := d.after.NRGBAAt(x, y)
			if p.A < 16 {
				p = color.NRGBA{255, 0, 255, 255}
			}
			out.SetNRGBA(x, y, p)
		}
	}
	return out
}
