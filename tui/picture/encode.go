package picture

import (
	"image"
	"strings"
)

// Room is the space available to a picture: a box of cells, and the number of picture
// units per cell. A unit is a half cell (1 by 2) in text modes, a whole cell with letters,
// and a device pixel in modes that send pixels.
type Room struct {
	Cols, Rows   int
	UnitW, UnitH int
}

// roomFor returns the room that cols by rows cells provide in mode m.
func roomFor(m Mode, cols, rows, cellW, cellH int) Room {
	w, h := wayOf(m).unit(cellW, cellH)
	return Room{cols, rows, w, h}
}

// Fitted is the size at which a picture is drawn: Factor units per pixel or, if Divisor is
// above 1, Divisor pixels per unit, which loses detail. Cols and Rows are the cells used.
type Fitted struct {
	Factor, Divisor int
	Cols, Rows      int
}

// FitWhole returns the largest whole factor that fits, or else the smallest whole divisor.
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

// FitSmooth returns the largest box with the picture's proportions that fits, using at most
// one unit per pixel. It is meant for screenshots and photos. The box has at least one cell.
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

// Target describes where and how a picture is drawn.
type Target struct {
	// Mode is how to show the picture; Auto means Block.
	Mode  Mode
	Depth Depth
	// Cols and Rows limit the size; 0 leaves that side unlimited.
	Cols, Rows int
	// CellW and CellH are the size of a cell in device pixels, and Registers the number of
	// sixel colours; 0 selects the defaults.
	CellW, CellH, Registers int
	// Tmux wraps kitty commands for tmux.
	Tmux bool
	// ID is the picture's id for kitty placeholders; 0 shows the picture without them.
	ID uint32
	// Smooth shrinks by area means and snaps to common colours. Set it for anything that is
	// not pixel art.
	Smooth bool
	// Ground is drawn behind transparent pixels; nil keeps the terminal's background where
	// the mode supports that.
	Ground *Checker
}

// Encode returns img as text to print. In cell modes that is one line per row, without
// cursor movement; in other modes it is the terminal's command followed by a newline.
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
	room := roomFor(t.Mode, t.Cols, t.Rows, t.CellW, t.CellH)
	if room.Cols <= 0 && room.Rows <= 0 { // natural size, or one column per pixel
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

// joined returns lines, each with a newline.
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

// frameFor scales a picture to fill its cells.
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
