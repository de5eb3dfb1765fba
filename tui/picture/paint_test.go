package picture

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"image"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// covers says from the character's definition alone whether it paints sample x, y of an
// 8 by 24 cell.
func covers(t testing.TB, char rune, x, y int) bool {
	t.Helper()
	parts := func(pattern, rows int) bool { return pattern>>(y*rows/24*2+x/4)&1 != 0 }
	switch {
	case char == ' ':
		return false
	case char == '█':
		return true
	case char == '▀':
		return y < 12
	case char == '▐':
		return x >= 4
	case char >= '▁' && char <= '▇':
		return y >= 24-3*int(char-'▀')
	case char >= '▉' && char <= '▏':
		return x < int('▐'-char)
	case char == '▔': // chafa's
		return y < 3
	case char == '▕':
		return x == 7
	case strings.ContainsRune("▘▝▖▗▚▞▛▜▙▟", char):
		pattern := map[rune]int{'▘': 1, '▝': 2, '▖': 4, '▗': 8, '▚': 9, '▞': 6, '▛': 7, '▜': 11, '▙': 13, '▟': 14}[char]
		return parts(pattern, 2)
	case char >= 0x1FB00 && char <= 0x1FB3B:
		return parts(nth(int(char-0x1FB00), map[int]bool{0: true, 21: true, 42: true, 63: true}), 3)
	case char >= 0x1CD00 && char <= 0x1CDE5:
		elsewhere := map[int]bool{}
		// Empty, quadrants and halves; quarters; corners; middles of a side.
		for _, p := range []int{
			0x00, 0x05, 0x0A, 0x0F, 0x50, 0x55, 0x5A, 0x5F, 0xA0, 0xA5, 0xAA, 0xAF, 0xF0, 0xF5, 0xFA, 0xFF,
			0x03, 0x3F, 0xC0, 0xFC, 0x01, 0x02, 0x40, 0x80, 0x14, 0x28,
		} {
			elsewhere[p] = true
		}
		return parts(nth(int(char-0x1CD00), elsewhere), 4)
	}
	t.Fatalf("a character that is in no set: %U", char)
	return false
}

func nth(n int, without map[int]bool) int {
	for p := 0; ; p++ {
		if without[p] {
			continue
		}
		if n == 0 {
			return p
		}
		n--
	}
}

// paint rebuilds pixels from cells, 8 by 24 samples a cell.
func paint(t testing.TB, c Cells) *image.NRGBA {
	t.Helper()
	out := image.NewNRGBA(image.Rect(0, 0, c.Cols*8, c.Rows*24))
	masks := map[rune]*[24][8]bool{}
	for cy := range c.Rows {
		for cx, cell := range c.Row(cy) {
			m := masks[cell.Glyph]
			if m == nil {
				m = &[24][8]bool{}
				for y := range 24 {
					for x := range 8 {
						m[y][x] = covers(t, cell.Glyph, x, y)
					}
				}
				masks[cell.Glyph] = m
			}
			fg, bg := []uint8{cell.FG.R, cell.FG.G, cell.FG.B, cell.FG.A}, []uint8{cell.BG.R, cell.BG.G, cell.BG.B, cell.BG.A}
			for y := range 24 {
				line := out.Pix[(cy*24+y)*out.Stride+cx*32:]
				for x := range 8 {
					if m[y][x] {
						copy(line[4*x:], fg)
					} else {
						copy(line[4*x:], bg)
					}
				}
			}
		}
	}
	return out
}

// parseLine reads back what Lines wrote.
func parseLine(t testing.TB, line string) []Cell {
	t.Helper()
	var cells []Cell
	var fg, bg color.NRGBA
	for len(line) > 0 {
		if rest, ok := strings.CutPrefix(line, "\x1b["); ok {
			codes, after, _ := strings.Cut(rest, "m")
			line = after
			f := strings.Split(codes, ";")
			for i := 0; i < len(f); i++ {
				number := func(k int) uint8 { return uint8(atoi(t, f[i+k])) }
				switch f[i] {
				case "":
					fg, bg = color.NRGBA{}, color.NRGBA{}
				case "39":
					fg = color.NRGBA{}
				case "49":
					bg = color.NRGBA{}
				case "38":
					fg = color.NRGBA{number(2), number(3), number(4), 255}
					i += 4
				case "48":
					bg = color.NRGBA{number(2), number(3), number(4), 255}
					i += 4
				default:
					t.Fatalf("unexpected colour code %q", codes)
				}
			}
			continue
		}
		for _, r := range line {
			cells = append(cells, Cell{Glyph: r, FG: fg, BG: bg})
			line = line[len(string(r)):]
			break
		}
	}
	return cells
}

func atoi(t testing.TB, s string) int {
	t.Helper()
	n := 0
	for _, d := range s {
		if d < '0' || d > '9' {
			t.Fatalf("%q is no number", s)
		}
		n = 10*n + int(d-'0')
	}
	return n
}

// rebuild goes the whole way: cells to text, text to cells, cells to pixels.
func rebuild(t testing.TB, c Cells) *image.NRGBA {
	t.Helper()
	var back Cells
	back.Cols, back.Rows = c.Cols, c.Rows
	for _, line := range c.Lines(Palette{}) {
		row := parseLine(t, line)
		if len(row) != c.Cols {
			t.Fatalf("a row of %d cells came back as %d", c.Cols, len(row))
		}
		back.Cells = append(back.Cells, row...)
	}
	return paint(t, back)
}

// exactShare compares img, enlarged to the rebuilt picture's size, with it: 1 means
// every pixel is the same.
func exactShare(img, rebuilt *image.NRGBA) float64 {
	b, r := img.Bounds(), rebuilt.Bounds()
	same := 0
	across := make([]int, r.Dx())
	for x := range across {
		across[x] = 4 * ((2*x + 1) * b.Dx() / (2 * r.Dx()))
	}
	for y := range r.Dy() {
		from := img.Pix[(2*y+1)*b.Dy()/(2*r.Dy())*img.Stride:]
		line := rebuilt.Pix[y*rebuilt.Stride:]
		for x, at := range across {
			want, got := [4]uint8(from[at:at+4]), [4]uint8(line[4*x:4*x+4])
			if want == got || want[3] < opaqueFrom && got[3] == 0 {
				same++
			}
		}
	}
	return float64(same) / float64(r.Dx()*r.Dy())
}

// fidelity compares two pictures of the same size: peak signal to noise in dB, mean
// structural similarity of luma in 8 by 8 windows, mean visible difference.
func fidelity(a, b *image.NRGBA) (psnr, ssim, difference float64) {
	w, h := a.Bounds().Dx(), a.Bounds().Dy()
	var square, diff float64
	type pair struct{ a, b color.NRGBA }
	known := map[pair]float64{}
	luma := func(c color.NRGBA) float64 { return 0.299*float64(c.R) + 0.587*float64(c.G) + 0.114*float64(c.B) }
	for y := range h {
		for x := range w {
			p, q := a.NRGBAAt(x, y), b.NRGBAAt(x, y)
			dr, dg, db := float64(p.R)-float64(q.R), float64(p.G)-float64(q.G), float64(p.B)-float64(q.B)
			square += dr*dr + dg*dg + db*db
			if p != q {
				d, ok := known[pair{p, q}]
				if !ok {
					d = Difference(p, q)
					known[pair{p, q}] = d
				}
				diff += d
			}
		}
	}
	n := float64(w * h)
	psnr = math.Inf(1)
	if square > 0 {
		psnr = 10 * math.Log10(255*255*3*n/square)
	}
	windows := 0
	for y := 0; y+8 <= h; y += 8 {
		for x := 0; x+8 <= w; x += 8 {
			var sa, sb, saa, sbb, sab float64
			for j := range 8 {
				for i := range 8 {
					u, v := luma(a.NRGBAAt(x+i, y+j)), luma(b.NRGBAAt(x+i, y+j))
					sa, sb, saa, sbb, sab = sa+u, sb+v, saa+u*u, sbb+v*v, sab+u*v
				}
			}
			ma, mb := sa/64, sb/64
			va, vb, cov := saa/64-ma*ma, sbb/64-mb*mb, sab/64-ma*mb
			const c1, c2 = 6.5025, 58.5225
			ssim += (2*ma*mb + c1) * (2*cov + c2) / ((ma*ma + mb*mb + c1) * (va + vb + c2))
			windows++
		}
	}
	return psnr, ssim / float64(windows), diff / n
}

// corpusSprites reads the sprites of the reference's corpus.
func corpusSprites(t testing.TB) map[string]*image.NRGBA {
	t.Helper()
	folder := realtest.Corpus(t)
	sprites := map[string]*image.NRGBA{}
	for _, name := range []string{"corpus.jsonl", "generated.jsonl"} {
		file, err := os.Open(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var row struct {
				Name string `json:"name"`
				W    int    `json:"w"`
				H    int    `json:"h"`
				RGBA string `json:"rgba"`
			}
			if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
				t.Fatalf("read %s: %v", name, err)
			}
			pix, err := hex.DecodeString(row.RGBA)
			if err != nil || len(pix) != 4*row.W*row.H || len(pix) == 0 {
				continue // only small ones have their pixels there
			}
			sprites[row.Name+" of "+name+" "+string(rune('a'+len(sprites)%26))] = &image.NRGBA{Pix: pix, Stride: 4 * row.W, Rect: image.Rect(0, 0, row.W, row.H)}
		}
	}
	return sprites
}
