package picture

import (
	"encoding/base64"
	"fmt"
	"image"
	"strconv"
	"strings"
)

// rowOf returns the pixels of one text row of a picture, sharing them.
func rowOf(img *image.NRGBA, row, height int) *image.NRGBA {
	r := image.Rect(0, row*height, img.Bounds().Dx(), (row+1)*height).Intersect(img.Bounds())
	part := img.SubImage(r).(*image.NRGBA)
	return &image.NRGBA{Pix: part.Pix, Stride: part.Stride, Rect: image.Rect(0, 0, r.Dx(), r.Dy())}
}

// ITerm2Strips cuts a picture into one file per text row of cellH pixels, each as wide
// as cols cells, so that a row can be sent again alone. The picture must have the exact
// size of its cells.
func ITerm2Strips(img *image.NRGBA, cols, cellH int) []string {
	strips := make([]string, (img.Bounds().Dy()+cellH-1)/cellH)
	for i := range strips {
		strips[i] = ITerm2(Pad(rowOf(img, i, cellH), 0, cellH), cols, 1)
	}
	return strips
}

// ITerm2 is a picture as an inline file of cols by rows cells at the cursor.
func ITerm2(img *image.NRGBA, cols, rows int) string {
	return inlineFile(img, strconv.Itoa(cols), strconv.Itoa(rows)+";doNotMoveCursor=1")
}

func inlineFile(img *image.NRGBA, width, height string) string {
	data := encodePNG(img)
	return fmt.Sprintf("\x1b]1337;File=inline=1;size=%d;width=%s;height=%s;preserveAspectRatio=0:%s\a",
		len(data), width, height, base64.StdEncoding.EncodeToString(data))
}

// SixelStrips cuts a picture into one sixel image per text row of cellH pixels, all with
// the same palette of at most registers colours.
func SixelStrips(img *image.NRGBA, cellH, registers int) []string {
	p := index(img, registers)
	strips := make([]string, (img.Bounds().Dy()+cellH-1)/cellH)
	for i := range strips {
		strips[i] = p.sixel(i*cellH, min((i+1)*cellH, img.Bounds().Dy()))
	}
	return strips
}

// Sixel is a whole picture at the cursor, in at most registers colours. Pixels below
// half alpha stay as they were; lay the picture on a ground for anything between.
func Sixel(img *image.NRGBA, registers int) string {
	return index(img, registers).sixel(0, img.Bounds().Dy())
}

// sixel writes rows y0 to y1: bands of six, and in each band one run-length line per
// colour that occurs in it.
func (p *indexed) sixel(y0, y1 int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\x1bP0;1;0q\"1;1;%d;%d", p.w, y1-y0)
	used := make([]bool, len(p.colours))
	for _, c := range p.pix[y0*p.w : y1*p.w] {
		if c != hole {
			used[c] = true
		}
	}
	for i, c := range p.colours {
		if used[i] {
			fmt.Fprintf(&b, "#%d;2;%d;%d;%d", i, percent(c.R), percent(c.G), percent(c.B))
		}
	}
	lines := make([][]byte, len(p.colours))
	for y := y0; y < y1; y += 6 {
		if y > y0 {
			b.WriteByte('-')
		}
		var order []uint16
		for dy := range min(6, y1-y) {
			for x, c := range p.pix[(y+dy)*p.w : (y+dy+1)*p.w] {
				if c == hole {
					continue
				}
				if lines[c] == nil {
					lines[c] = make([]byte, p.w)
					order = append(order, c)
				}
				lines[c][x] |= 1 << dy
			}
		}
		for i, c := range order {
			if i > 0 {
				b.WriteByte('$')
			}
			fmt.Fprintf(&b, "#%d", c)
			runLengths(&b, lines[c])
			lines[c] = nil
		}
	}
	b.WriteString("\x1b\\")
	return b.String()
}

// percent rounds: truncation would be off by up to 3 of 255.
func percent(v uint8) int { return (int(v)*100 + 127) / 255 }

func runLengths(b *strings.Builder, line []byte) {
	end := len(line)
	for end > 0 && line[end-1] == 0 {
		end--
	}
	for x := 0; x < end; {
		n := 1
		for x+n < end && line[x+n] == line[x] {
			n++
		}
		char := '?' + line[x]
		if n > 3 {
			fmt.Fprintf(b, "!%d%c", n, char)
		} else {
			for range n {
				b.WriteByte(char)
			}
		}
		x += n
	}
}
