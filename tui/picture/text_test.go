package picture

import (
	"image"
	"image/color"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func dots(rows ...string) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, len(rows[0]), len(rows)))
	for y, row := range rows {
		for x, c := range row {
			switch c {
			case 'r':
				img.SetNRGBA(x, y, rgb(0xff0000))
			case 'g':
				img.SetNRGBA(x, y, rgb(0x00ff00))
			case 'b':
				img.SetNRGBA(x, y, rgb(0x0000ff))
			}
		}
	}
	return img
}

func TestLines(t *testing.T) {
	for _, row := range []struct {
		name  string
		img   *image.NRGBA
		depth Depth
		want  string
	}{
		{"two colours", dots("r", "g"), TrueColor, "\x1b[38;2;255;0;0;48;2;0;255;0m▀\x1b[m"},
		{"one colour is a space", dots("rr", "rr"), TrueColor, "\x1b[48;2;255;0;0m  \x1b[m"},
		{"the polarity that keeps the colours", dots("rg", "gr"), TrueColor, "\x1b[38;2;255;0;0;48;2;0;255;0m▀▄\x1b[m"},
		{"a full block where the colour is at hand", dots("rr", "gr"), TrueColor, "\x1b[38;2;255;0;0;48;2;0;255;0m▀█\x1b[m"},
		{"holes keep the terminal's ground", dots("r..", "..g"), TrueColor, "\x1b[38;2;255;0;0m▀ \x1b[38;2;0;255;0m▄\x1b[m"},
		{"all holes", dots("..", ".."), TrueColor, "  "},
		{"256 colours", dots("r", "g"), Colors256, "\x1b[38;5;196;48;5;46m▀\x1b[m"},
		{"16 colours", dots("r", "g"), Colors16, "\x1b[91;102m▀\x1b[m"},
		{"no colour", dots("r", "."), NoColor, "▀"},
	} {
		t.Run(row.name, func(t *testing.T) {
			cols, rows := halfCells(row.img)
			cells := Fit(row.img, cols, rows, Options{Set: Half})
			lines := cells.Lines(newPalette(row.depth, cells))
			if len(lines) != 1 || lines[0] != row.want {
				t.Errorf("got %q, want %q", lines, row.want)
			}
		})
	}
}

// Two colours of a sprite stay two, whatever the depth.
func TestPaletteKeepsColoursApart(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 12, 2))
	for x := range 12 {
		fill(img, x, 0, x+1, 2, color.NRGBA{100, 101, uint8(100 + x), 255}) // all nearest to one of the fixed
	}
	for _, depth := range []Depth{Colors256, Colors16} {
		cells := Fit(img, 12, 1, Options{Set: Half})
		p := newPalette(depth, cells)
		seen := map[uint8]bool{}
		for _, index := range p.index {
			seen[index] = true
			if depth == Colors256 && index < 16 {
				t.Errorf("%v: colour %d is one that people change", depth, index)
			}
		}
		if len(seen) != 12 {
			t.Errorf("%v: 12 colours became %d", depth, len(seen))
		}
	}
}

// Averaged as the eye does, dithering is nearer to a photo than the nearest colours are.
func TestDither(t *testing.T) {
	photo := photoSubject(160, 96)
	blur := func(img *image.NRGBA) *image.NRGBA { return Shrink(img, 40, 24) }
	for _, row := range []struct {
		depth Depth
		most  float64
	}{{Colors256, 2.5}, {Colors16, 6}} {
		list := terminalColours(row.depth)
		plain := image.NewNRGBA(photo.Bounds())
		for y := range 96 {
			for x := range 160 {
				n := nearest(list, toLab(photo.NRGBAAt(x, y)))
				i := slices.IndexFunc(list, func(c terminalColour) bool { return c.index == n })
				plain.SetNRGBA(x, y, list[i].colour)
			}
		}
		_, _, without := fidelity(blur(photo), blur(plain))
		_, _, with := fidelity(blur(photo), blur(dither(photo, row.depth)))
		t.Logf("%v: difference %.2f, nearest %.2f", row.depth, with, without)
		if with > row.most || with > 0.6*without {
			t.Errorf("%v: difference %.2f, nearest colours have %.2f", row.depth, with, without)
		}
	}
	if dither(photo, TrueColor) != photo {
		t.Error("24-bit colours were dithered")
	}
}

func TestLettersStandForColours(t *testing.T) {
	img := dots("rrg.", "rb.g")
	lines, legend, ok := Letters(img, false)
	if !ok || !slices.Equal(lines, []string{"aab.", "ac.b"}) {
		t.Errorf("lines %q, %v", lines, ok)
	}
	if len(legend) != 3 || legend[0] != (Letter{'a', rgb(0xff0000), 3}) || legend[2].Count != 1 {
		t.Errorf("legend %v", legend)
	}
	if wide, _, _ := Letters(img, true); wide[0] != "aaaabb.." {
		t.Errorf("wide %q", wide)
	}
	if _, _, ok := Letters(photoSubject(20, 20), false); ok {
		t.Error("a photo has more colours than there are letters")
	}
	ramp := image.NewNRGBA(image.Rect(0, 0, 10, 1))
	for x := range 10 {
		v := uint8(x * 255 / 9)
		ramp.SetNRGBA(x, 0, color.NRGBA{v, v, v, 255})
	}
	if got := Shades(ramp, 10, 1); got[0][0] != ' ' || got[0][9] != '@' || !slices.IsSortedFunc([]byte(got[0]), func(a, b byte) int {
		return strings.IndexByte(shades, a) - strings.IndexByte(shades, b)
	}) {
		t.Errorf("shades %q", got)
	}
}

func TestFitting(t *testing.T) {
	cells, pixels := Room{80, 24, 1, 2}, Room{80, 24, 10, 20}
	for _, row := range []struct {
		name string
		w, h int
		room Room
		want Fitted
	}{
		{"16 px in cells", 16, 16, cells, Fitted{3, 1, 48, 24}},
		{"48 px in cells", 48, 48, cells, Fitted{1, 1, 48, 24}},
		{"64 px in cells is halved", 64, 64, cells, Fitted{1, 2, 32, 16}},
		{"16 px in pixels", 16, 16, pixels, Fitted{30, 1, 48, 24}},
		{"as many cells as it covers in part", 33, 9, pixels, Fitted{24, 1, 80, 11}},
		{"nothing", 0, 9, pixels, Fitted{Factor: 1, Divisor: 1}},
		{"no room", 9, 9, Room{}, Fitted{Factor: 1, Divisor: 1}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := FitWhole(row.w, row.h, row.room); got != row.want {
				t.Errorf("got %+v, want %+v", got, row.want)
			}
		})
	}
	for _, row := range []struct {
		name       string
		w, h       int
		room       Room
		cols, rows int
	}{
		{"a page in cells", 1920, 1152, cells, 80, 24},
		{"a wide one", 2000, 100, cells, 80, 2},
		{"a tall one", 100, 2000, cells, 2, 24},
		{"never enlarged", 20, 10, cells, 20, 5},
		{"a line", 1000, 1, cells, 80, 1},
		{"in pixels", 400, 100, pixels, 40, 5},
	} {
		t.Run(row.name, func(t *testing.T) {
			if cols, rows := FitSmooth(row.w, row.h, row.room); cols != row.cols || rows != row.rows {
				t.Errorf("got %d by %d, want %d by %d", cols, rows, row.cols, row.rows)
			}
		})
	}
}

func TestEncode(t *testing.T) {
	sprite, page := spriteSubject(16, true), pageSubject(480, 288)
	for _, row := range []struct {
		name       string
		img        *image.NRGBA
		t          Target
		cols, rows int // of the text; 0 for commands
		prefix     string
	}{
		{"a column a pixel", sprite, Target{Mode: ModeHalf}, 16, 8, ""},
		{"the largest whole factor", sprite, Target{Mode: ModeHalf, Cols: 50, Rows: 24}, 48, 24, ""},
		{"halved", sprite, Target{Mode: ModeOctant, Cols: 8, Rows: 24}, 8, 4, ""},
		{"auto", sprite, Target{}, 16, 8, ""},
		{"a page", page, Target{Mode: ModeBest, Cols: 40, Rows: 20, Smooth: true}, 40, 12, ""},
		{"a page in 256 colours", page, Target{Mode: ModeBest, Depth: Colors256, Cols: 40, Rows: 20, Smooth: true}, 40, 12, ""},
		{"letters", sprite, Target{Mode: ModeLetters, Cols: 80, Rows: 24}, 32, 16 + 1 + 6, ""},
		{"shades", page, Target{Mode: ModeLetters, Cols: 40, Rows: 24}, 40, 12, ""},
		{"kitty", sprite, Target{Mode: ModeKitty}, 0, 0, "\x1b_Ga=T,q=2,"},
		{"kitty with placeholders", sprite, Target{Mode: ModeKitty, ID: 0x10000010}, 0, 0, "\x1b_Ga=T,U=1,i=268435472,c=2,r=1,"},
		{"iterm", sprite, Target{Mode: ModeITerm2, Cols: 20, Rows: 10}, 0, 0, "\x1b]1337;File="},
		{"sixel", sprite, Target{Mode: ModeSixel, Cols: 20, Rows: 10}, 0, 0, "\x1bP0;1;0q\"1;1;200;200"},
	} {
		t.Run(row.name, func(t *testing.T) {
			out := Encode(row.img, row.t)
			if !strings.HasSuffix(out, "\n") || !strings.HasPrefix(out, row.prefix) {
				t.Errorf("output begins %.40q", out)
			}
			if row.rows == 0 {
				return
			}
			lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
			if len(lines) != row.rows {
				t.Errorf("%d lines, want %d", len(lines), row.rows)
			}
			if w := ansi.StringWidth(lines[0]); w != row.cols {
				t.Errorf("%d columns, want %d", w, row.cols)
			}
			if strings.Contains(strings.ReplaceAll(out, "\x1b[", ""), "\x1b") {
				t.Error("a cell set wrote more than colours")
			}
		})
	}
	if out := Encode(image.NewNRGBA(image.Rectangle{}), Target{}); out != "" {
		t.Errorf("nothing became %q", out)
	}
}

func TestOver(t *testing.T) {
	c := Checker{Light: rgb(0xffffff), Dark: rgb(0x000000), Square: 1}
	img := image.NewNRGBA(image.Rect(0, 0, 2, 2))
	img.SetNRGBA(0, 0, color.NRGBA{200, 100, 50, 128})
	img.SetNRGBA(1, 1, rgb(0x123456))
	got := Over(img, c)
	for _, row := range []struct {
		x, y int
		want color.NRGBA
	}{{0, 0, color.NRGBA{227, 177, 152, 255}}, {1, 0, rgb(0)}, {0, 1, rgb(0)}, {1, 1, rgb(0x123456)}} {
		if p := got.NRGBAAt(row.x, row.y); p != row.want {
			t.Errorf("pixel %d, %d is %v, want %v", row.x, row.y, p, row.want)
		}
	}
	c.X = 1
	if p := Over(img, c).NRGBAAt(1, 0); p != rgb(0xffffff) {
		t.Errorf("the shifted ground is %v", p)
	}
}
