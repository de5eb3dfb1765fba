package picture

import (
	"encoding/base64"
	"fmt"
	"image"
	"slices"
	"strconv"
)

// ModeITerm2 shows pictures as inline files.
const ModeITerm2 Mode = "iterm"

// inlineFiles shows pictures with iTerm2's inline file sequence.
type inlineFiles struct{ stripped }

func (inlineFiles) mode() Mode { return ModeITerm2 }

// detect goes by the terminal's name. A name that comes from the environment counts only if
// the device attributes indicate pictures as well.
func (inlineFiles) detect(p *Probe, t terminal, _ Caps) verdict {
	if p.mux == "" && t.iterm && (p.name != "" || slices.Contains(p.da1, sixelAttribute)) {
		return verdict{use: true, why: t.name + " shows inline files"}
	}
	return verdict{}
}

func (w inlineFiles) draw(d *drawing, img *image.NRGBA, s Spec, c Caps) {
	w.keep(d, iTerm2Strips(img, s.Cols, c.CellH), img, s)
}

func (inlineFiles) print(img *image.NRGBA, r Room, t Target) string {
	frame, _, _ := frameFor(img, r, t)
	b := frame.Bounds() // in device pixels, because the cell size is a guess here
	return inlineFile(frame, strconv.Itoa(b.Dx())+"px", strconv.Itoa(b.Dy())+"px") + "\n"
}

// iTerm2Strips cuts a picture into one file per text row of cellH pixels, each cols cells
// wide, so that a row can be sent again on its own. The picture must have exactly the size
// of its cells.
func iTerm2Strips(img *image.NRGBA, cols, cellH int) []string {
	strips := make([]string, (img.Bounds().Dy()+cellH-1)/cellH)
	for i := range strips {
		strips[i] = ITerm2(Pad(rowOf(img, i, cellH), 0, cellH), cols, 1)
	}
	return strips
}

// ITerm2 returns a picture as an inline file of cols by rows cells at the cursor.
func ITerm2(img *image.NRGBA, cols, rows int) string {
	return inlineFile(img, strconv.Itoa(cols), strconv.Itoa(rows)+";doNotMoveCursor=1")
}

func inlineFile(img *image.NRGBA, width, height string) string {
	data := encodePNG(img)
	return fmt.Sprintf("\x1b]1337;File=inline=1;size=%d;width=%s;height=%s;preserveAspectRatio=0:%s\a",
		len(data), width, height, base64.StdEncoding.EncodeToString(data))
}
