package picture

import (
	"image"
	"strings"
)

// Room is the space for a picture: a box of cells and how many picture units make one.
// In text a unit is a half cell (1 by 2), with letters a cell, in modes that send pixels
// a device pixel.
type Room struct {
	Cols, Rows   int
	UnitW, UnitH int
}

// RoomFor returns the room of cols by rows cells in a mode.
func RoomFor(m Mode, cols, rows, cellW, cellH int) Room {
	w, h := wayOf(m).unit(cellW, cellH)
	return Room{cols, rows, w, h}
}

// Fitted says how large a picture is drawn: Factor units a pixel, or with Divisor above
// 1 that many pixels a unit, which loses some; and the cells this takes.
type Fitted struct {
	Factor, Divisor int
	Cols, Rows      int
}

// FitWhole finds the largest whole factor that fits, else the smallest whole divisor.
func FitWhole(w, h int, r Room) Fitted {
	f := Fitted{Factor: 1, Divisor: 1}
	if w <= 0 || h <= 0 || r.Cols <= 0 || r.Rows <= 0 {
		return Fitted{Factor: 1, Divisor: 1}
	}
	unitsW, unitsH := r.Cols*r.UnitW, r.Rows*r.UnitH
	if factor := min(unitsW/w, unitsH/h); factor >= 1 {
		f.Factor = factor
	} else {
		f.Divisor = max((w+unitsW-1)/unitsW, (h+unitsH-1)/unitsH)
	}
	f.Cols, f.Rows = f.cells(w, h, r)
	return f
}

func (f Fitted) cells(w, h int, r Room) (cols, rows int) {
	across, down := r.UnitW*f.Divisor, r.UnitH*f.Divisor
	return (w*f.Factor + across - 1) / across, (h*f.Factor + down - 1) / down
}

// FitSmooth finds the largest box of the picture's proportions that fits, never above
// one unit a pixel: for screenshots and photos. The box has at least one cell.
func FitSmooth(w, h int, r Room) (cols, rows int) {
	if w <= 0 || h <= 0 || r.Cols <= 0 || r.Rows <= 0 {
		return 0, 0
	}
	unitsW, unitsH := min(r.Cols*r.UnitW, w), min(r.Rows*r.UnitH, h)
	if unitsW*h > unitsH*w {
		unitsW = max(1, (unitsH*w+h/2)/h)
	} else {
		unitsH = max(1, (unitsW*h+w/2)/w)
	}
	return max(1, (unitsW+r.UnitW-1)/r.UnitW), max(1, (unitsH+r.UnitH/2)/r.UnitH)
}

// Target is where a picture goes.
type Target struct {
	// Mode is the way to show it; Auto counts as Block.
	Mode  Mode
	Depth Depth
	// Cols and Rows bound it; 0 leaves that side to the picture.
	Cols, Rows int
	// CellW and CellH are a cell's device pixels, Registers the sixel colours; 0 for the usual.
	CellW, CellH, Registers int
	// Tmux wraps kitty commands.
	Tmux bool
	// ID is the picture's id for kitty placeholders, 0 to show it without.
	ID uint32
	// Smooth shrinks by area means and snaps to common colours: for anything that is
	// not pixel art.
	Smooth bool
	// Ground is laid behind transparent pixels; nil keeps the terminal's own where the
	// mode can.
	Ground *Checker
}

// Encode draws a picture as text to print: one line per row and no cursor movement for
// modes made of cells; for the others the terminal's command and a line end.
func Encode(img *image.NRGBA, t Target) string {
	if t.Mode == Auto {
		t.Mode = ModeBlock
	}
	if t.CellW <= 0 || t.CellH <= 0 {
		t.CellW, t.CellH = 10, 20
	}
	if t.Registers <= 0 {
		t.Registers = 256
	}
	const unbounded = 1 << 14
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	if w == 0 || h == 0 {
		return ""
	}
	room := RoomFor(t.Mode, t.Cols, t.Rows, t.CellW, t.CellH)
	if room.Cols <= 0 && room.Rows <= 0 { // its own size, or one column a pixel
		room.Cols = (w + room.UnitW - 1) / room.UnitW
	}
	if room.Cols <= 0 {
		room.Cols = unbounded
	}
	if room.Rows <= 0 {
		room.Rows = unbounded
	}
	return wayOf(t.Mode).print(img, room, t)
}

// joined is lines with their ends.
func joined(lines []string) string {
	var b strings.Builder
	writeLines(&b, lines)
	return b.String()
}

func writeLines(b *strings.Builder, lines []string) {
	for _, line := range lines {
		b.WriteString(line)
		b.WriteByte('\n')
	}
}

// frameFor scales a picture for its cells.
func frameFor(img *image.NRGBA, room Room, t Target) (frame *image.NRGBA, cols, rows int) {
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	ground := func(img *image.NRGBA, square int) *image.NRGBA {
		if t.Ground == nil {
			return img
		}
		c := *t.Ground
		c.Square *= square
		return Over(img, c)
	}
	if t.Smooth {
		cols, rows = FitSmooth(w, h, room)
		frame = ground(img, 1)
		if t.Mode.Pixels() {
			frame = Shrink(frame, cols*room.UnitW, rows*room.UnitH)
		}
		return frame, cols, rows
	}
	f := FitWhole(w, h, room)
	frame = Scale(img, f.Factor)
	if f.Divisor > 1 && t.Mode.Pixels() {
		frame = Shrink(frame, max(1, w/f.Divisor), max(1, h/f.Divisor))
		f.Divisor = 1
	}
	frame = ground(frame, f.Factor)
	frame = Pad(frame, f.Cols*room.UnitW*f.Divisor, f.Rows*room.UnitH*f.Divisor)
	return frame, f.Cols, f.Rows
}
