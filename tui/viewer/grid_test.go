package viewer

import (
	"image"
	"image/color"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/picture"
)

func TestTicks(t *testing.T) {
	half := picture.Room{Cols: 80, Rows: 40, UnitW: 1, UnitH: 2}
	for _, row := range []struct {
		name            string
		factor, divisor int
		crop            image.Rectangle
		cols, rows      int
		repeat          image.Point
		top, left       string
	}{
		{"a column a pixel", 1, 1, image.Rect(0, 0, 20, 16), 20, 8, image.Point{}, "┌┬───────┬───────┬───", "├│││├│││"},
		{"twice as large", 2, 1, image.Rect(0, 0, 10, 9), 20, 9, image.Point{}, "┌┬───────────────┬───", "├│││││││├"},
		{"five times, half a row off", 5, 1, image.Rect(7, 7, 9, 9), 10, 5, image.Point{}, "┌─────┬────", "││├││"},
		{"a part", 1, 1, image.Rect(3, 5, 15, 11), 12, 3, image.Point{}, "┌─────┬──────", "│├│"},
		{"half size", 1, 2, image.Rect(0, 0, 32, 32), 16, 8, image.Point{}, "┌┬───┬───┬───┬───", "├│├│├│├│"},
		{"tiles too small to be told apart", 1, 8, image.Rect(0, 0, 64, 64), 8, 4, image.Point{}, "┌┬─┬─┬─┬─", "├├├├"},
		{"a texture: where it begins anew", 1, 1, image.Rect(0, 0, 15, 15), 15, 8, image.Pt(5, 5), "┌┬────┬────┬────", "├│├││├││"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := view{factor: row.factor, divisor: row.divisor, crop: row.crop, cols: row.cols, rows: row.rows, room: half}
			r := rulerOf(theme.New(theme.Options{Dark: true}), w, row.repeat)
			top, left := ansi.Strip(r.top), ansi.Strip(strings.Join(r.left, ""))
			if top != row.top || left != row.left {
				t.Errorf("ticks\n%s\n%s\nwant\n%s\n%s", top, left, row.top, row.left)
			}
		})
	}
}

// The ticks take a row and a column of the box, and the pointer still hits the pixels.
func TestTicksInTheBox(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 16, 16))
	v := Viewer{Slot: "s"}
	v.Set(&Picture{Key: "k", Frames: []Frame{{Image: img}}})
	v.Grid()
	rows := v.Render(frameOf(40, 12), 0, 0, 40, 12)
	if len(rows) != 12 || v.Scale() != "1×" || v.boxX != 12 || v.boxY != 2 {
		t.Fatalf("%d rows at %s, the picture at %d, %d", len(rows), v.Scale(), v.boxX, v.boxY)
	}
	for i, one := range rows {
		if w := ansi.StringWidth(one); w != 40 {
			t.Errorf("row %d is %d wide", i, w)
		}
	}
	if top := ansi.Strip(rows[1]); !strings.HasPrefix(top, strings.Repeat(" ", 11)+"┌┬───────┬") {
		t.Errorf("over the picture: %q", top)
	}
	if !v.Point(12, 2) || v.x != 0 || v.y != 0 || v.Point(11, 2) {
		t.Errorf("the pointer is at %d, %d", v.x, v.y)
	}
}

func TestGridLines(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 32, 16))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	drawGrid(img, 16, image.Pt(7, 3))
	line, strong, plain := img.NRGBAAt(0, 5), img.NRGBAAt(16, 5), img.NRGBAAt(5, 5)
	if plain.R != 255 || line.R == 255 || strong.R >= line.R {
		t.Errorf("pixel %v, line %v, line of a tile %v", plain, line, strong)
	}
}

// There is a cursor at every scale, and it covers its pixel.
func TestCursorWhenPixelsAreSmall(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 90, 60))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	half, device := picture.Room{Cols: 30, Rows: 10, UnitW: 1, UnitH: 2}, picture.Room{Cols: 3, Rows: 1, UnitW: 10, UnitH: 20}
	black := color.NRGBA{0, 0, 0, 255}
	for _, row := range []struct {
		name  string
		mode  picture.Mode
		view  view
		marks []image.Point
		clear []image.Point
	}{
		{
			"text, a third", picture.ModeHalf,
			view{factor: 1, divisor: 3, cols: 30, rows: 10, room: half},
			[]image.Point{{51, 30}, {53, 32}},
			[]image.Point{{50, 30}, {54, 32}, {51, 29}, {51, 33}},
		},
		{
			"text, fitted", picture.ModeHalf,
			view{factor: 0, divisor: 1, cols: 30, rows: 10, room: half},
			[]image.Point{{51, 30}, {53, 32}},
			[]image.Point{{50, 30}, {54, 32}},
		},
		{
			"pixels, a third", picture.ModeKitty,
			view{factor: 1, divisor: 3, cols: 3, rows: 1, room: device},
			[]image.Point{{17 - 4, 10}, {17, 10 - 4}},
			[]image.Point{{17, 10}, {17 - 2, 10}},
		},
		{
			"pixels, fitted", picture.ModeKitty,
			view{factor: 0, divisor: 1, cols: 3, rows: 1, room: device},
			[]image.Point{{17 - 4, 10}, {17, 10 + 4}},
			[]image.Point{{17, 10}, {17 - 2, 10}},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.view.crop = img.Rect
			c := composer{
				p: &Picture{Key: "k", Frames: []Frame{{Image: img}}}, view: row.view, mode: row.mode,
				cursor: &image.Point{X: 52, Y: 31},
			}
			got := c.compose()
			for _, p := range row.marks {
				if got.NRGBAAt(p.X, p.Y) != black {
					t.Errorf("%v is %v", p, got.NRGBAAt(p.X, p.Y))
				}
			}
			for _, p := range row.clear {
				if got.NRGBAAt(p.X, p.Y) == black {
					t.Errorf("%v is marked", p)
				}
			}
			if slices.Contains(img.Pix, 0) {
				t.Error("the picture itself was changed")
			}
		})
	}
}
