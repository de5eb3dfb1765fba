package picture

import (
	"fmt"
	"image"
	"slices"
	"strconv"
	"strings"
)

// ModeSixel shows pictures as strips of sixels.
const ModeSixel Mode = "sixel"

// sixelAttribute is the device attribute of terminals that support sixels.
const sixelAttribute = 4

// sixels shows pictures as bands of six pixel rows in indexed colours.
type sixels struct{ stripped }

func (sixels) mode() Mode { return ModeSixel }

// query asks for the largest picture size and the number of colours.
func (sixels) query() (ask string, through bool) { return "\x1b[?2;1;0S\x1b[?1;1;0S", false }

// answer handles replies such as ESC [ ? 2 ; 0 ; 1000 ; 680 S.
func (sixels) answer(p *Probe, sequence string) {
	body, ok := strings.CutPrefix(sequence, "\x1b[?")
	if !ok || !strings.HasSuffix(body, "S") {
		return
	}
	var n []int
	for part := range strings.SplitSeq(strings.TrimSuffix(body, "S"), ";") {
		v, err := strconv.Atoi(part)
		if err != nil || v < 0 || v > 1<<20 {
			return
		}
		n = append(n, v)
	}
	switch {
	case len(n) == 3 && n[0] == 1 && n[1] == 0:
		p.registers = n[2]
	case len(n) == 4 && n[0] == 2 && n[1] == 0:
		p.maxW, p.maxH = n[2], n[3]
	}
}

func (sixels) facts(p *Probe) []Fact {
	colours := ""
	if p.registers > 0 {
		colours = strconv.Itoa(p.registers)
	}
	return []Fact{
		{"sixel colours", p.said(colours), "palette size"},
		{"largest sixel picture", p.saidSize(p.maxW, p.maxH), "larger ones are cut"},
	}
}

// detect does not need the name, because the device attributes are reliable.
func (sixels) detect(p *Probe, _ terminal, _ Caps) verdict {
	switch {
	case p.mux != "" || !slices.Contains(p.da1, sixelAttribute):
		return verdict{}
	case !p.cellKnown():
		return verdict{why: "it reports sixel support, but the cell size is unknown: text"}
	}
	return verdict{use: true, why: "it reports sixel support"}
}

func (sixels) alpha() bool { return false }

// most limits only the width, because a strip is one row high.
func (sixels) most(c Caps, cols, rows int) (int, int) {
	if c.MaxW >= c.CellW {
		cols = min(cols, c.MaxW/c.CellW)
	}
	return cols, rows
}

func (w sixels) draw(d *drawing, img *image.NRGBA, s Spec, c Caps) {
	w.keep(d, sixelStrips(img, c.CellH, c.Registers), img, s)
}

func (sixels) print(img *image.NRGBA, r Room, t Target) string {
	frame, _, _ := frameFor(img, r, t)
	return Sixel(frame, t.Registers) + "\n"
}

// sixelStrips cuts a picture into one sixel image per text row of cellH pixels. All share a
// palette of at most registers colours.
func sixelStrips(img *image.NRGBA, cellH, registers int) []string {
	p := index(img, registers)
	strips := make([]string, (img.Bounds().Dy()+cellH-1)/cellH)
	for i := range strips {
		strips[i] = p.sixel(i*cellH, min((i+1)*cellH, img.Bounds().Dy()))
	}
	return strips
}

// Sixel returns a whole picture at the cursor, in at most registers colours. Pixels below
// half alpha are not painted; use [Over] first to blend partly transparent ones.
func Sixel(img *image.NRGBA, registers int) string {
	return index(img, registers).sixel(0, img.Bounds().Dy())
}

// sixel encodes rows y0 to y1 as bands of six, each with one run-length encoded line per
// colour that occurs in it.
//
// The encoder of x/ansi takes nine to twelve times as long, three to ten times the memory and up
// to eight times the bytes; it knows neither the number of registers nor a palette for all strips,
// and moves the cursor to the next line.
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

// percent rounds, because truncation would be off by up to 3 of 255.
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
