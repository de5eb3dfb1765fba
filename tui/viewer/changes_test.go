package viewer

import (
	"image"
	"image/color"
	"slices"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func TestTolerance(t *testing.T) {
	grey := func(v uint8) color.NRGBA { return color.NRGBA{v, v, v, 255} }
	before, after := image.NewNRGBA(image.Rect(0, 0, 5, 1)), image.NewNRGBA(image.Rect(0, 0, 5, 1))
	for x, pair := range [][2]color.NRGBA{
		{grey(128), grey(128)},
		{grey(128), grey(131)},                       // hardly seen
		{grey(128), grey(148)},                       // seen
		{grey(128), {128, 128, 128, 200}},            // thinner by a fifth
		{{1, 2, 3, 0}, {R: 200, G: 100, B: 9, A: 0}}, // nothing and nothing
	} {
		before.SetNRGBA(x, 0, pair[0])
		after.SetNRGBA(x, 0, pair[1])
	}
	for _, row := range []struct {
		name      string
		smooth    bool
		presses   int
		tolerance float64
		pixels    int
	}{
		{"pixel art: every difference", false, 0, 0, 3},
		{"one step", false, 1, nearlySame, 2},
		{"two steps", false, 2, 6, 2},
		{"three steps", false, 3, 12, 1},
		{"around", false, 4, 0, 3},
		{"a screenshot: what can be seen", true, 0, nearlySame, 2},
		{"a screenshot, exactly", true, 3, 0, 3},
	} {
		t.Run(row.name, func(t *testing.T) {
			v := Viewer{Slot: "s"}
			v.Set(&Picture{Key: "b", Frames: []Frame{{Image: after}}, Smooth: row.smooth})
			v.SetBefore(&Picture{Key: "a", Frames: []Frame{{Image: before}}})
			for range row.presses {
				v.NextTolerance()
			}
			if c, _ := v.Changes(); v.Tolerance() != row.tolerance || c.Pixels != row.pixels {
				t.Errorf("tolerance %g: %d pixels, want %g: %d", v.Tolerance(), c.Pixels, row.tolerance, row.pixels)
			}
		})
	}
}

// A screenshot is compared beside the frames, not within one.
func TestChangesOfAScreenshot(t *testing.T) {
	before, after := image.NewNRGBA(image.Rect(0, 0, 1920, 1080)), image.NewNRGBA(image.Rect(0, 0, 1920, 1080))
	for _, p := range []image.Point{{7, 3}, {8, 4}, {1900, 1000}} {
		after.SetNRGBA(p.X, p.Y, red)
	}
	v := Viewer{Slot: "s"}
	v.Set(&Picture{Key: "b", Frames: []Frame{{Image: after}}, Smooth: true})
	v.SetBefore(&Picture{Key: "a", Frames: []Frame{{Image: before}}})
	c := testwait.For(t, "the changes are counted", func() Changes { c, _ := v.Changes(); return c }, func(c Changes) bool { return !c.Pending })
	if c.Pixels != 3 || !slices.Equal(c.Places, []image.Point{{7, 3}, {1900, 1000}}) || c.Box != image.Rect(7, 3, 1901, 1001) {
		t.Errorf("changes %+v", c)
	}
	v.Set(&Picture{Key: "huge", Frames: []Frame{{Image: &image.NRGBA{Rect: image.Rect(0, 0, 5000, 5000)}}}})
	if c, _ = v.Changes(); !c.TooLarge {
		t.Errorf("25 million pixels: %+v", c)
	}
}

func TestChangesOfAnotherSize(t *testing.T) {
	d := difference{before: dots("rr", "rr"), after: dots("rrg")}
	if c := d.changes(true); !c.Resized || c.Pixels != 3+1 || c.Box != image.Rect(0, 0, 3, 2) {
		t.Errorf("changes %+v", c)
	}
}
