package frames

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"testing"
	"time"
)

func solid(w, h int, c color.NRGBA) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	draw.Draw(img, img.Rect, image.NewUniform(c), image.Point{}, draw.Src)
	return img
}

var (
	red  = color.NRGBA{255, 0, 0, 255}
	blue = color.NRGBA{0, 0, 255, 128}
)

func TestGIF(t *testing.T) {
	var buf bytes.Buffer
	list := []Frame{
		{Image: solid(2, 2, red), Duration: 125 * time.Millisecond},
		{Image: solid(4, 3, blue), Duration: 4 * time.Millisecond},
		{Image: solid(1, 1, color.NRGBA{}), Duration: 70 * time.Millisecond},
	}
	if err := GIF(t.Context(), &buf, list, 1, true); err != nil {
		t.Fatal(err)
	}
	g, err := gif.DecodeAll(&buf)
	if err != nil {
		t.Fatal(err)
	}
	if g.Config.Width != 4 || g.Config.Height != 3 || len(g.Image) != 3 || g.LoopCount != 0 {
		t.Errorf("%d×%d, %d frames, loop %d", g.Config.Width, g.Config.Height, len(g.Image), g.LoopCount)
	}
	for i, want := range []int{12, 1, 7} {
		if g.Delay[i] != want || g.Disposal[i] != gif.DisposalBackground {
			t.Errorf("frame %d: delay %d, disposal %d", i, g.Delay[i], g.Disposal[i])
		}
		if g.Image[i].Rect != image.Rect(0, 0, 4, 3) {
			t.Errorf("frame %d: %v", i, g.Image[i].Rect)
		}
	}
	for _, row := range []struct {
		frame, x, y int
		want        color.NRGBA
	}{{0, 1, 1, red}, {0, 3, 2, color.NRGBA{}}, {1, 3, 2, color.NRGBA{0, 0, 255, 255}}, {2, 0, 0, color.NRGBA{}}} {
		r, gr, b, a := g.Image[row.frame].At(row.x, row.y).RGBA()
		if got := (color.NRGBA{uint8(r), uint8(gr), uint8(b), uint8(a)}); got != row.want {
			t.Errorf("frame %d at %d,%d: got %v, want %v", row.frame, row.x, row.y, got, row.want)
		}
	}
}

func TestGIFPlaysOnce(t *testing.T) {
	var buf bytes.Buffer
	if err := GIF(t.Context(), &buf, []Frame{{Image: solid(1, 1, red), Duration: time.Second}}, 1, false); err != nil {
		t.Fatal(err)
	}
	if g, err := gif.DecodeAll(&buf); err != nil || g.LoopCount != -1 {
		t.Errorf("loop %v, %v", g.LoopCount, err)
	}
}

// TestGIFManyColours has more colours than a palette holds, in one frame and in
// all together.
func TestGIFManyColours(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 32, 32))
	for i := range 1024 {
		img.SetNRGBA(i%32, i/32, color.NRGBA{uint8(i), uint8(i / 4), uint8(255 - i/4), 255})
	}
	img.SetNRGBA(0, 0, color.NRGBA{})
	var buf bytes.Buffer
	if err := GIF(t.Context(), &buf, []Frame{{Image: img, Duration: time.Second}, {Image: solid(32, 32, red), Duration: time.Second}}, 1, true); err != nil {
		t.Fatal(err)
	}
	g, err := gif.DecodeAll(&buf)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, a := g.Image[0].At(0, 0).RGBA(); a != 0 {
		t.Error("the transparent pixel is opaque")
	}
	if _, _, _, a := g.Image[0].At(5, 5).RGBA(); a == 0 {
		t.Error("an opaque pixel is transparent")
	}
	if r, _, b, _ := g.Image[1].At(5, 5).RGBA(); r != 0xFFFF || b != 0 {
		t.Error("the second frame's red is not exact")
	}
}

func TestGIFWithoutFrames(t *testing.T) {
	if err := GIF(t.Context(), &bytes.Buffer{}, nil, 1, true); err == nil {
		t.Error("no error")
	}
}

func TestSheet(t *testing.T) {
	list := []Frame{{Image: solid(2, 1, red)}, {Image: solid(1, 3, blue)}, {Image: solid(1, 1, red)}}
	row := Sheet(list, 0)
	if row.Rect != image.Rect(0, 0, 6, 3) || row.NRGBAAt(2, 2) != blue || row.NRGBAAt(1, 1) != (color.NRGBA{}) {
		t.Errorf("one row: %v", row.Rect)
	}
	grid := Sheet(list, 2)
	if grid.Rect != image.Rect(0, 0, 4, 6) || grid.NRGBAAt(0, 3) != red {
		t.Errorf("two columns: %v", grid.Rect)
	}
	if !Sheet(nil, 0).Rect.Empty() {
		t.Error("a sheet of nothing is not empty")
	}
}

func TestPack(t *testing.T) {
	origin := [2]int{1, 2}
	list := []Sprite{
		{Name: "small", Image: solid(2, 2, red), Origin: &origin, Boxes: map[string][4]int{"hit": {0, 0, 1, 1}}},
		{Name: "tall", Image: solid(3, 6, blue)},
		{Name: "wide", Image: solid(9, 2, red)},
		{Name: "huge", Image: solid(20, 1, red)},
	}
	pages, tooLarge := Pack(list, Packing{Max: 10, Padding: 1})
	if len(tooLarge) != 1 || tooLarge[0] != "huge" {
		t.Errorf("too large: %v", tooLarge)
	}
	if len(pages) != 1 {
		t.Fatalf("%d pages", len(pages))
	}
	want := map[string]image.Rectangle{"tall": image.Rect(0, 0, 3, 6), "small": image.Rect(4, 0, 6, 2), "wide": image.Rect(0, 7, 9, 9)}
	for _, s := range pages[0].Sprites {
		if s.Rect != want[s.Name] {
			t.Errorf("%s at %v, want %v", s.Name, s.Rect, want[s.Name])
		}
	}
	if pages[0].Image.Rect != image.Rect(0, 0, 9, 9) || pages[0].Image.NRGBAAt(4, 1) != red {
		t.Errorf("page is %v", pages[0].Image.Rect)
	}
	doc, err := pages[0].JSON("atlas.png", []Animation{
		{Name: "run", Frames: []string{"small", "tall"}, Duration: 125 * time.Millisecond, Loop: true, Tags: map[string]Tag{"a": {Start: 0, End: 1}}},
		{Name: "elsewhere", Frames: []string{"huge"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Image      string
		Size       [2]int
		Frames     map[string]struct{ X, Y, W, H int }
		Animations map[string]struct{ FPS int }
	}
	if err := json.Unmarshal(doc, &got); err != nil {
		t.Fatal(err)
	}
	if got.Animations["run"].FPS != 8 || len(got.Animations) != 1 || got.Frames["small"].X != 4 || got.Size != [2]int{9, 9} {
		t.Errorf("got %s", doc)
	}
}

func TestPackPages(t *testing.T) {
	var list []Sprite
	for range 5 {
		list = append(list, Sprite{Name: "s", Image: solid(6, 6, red)})
	}
	pages, _ := Pack(list, Packing{Max: 12, PowerOfTwo: true})
	if len(pages) != 2 || len(pages[0].Sprites) != 4 || pages[1].Image.Rect != image.Rect(0, 0, 8, 8) {
		t.Errorf("%d pages, second %v", len(pages), pages[1].Image.Rect)
	}
}

func BenchmarkGIF(b *testing.B) {
	var list []Frame
	for i := range 64 {
		img := solid(64, 64, red)
		for x := range 32 {
			img.SetNRGBA(x+i%32, i, blue)
		}
		list = append(list, Frame{Image: img, Duration: 100 * time.Millisecond})
	}
	b.ReportAllocs()
	for b.Loop() {
		var buf bytes.Buffer
		if err := GIF(b.Context(), &buf, list, 1, true); err != nil {
			b.Fatal(err)
		}
	}
}
