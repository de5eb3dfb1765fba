package picture

import (
	"cmp"
	"image"
	"image/color"
	"slices"
	"strings"
)

// letters are given to the colours of a sprite, the commonest first.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// Letter is a line of the legend to a picture in letters.
type Letter struct {
	Char  byte
	Color color.NRGBA
	// Count is the number of pixels.
	Count int
}

// Letters writes a sprite with one letter per colour, exact without any colour; a
// transparent pixel is a dot. Wide doubles the columns, which makes pixels about square.
// It reports false for a picture with more colours than letters: see [Shades].
func Letters(img *image.NRGBA, wide bool) (lines []string, legend []Letter, ok bool) {
	b := img.Bounds()
	count := map[color.NRGBA]int{}
	for y := range b.Dy() {
		for x := range b.Dx() {
			if c := img.NRGBAAt(b.Min.X+x, b.Min.Y+y); c.A > 0 {
				count[c]++
			}
		}
		if len(count) > len(letters) {
			return nil, nil, false
		}
	}
	for c, n := range count {
		legend = append(legend, Letter{Color: c, Count: n})
	}
	slices.SortFunc(legend, func(x, y Letter) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(pack(x.Color), pack(y.Color)))
	})
	char := map[color.NRGBA]byte{}
	for i := range legend {
		legend[i].Char = letters[i]
		char[legend[i].Color] = letters[i]
	}
	var line strings.Builder
	for y := range b.Dy() {
		line.Reset()
		for x := range b.Dx() {
			one := byte('.')
			if c := img.NRGBAAt(b.Min.X+x, b.Min.Y+y); c.A > 0 {
				one = char[c]
			}
			line.WriteByte(one)
			if wide {
				line.WriteByte(one)
			}
		}
		lines = append(lines, line.String())
	}
	return lines, legend, true
}

func pack(c color.NRGBA) uint32 {
	return uint32(c.R)<<24 | uint32(c.G)<<16 | uint32(c.B)<<8 | uint32(c.A)
}

// shades go from dark to light.
const shades = " .:-=+*#%@"

// Shades draws a picture of many colours by brightness, in plain characters.
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
