package picture

import (
	"cmp"
	"image"
	"image/color"
	"slices"
	"strings"
)

// ModeLetters shows one letter per colour, or shades of ASCII characters.
const ModeLetters Mode = "letters"

// lettered shows a picture without colours.
type lettered struct{}

func (lettered) mode() Mode { return ModeLetters }

// unit is a cell: one letter per pixel.
func (lettered) unit(int, int) (w, h int) { return 1, 1 }

func (lettered) draw(d *drawing, img *image.NRGBA, s Spec, _ Caps) {
	if s.Letters != nil {
		d.lines = s.Letters.Lines(img)
		return
	}
	d.lines = Shades(img, s.Cols, s.Rows)
}

func (lettered) print(img *image.NRGBA, room Room, _ Target) string {
	var b strings.Builder
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	if w <= room.Cols && h <= room.Rows {
		if lines, legend, ok := Letters(img, 2*w <= room.Cols); ok {
			writeLines(&b, lines)
			for _, one := range legend {
				b.WriteString("\n" + string(one.Char) + " " + Hex(one.Color))
			}
			if len(legend) > 0 {
				b.WriteByte('\n')
			}
			return b.String()
		}
	}
	cols, rows := FitSmooth(w, h, Room{room.Cols, room.Rows, 1, 2})
	writeLines(&b, Shades(img, cols, rows))
	return b.String()
}

// letters are assigned to the colours of a sprite, the most common first.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// Letter is an entry in the legend of a picture drawn with letters.
type Letter struct {
	Char  byte
	Color color.NRGBA
	// Count is the number of pixels.
	Count int
}

// Letters draws a sprite with one letter per colour, which is exact without any colour. A
// transparent pixel is a dot. Wide doubles the columns to make pixels about square. It
// returns false for a picture with more colours than letters; see [Shades].
func Letters(img *image.NRGBA, wide bool) (lines []string, legend []Letter, ok bool) {
	legend, ok = Legend(img)
	if !ok {
		return nil, nil, false
	}
	return NewLettering(legend, wide, nil).Lines(img), legend, true
}

// Legend assigns a letter to each colour of the pictures, the most common first. It returns
// false if there are more colours than letters.
func Legend(pictures ...*image.NRGBA) (legend []Letter, ok bool) {
	count := map[color.NRGBA]int{}
	for _, img := range pictures {
		b := img.Bounds()
		for y := range b.Dy() {
			for x := range b.Dx() {
				if c := img.NRGBAAt(b.Min.X+x, b.Min.Y+y); c.A > 0 {
					count[c]++
				}
			}
			if len(count) > len(letters) {
				return nil, false
			}
		}
	}
	for c, n := range count {
		legend = append(legend, Letter{Color: c, Count: n})
	}
	slices.SortFunc(legend, func(x, y Letter) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(pack(x.Color), pack(y.Color)))
	})
	for i := range legend {
		legend[i].Char = letters[i]
	}
	return legend, true
}

// Lettering draws pictures with the letters of a legend.
type Lettering struct {
	chars   map[color.NRGBA]byte
	wide    bool
	reverse func(x, y int) bool
}

// NewLettering returns a Lettering for a legend. Wide doubles the columns. reverse, which
// may be nil, reports which pixels to highlight.
func NewLettering(legend []Letter, wide bool, reverse func(x, y int) bool) *Lettering {
	chars := make(map[color.NRGBA]byte, len(legend))
	for _, one := range legend {
		chars[one.Color] = one.Char
	}
	return &Lettering{chars, wide, reverse}
}

// Lines draws a picture. A colour that is not in the legend becomes a question mark.
func (l *Lettering) Lines(img *image.NRGBA) []string {
	b := img.Bounds()
	lines := make([]string, b.Dy())
	var line strings.Builder
	for y := range lines {
		line.Reset()
		reversed := false
		for x := range b.Dx() {
			one := byte('.')
			if c := img.NRGBAAt(b.Min.X+x, b.Min.Y+y); c.A > 0 {
				one = cmp.Or(l.chars[c], '?')
			}
			if r := l.reverse != nil && l.reverse(x, y); r != reversed {
				reversed = r
				line.WriteString(map[bool]string{true: "\x1b[7m", false: "\x1b[m"}[r])
			}
			line.WriteByte(one)
			if l.wide {
				line.WriteByte(one)
			}
		}
		if reversed {
			line.WriteString("\x1b[m")
		}
		lines[y] = line.String()
	}
	return lines
}

func pack(c color.NRGBA) uint32 {
	return uint32(c.R)<<24 | uint32(c.G)<<16 | uint32(c.B)<<8 | uint32(c.A)
}

// shades are ordered from dark to light.
const shades = " .:-=+*#%@"

// Shades draws a picture of many colours by brightness, in ASCII characters.
func Shades(img *image.NRGBA, cols, rows int) []string {
	small := Shrink(img, cols, rows)
	lines := make([]string, max(rows, 0))
	for y := range lines {
		line := make([]byte, cols)
		for x := range line {
			c := Mix(color.NRGBA{A: 255}, small.NRGBAAt(x, y))
			l := toLab(c).l
			line[x] = shades[min(int(l*float64(len(shades))), len(shades)-1)]
		}
		lines[y] = string(line)
	}
	return lines
}
