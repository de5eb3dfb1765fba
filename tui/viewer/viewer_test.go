package viewer

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
)

var (
	red   = color.NRGBA{255, 0, 0, 255}
	green = color.NRGBA{0, 255, 0, 255}
	blue  = color.NRGBA{0, 0, 255, 255}
)

// dots draws a picture of letters: r, g, b, and . for nothing.
func dots(rows ...string) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, len(rows[0]), len(rows)))
	for y, row := range rows {
		for x, c := range row {
			if at := strings.IndexRune("rgb", c); at >= 0 {
				img.SetNRGBA(x, y, []color.NRGBA{red, green, blue}[at])
			}
		}
	}
	return img
}

func moving(durations ...int) []Frame {
	var out []Frame
	for _, d := range durations {
		out = append(out, Frame{Image: dots("r"), Duration: time.Duration(d) * time.Millisecond})
	}
	return out
}

func TestClock(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	for _, row := range []struct {
		name   string
		loop   Loop
		speed  float64
		frames []Frame
		ms     int
		index  int
		left   int // ms
	}{
		{"the first", Forever, 1, moving(100, 50, 200), 0, 0, 100},
		{"its last moment", Forever, 1, moving(100, 50, 200), 99, 0, 1},
		{"the second", Forever, 1, moving(100, 50, 200), 100, 1, 50},
		{"around", Forever, 1, moving(100, 50, 200), 350, 0, 100},
		{"an hour later, no drift", Forever, 1, moving(100, 50, 200), 3600_120, 0, 80},
		{"twice as fast", Forever, 2, moving(100, 50, 200), 50, 1, 25},
		{"a quarter as fast", Forever, 0.25, moving(100, 50, 200), 400, 1, 200},
		{"there", PingPong, 1, moving(100, 50, 200), 340, 2, 10},
		{"and back without the ends twice", PingPong, 1, moving(100, 50, 200), 360, 1, 40},
		{"and there again", PingPong, 1, moving(100, 50, 200), 400, 0, 100},
		{"two frames there and back", PingPong, 1, moving(100, 100), 250, 0, 50},
		{"once, and stays", Once, 1, moving(100, 50, 200), 9999, 2, 0},
		{"a still", Forever, 1, moving(0), 500, 0, 0},
		{"no time at all", Forever, 1, moving(0, 0), 500, 0, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := clock{loop: row.loop, speed: row.speed}
			c.set(true, start)
			index, left := c.at(at(row.ms), row.frames)
			if index != row.index || left != time.Duration(row.left)*time.Millisecond {
				t.Errorf("frame %d for %v, want %d for %d ms", index, left, row.index, row.left)
			}
		})
	}
	t.Run("stopped, nothing is due", func(t *testing.T) {
		c := clock{}
		c.set(true, start)
		c.set(false, at(120))
		if i, left := c.at(at(5000), moving(100, 50, 200)); i != 1 || left != 0 {
			t.Errorf("frame %d for %v", i, left)
		}
	})
}

func TestDecodeGIF(t *testing.T) {
	pal := color.Palette{color.NRGBA{}, red, green, blue}
	frame := func(r image.Rectangle, index uint8) *image.Paletted {
		p := image.NewPaletted(r, pal)
		for i := range p.Pix {
			p.Pix[i] = index
		}
		return p
	}
	var b bytes.Buffer
	err := gif.EncodeAll(&b, &gif.GIF{
		Image: []*image.Paletted{
			frame(image.Rect(0, 0, 3, 1), 1), frame(image.Rect(1, 0, 2, 1), 2), frame(image.Rect(2, 0, 3, 1), 3), frame(image.Rect(0, 0, 1, 1), 2),
		},
		Delay:    []int{0, 1, 7, 20},
		Disposal: []byte{gif.DisposalNone, gif.DisposalPrevious, gif.DisposalBackground, gif.DisposalNone},
		Config:   image.Config{ColorModel: pal, Width: 3, Height: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Decode("k", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if n := gifFrames(b.Bytes()); n != 4 {
		t.Errorf("%d frames were counted", n)
	}
	for i, want := range []struct {
		row string
		ms  int
	}{{"rrr", 100}, {"rgr", 100}, {"rrb", 70}, {"gr.", 200}} {
		if got := p.Frames[i]; !bytes.Equal(got.Image.Pix, dots(want.row).Pix) || got.Duration.Milliseconds() != int64(want.ms) {
			t.Errorf("frame %d: %v for %v, want %s for %d ms", i, got.Image.Pix, got.Duration, want.row, want.ms)
		}
	}
}

func FuzzDecode(f *testing.F) {
	var b bytes.Buffer
	if err := png.Encode(&b, dots("rgb", "b.r")); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := Decode("k", data); err == nil {
			if w, h := p.Size(); w <= 0 || h <= 0 {
				t.Errorf("a picture of %d by %d", w, h)
			}
		}
	})
}

func TestDecodeRefuses(t *testing.T) {
	// A PNG head that promises far more pixels than fit.
	head := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x01\x00\x00\x00\x01\x00\x00\x08\x06\x00\x00\x00\xd8\x8c\x8f\xff"
	// A GIF of 6000 by 6000 whose frames are a few bytes each.
	film := "GIF89a\x70\x17\x70\x17\x00\x00\x00" + strings.Repeat(",\x00\x00\x00\x00\x70\x17\x70\x17\x80\x00\x00\x00\xff\xff\xff\x02\x02D\x01\x00", 50) + ";"
	for _, row := range []struct{ name, data, want string }{
		{"text", "hello", "PNG, JPEG and GIF"},
		{"a bomb", head, ""},
		{"a film of bombs", film, "too many frames to show: 50"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := Decode("k", []byte(row.data))
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestSlice(t *testing.T) {
	sheet := &Picture{Key: "k", Frames: []Frame{{Image: dots("rg", "b.")}}}
	p, err := Slice(sheet, 1, 1, 0, -1)
	if err != nil || len(p.Frames) != 3 || p.Frames[2].Image.NRGBAAt(0, 0) != blue || p.Frames[0].Duration == 0 {
		t.Errorf("%d frames, %v", len(p.Frames), err)
	}
	if p, _ = Slice(sheet, 1, 1, 1, 2); len(p.Frames) != 2 || p.Frames[0].Image.NRGBAAt(0, 0) != green {
		t.Errorf("a range gave %d frames", len(p.Frames))
	}
	if _, err = Slice(sheet, 3, 1, 0, -1); err == nil {
		t.Error("frames larger than the sheet")
	}
	for _, row := range []struct{ w, h, want int }{{64, 16, 16}, {96, 64, 32}, {16, 16, 8}, {7, 5, 0}, {128, 48, 16}} {
		if got, _ := GuessFrame(row.w, row.h); got != row.want {
			t.Errorf("%d by %d: frames of %d, want %d", row.w, row.h, got, row.want)
		}
	}
}

func TestChanges(t *testing.T) {
	before := &Picture{Key: "a", Frames: []Frame{{Image: dots("rrrr", "rrrr", "rrrr")}}}
	after := &Picture{Key: "b", Frames: []Frame{{Image: dots("grrr", "rrrr", "rrbb")}}}
	v := Viewer{Slot: "s"}
	v.Set(after)
	v.SetBefore(before)
	c, ok := v.Changes()
	if !ok || c.Pixels != 3 || c.Box != image.Rect(0, 0, 4, 3) || c.Added != 2 || c.Removed != 0 || !slices.Equal(c.Places, []image.Point{{0, 0}, {2, 2}}) {
		t.Errorf("changes %+v", c)
	}
	v.NextChange(1)
	if x, y, col, _ := v.Cursor(); x != 2 || y != 2 || col != blue {
		t.Errorf("the cursor is at %d, %d", x, y)
	}
}

func TestUses(t *testing.T) {
	img := dots("rrg", ".rg")
	img.SetNRGBA(0, 1, color.NRGBA{254, 0, 0, 255})
	uses := usesOf(img, []Token{{"{skin}", red}, {"{cheek}", red}, {"{sea}", blue}})
	if len(uses) != 4 || !slices.Equal(uses[0].Names, []string{"{skin}", "{cheek}"}) || uses[0].Count != 3 || uses[3].Count != 0 || uses[3].Names[0] != "{sea}" {
		t.Errorf("uses %+v", uses)
	}
	if uses[1].Names != nil || uses[2].Near == nil || *uses[2].Near != red {
		t.Errorf("uses %+v", uses)
	}
	p := &Picture{Tokens: []Token{{"{skin}", red}, {"{cheek}", red}}}
	for c, want := range map[color.NRGBA]string{red: "{skin} or {cheek}", green: OffPalette} {
		if got := p.Name(c); got != want {
			t.Errorf("%v is %q, want %q", c, got, want)
		}
	}
}

func frameOf(w, h int) *tui.Frame {
	return &tui.Frame{W: w, H: h, Theme: theme.New(theme.Options{Dark: true}), Now: time.Now(), Focus: true}
}

func TestZoomAndPan(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 40, 40))
	for i := range img.Pix {
		img.Pix[i] = uint8(i*7) | 3
	}
	v := Viewer{Slot: "s"}
	v.Set(&Picture{Key: "k", Frames: []Frame{{Image: img}}})
	draw := func() { v.Render(frameOf(80, 24), 0, 0, 80, 24) }
	draw()
	if v.Scale() != "1×" || v.Cropped() {
		t.Errorf("fitted at %s", v.Scale())
	}
	v.Zoom(1)
	draw()
	if v.Scale() != "2×" || !v.Cropped() || v.view.crop.Dx() != 40 || v.view.crop.Dy() != 24 {
		t.Errorf("zoomed to %s, %v", v.Scale(), v.view.crop)
	}
	v.Move(0, 0)
	v.Move(0, -30)
	draw()
	if _, y, _, _ := v.Cursor(); y != 0 || v.view.crop.Min.Y != 0 {
		t.Errorf("cursor at %d, view from %d", y, v.view.crop.Min.Y)
	}
	v.Pan(0, 100)
	draw()
	if v.view.crop.Max.Y != 40 {
		t.Errorf("view to %d", v.view.crop.Max.Y)
	}
	if !v.Point(v.boxX+2, v.boxY+1) {
		t.Error("no pixel under the pointer")
	}
	if x, y, c, _ := v.Cursor(); x != 1 || y != 17 || c != img.NRGBAAt(1, 17) {
		t.Errorf("the pointer is at %d, %d", x, y)
	}
	for range 20 {
		v.Zoom(-1)
		draw()
	}
	if v.Scale() != "1/64" {
		t.Errorf("smallest scale %s", v.Scale())
	}
	v.Fit()
	draw()
	if v.Scale() != "1×" {
		t.Errorf("fitted again at %s", v.Scale())
	}
	// The same size again keeps where one looks; another size does not.
	v.Zoom(2)
	draw()
	x, y, _, _ := v.Cursor()
	v.Set(&Picture{Key: "k2", Frames: []Frame{{Image: img}}})
	draw()
	if nx, ny, _, ok := v.Cursor(); nx != x || ny != y || !ok || v.Scale() != "2×" {
		t.Errorf("after a new render the cursor is at %d, %d, scale %s", nx, ny, v.Scale())
	}
	v.Set(&Picture{Key: "k3", Frames: []Frame{{Image: dots("rg")}}})
	draw()
	if _, _, _, ok := v.Cursor(); ok || v.Scale() != "40×" {
		t.Errorf("another picture begins at %s", v.Scale())
	}
}

func TestHighlightAndOnly(t *testing.T) {
	got := highlight(difference{before: dots("rrr"), after: dots("rg.")})
	if got.NRGBAAt(1, 0) != green || got.NRGBAAt(2, 0) != (color.NRGBA{255, 0, 255, 255}) {
		t.Errorf("changes are %v, %v", got.NRGBAAt(1, 0), got.NRGBAAt(2, 0))
	}
	if p := got.NRGBAAt(0, 0); p.R != p.G || p.A != 255 {
		t.Errorf("what did not change is %v", p)
	}
	only := onlyColour(dots("rg"), green)
	if only.NRGBAAt(1, 0) != green || only.NRGBAAt(0, 0) == red {
		t.Errorf("only green is %v", only.Pix)
	}
}

func TestOnionSkin(t *testing.T) {
	p := &Picture{Key: "k", Frames: []Frame{{Image: dots("g..")}, {Image: dots(".g.")}, {Image: dots("..g")}}}
	c := composer{p: p, index: 1, onion: 1}
	img := c.layers()
	before, now, after := img.NRGBAAt(0, 0), img.NRGBAAt(1, 0), img.NRGBAAt(2, 0)
	if now != green {
		t.Errorf("the frame itself is %v", now)
	}
	if before.A == 0 || before.A > 100 || before.R <= before.B || after.B <= after.R {
		t.Errorf("before %v is not red, or after %v not blue", before, after)
	}
}

func TestPixelArt(t *testing.T) {
	photo := image.NewNRGBA(image.Rect(0, 0, 300, 200))
	for i := range photo.Pix {
		photo.Pix[i] = uint8(i * i >> 4)
	}
	flat := image.NewNRGBA(image.Rect(0, 0, 300, 200))
	for _, row := range []struct {
		name string
		img  *image.NRGBA
		want bool
	}{
		{"a sprite", dots("rgb"), true},
		{"many colours", photo, false},
		{"few colours", flat, true},
		{"a screenshot", image.NewNRGBA(image.Rect(0, 0, 1200, 700)), false},
	} {
		if got := !Still("k", row.img).Smooth; got != row.want {
			t.Errorf("%s: pixel art %v", row.name, got)
		}
	}
}

func TestZoomKeepsTheFocusStill(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 200, 200))
	v := Viewer{Slot: "s"}
	v.Set(&Picture{Key: "k", Frames: []Frame{{Image: img}}})
	draw := func() { v.Render(frameOf(100, 50), 0, 0, 100, 50) }
	draw()
	v.Full()
	draw()
	v.Point(v.boxX+70, v.boxY+10)
	share := func() (x, y float64) {
		return float64(v.x-v.view.crop.Min.X) / float64(v.view.crop.Dx()), float64(v.y-v.view.crop.Min.Y) / float64(v.view.crop.Dy())
	}
	x, y := share()
	for range 4 {
		v.Zoom(1)
		draw()
		if nx, ny := share(); nx < x-0.06 || nx > x+0.06 || ny < y-0.06 || ny > y+0.06 {
			t.Errorf("at %s the pixel is at %.2f, %.2f of the box, was at %.2f, %.2f", v.Scale(), nx, ny, x, y)
		}
	}
}

func TestBlinkFlipsTwiceASecond(t *testing.T) {
	v := Viewer{Slot: "s"}
	v.Set(&Picture{Key: "b", Frames: []Frame{{Image: dots("g")}}})
	v.SetBefore(&Picture{Key: "a", Frames: []Frame{{Image: dots("r")}}})
	for v.Comparing() != CompareBlink {
		v.NextCompare()
	}
	v.Blink()
	flips, was := 0, false
	for ms := range 2000 {
		f := frameOf(20, 10)
		f.Now = time.UnixMilli(int64(1_000_000 + ms))
		v.Render(f, 0, 0, 20, 10)
		if ms > 0 && v.Flipped() != was {
			flips++
		}
		was = v.Flipped()
	}
	if flips != 3 {
		t.Errorf("%d flips in two seconds, want 3", flips)
	}
	v.Flip()
	if v.Flipped() == was {
		t.Error("the key does not flip")
	}
}

func TestOverview(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 160, 160))
	for i := range img.Pix {
		img.Pix[i] = 90
	}
	v := Viewer{Slot: "s"}
	v.Set(&Picture{Key: "k", Frames: []Frame{{Image: img}}})
	f := frameOf(80, 24)
	v.Render(f, 0, 0, 80, 24)
	if rows := v.Overview(f, 0, 0, 24, 8); rows != nil {
		t.Errorf("%d rows while all of the picture is in view", len(rows))
	}
	v.Full()
	v.Render(f, 0, 0, 80, 24)
	if n := v.OverviewRows(f, 24, 8); n != 8 || len(v.Overview(f, 0, 0, 24, n)) != n {
		t.Errorf("%d rows", n)
	}
	small := overview(img, 16, 16, image.Rect(80, 80, 160, 120), nil)
	mark := color.NRGBA{255, 80, 80, 255}
	for _, row := range []struct {
		x, y int
		want bool
	}{{8, 8, true}, {15, 11, true}, {9, 9, false}, {7, 8, false}, {8, 12, false}} {
		if got := small.NRGBAAt(row.x, row.y) == mark; got != row.want {
			t.Errorf("the frame at %d, %d: %v", row.x, row.y, got)
		}
	}
}

func TestDrag(t *testing.T) {
	v := Viewer{Slot: "s"}
	v.Set(&Picture{Key: "k", Frames: []Frame{{Image: image.NewNRGBA(image.Rect(0, 0, 200, 200))}}})
	draw := func() { v.Render(frameOf(80, 24), 0, 0, 80, 24) }
	draw()
	v.Full()
	draw()
	from := v.view.crop.Min
	v.DragFrom(40, 12)
	v.DragTo(30, 10)
	draw()
	if got := v.view.crop.Min.Sub(from); got != image.Pt(10, 4) {
		t.Errorf("ten columns and two rows moved the view by %v", got)
	}
	v.DragTo(400, 300)
	draw()
	if v.view.crop.Min != (image.Point{}) {
		t.Errorf("dragged beyond the edge to %v", v.view.crop)
	}
}

func TestUsesOfAFrameThatWasNotDrawn(t *testing.T) {
	v := Viewer{Slot: "s"}
	v.Set(&Picture{Key: "a", Frames: []Frame{{Image: dots("r"), Duration: time.Second}, {Image: dots("g"), Duration: time.Second}}})
	v.Last()
	v.Render(frameOf(20, 10), 0, 0, 20, 10)
	if uses := v.Uses(); len(uses) != 1 || uses[0].Color != green {
		t.Errorf("the last frame has %+v", uses)
	}
	v.Set(&Picture{Key: "b", Frames: []Frame{{Image: dots("b")}}})
	if uses := v.Uses(); len(uses) != 1 || uses[0].Color != blue {
		t.Errorf("the next picture has %+v", uses)
	}
}

// Over a slow connection frames are left out, none is late, and stepping by key is not held up.
func TestThrottle(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 64, 64))
	for i := range img.Pix {
		img.Pix[i] = uint8(i*i>>3) | 3
	}
	v := Viewer{Slot: "s"}
	v.Set(&Picture{Key: "k", Frames: []Frame{{Image: img, Duration: time.Second}, {Image: img, Duration: time.Second}}})
	f := frameOf(80, 40)
	v.Render(f, 0, 0, 80, 40)
	least := time.Duration(f.PictureBytes("s")) * time.Second / slowBytes
	if least < 20*time.Millisecond {
		t.Fatalf("a frame of %d bytes is no test", f.PictureBytes("s"))
	}
	v.clock.playing, v.stepped = true, f.Now.Add(-least/2)
	if i, left := v.throttle(f, 1, time.Second); i != 0 || left != least-least/2 {
		t.Errorf("too early: frame %d for %v", i, left)
	}
	v.stepped = f.Now.Add(-least)
	if i, left := v.throttle(f, 1, time.Second); i != 1 || left != time.Second || v.stepped != f.Now {
		t.Errorf("in time: frame %d for %v", i, left)
	}
	v.clock.playing = false
	if i, _ := v.throttle(f, 1, 0); i != 1 {
		t.Errorf("by key: frame %d", i)
	}
}

func TestTheFirstPictureHasTheZoomThatWasKept(t *testing.T) {
	picture := func(w int) *Picture {
		return &Picture{Frames: []Frame{{Image: image.NewNRGBA(image.Rect(0, 0, w, 4))}}}
	}
	var v Viewer
	v.LookSo(Look{Zoom: 8, Ground: GroundDark, Grid: true})
	v.Set(nil)
	v.Set(picture(4))
	if want := (Look{8, GroundDark, true}); v.Look() != want || v.zoom != 8 {
		t.Errorf("the first picture: %+v, want %+v", v.Look(), want)
	}
	v.Set(picture(5))
	if v.Look().Zoom != 0 {
		t.Errorf("another one: %+v", v.Look())
	}
}
