package pencil

import (
	"fmt"
	"image"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pencil"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/picture"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Head says how the mode stands, and what the app works with.
func (c *Part) Head(f *tui.Frame, w int) []string {
	th, s := f.Theme, c.status
	sign := s.Sign()
	label := pencil.Label(sign, th.Glyph.ASCII)
	words := sign.Note
	if s.App == pencil.AppSilent && sign.Tone == upstream.Warning {
		words += "; r restarts Pencil's server"
	}
	if sign.Tone == upstream.Hidden {
		label, words = "Pencil mode is off", "no agent sees it"
	}
	var more []string
	add := func(name, value string) {
		if value != "" {
			more = append(more, th.Faint.Render(name+" ")+th.Muted.Render(sanitize.Line(value)))
		}
	}
	if s.Mode == upstream.On || s.PID != 0 {
		add("app", s.For+" ("+string(s.App)+")")
		add("file", s.File)
	}
	if s.Waiting > 0 {
		add("waiting calls", fmt.Sprint(s.Waiting))
	}
	if s.Restarts > 0 {
		add("restarts", fmt.Sprint(s.Restarts))
	}
	head, facts := toneStyle(th, sign.Tone).Render(label)+th.Muted.Render("  "+sanitize.Line(words)), strings.Join(more, "   ")
	if facts == "" || widget.Width(head)+3+widget.Width(facts) <= w {
		return []string{widget.Fit(head+"   "+facts, w)}
	}
	return []string{widget.Fit(head, w), widget.Fit(facts, w)}
}

// Picture draws the last picture and its facts, or, with no room, the facts.
func (c *Part) Picture(f *tui.Frame, x, y, w, h int) []string {
	th, pic := f.Theme, c.status.Picture
	if pic.Type == "" {
		return nil
	}
	facts := sanitize.Line(pic.Tool) + ", " + f.Since(pic.Time)
	size := th.Faint.Render(humanize.Bytes(pic.Bytes))
	if pic.Width > 0 {
		size = th.Faint.Render(fmt.Sprintf("%d×%d, ", pic.Width, pic.Height)) + size
	}
	cols, high := w-4, h-1
	if high < 4 || cols < 8 || pic.Width == 0 {
		row := th.Muted.Render(facts) + "  " + th.Faint.Render(sanitize.Line(pic.Type))
		return widget.Pane(th, "Last picture", size, false, []string{row}, w, h)
	}
	room := f.PictureRoom(cols, high)
	cw, ch := contain(pic.Width, pic.Height, room)
	pad := (cols - cw) / 2
	spec := picture.Spec{
		Slot: "pencil", Key: fmt.Sprint(pic.Time.UnixNano(), pic.Bytes), Cols: cw, Rows: ch, Smooth: true,
		Make: func() *image.NRGBA { return fit(pic, cw*room.UnitW, ch*room.UnitH) },
	}
	var rows []string
	for _, line := range f.Picture(x+2+pad, y+1, spec) {
		rows = append(rows, widget.Blank(pad)+line)
	}
	return widget.Pane(th, "Last picture: "+facts, size, false, rows, w, h)
}

// contain is how many cells a picture takes inside a room, its shape kept.
func contain(w, h int, room picture.Room) (cols, rows int) {
	maxW, maxH := room.Cols*room.UnitW, room.Rows*room.UnitH
	if w*maxH > h*maxW {
		h, w = max(h*maxW/w, 1), maxW
	} else {
		w, h = max(w*maxH/h, 1), maxH
	}
	return max(w/room.UnitW, 1), max(h/room.UnitH, 1)
}

// fit decodes a picture at a size. What cannot be read is an empty one.
func fit(pic upstream.Picture, w, h int) *image.NRGBA {
	img, err := pic.Image()
	if err != nil {
		return image.NewNRGBA(image.Rect(0, 0, w, h))
	}
	return picture.Shrink(picture.ToNRGBA(img), w, h)
}
