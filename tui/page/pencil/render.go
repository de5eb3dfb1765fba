package pencil

import (
	"fmt"
	"image"
	"strconv"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/card"
	"github.com/mcpdeck/mcpdeck/servers/card/child"
	"github.com/mcpdeck/mcpdeck/servers/pencil"
	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/servers/span"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/picture"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Render draws how things stand, then tools beside calls and picture above the
// log; in a small terminal, the part with the focus alone.
func (p *Page) Render(f *tui.Frame) []string {
	p.areas = p.areas[:0]
	rows := p.head(f)
	h := f.H - len(rows)
	if f.W < 72 || h < 12 {
		return append(rows, p.small(f, len(rows), h)...)
	}
	bottom := max(h/4, 5)
	top := h - bottom
	left := min(f.W/2, 64)
	y := len(rows)
	rows = append(rows, widget.Beside(p.box(f, partTools, 0, y, left, top), p.right(f, left, y, f.W-left, top))...)
	return append(rows, p.box(f, partLog, 0, y+top, f.W, bottom)...)
}

// right draws the calls above the last picture.
func (p *Page) right(f *tui.Frame, x, y, w, h int) []string {
	if p.status.Picture.Type == "" {
		return p.box(f, partCalls, x, y, w, h)
	}
	below := 3
	if h >= 14 {
		below = h / 2
	}
	return append(p.box(f, partCalls, x, y, w, h-below), p.picture(f, x, y+h-below, w, below)...)
}

// picture draws the last picture and its facts, or, with no room, the facts.
func (p *Page) picture(f *tui.Frame, x, y, w, h int) []string {
	th, pic := f.Theme, p.status.Picture
	facts := plain.Line(pic.Tool) + ", " + f.Since(pic.Time)
	size := th.Faint.Render(tui.Bytes(pic.Bytes))
	if pic.Width > 0 {
		size = th.Faint.Render(fmt.Sprintf("%d×%d, ", pic.Width, pic.Height)) + size
	}
	cols, high := w-4, h-2
	if high < 4 || cols < 8 || pic.Width == 0 {
		row := th.Muted.Render(facts) + "  " + th.Faint.Render(plain.Line(pic.Type))
		return widget.Box(th, "Last picture", size, false, []string{row}, w, h)
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
	return widget.Box(th, "Last picture: "+facts, size, false, rows, w, h)
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
func fit(pic card.Picture, w, h int) *image.NRGBA {
	img, err := pic.Image()
	if err != nil {
		return image.NewNRGBA(image.Rect(0, 0, w, h))
	}
	return picture.Shrink(picture.ToNRGBA(img), w, h)
}

// head says how things stand.
func (p *Page) head(f *tui.Frame) []string {
	th, s := f.Theme, p.status
	sign := s.Sign()
	label := pencil.Label(sign, th.Glyph.ASCII)
	words := sign.Note
	if s.App == pencil.AppSilent && sign.Tone == card.Warning {
		words += "; r restarts Pencil's server"
	}
	if sign.Tone == card.Hidden {
		label, words = "Pencil mode is off", "no agent sees it"
		if s.Error != "" {
			words = s.Error
		}
	}
	left := toneStyle(th, sign.Tone).Render(label) + th.Muted.Render("  "+plain.Line(words))
	p.errorSaid = s.Error != "" && strings.Contains(words, s.Error) && widget.Width(left) <= f.W-2
	rows := []string{" " + widget.Fit(left, f.W-2) + " "}
	if f.H >= 14 {
		rows = append(rows, " "+p.cost(f, f.W-2))
		rows = append(rows, p.facts(f)...)
	}
	if len(s.Held) > 0 {
		text := th.Warn.Render("! held: " + s.Holding() + "; agents do not get them until you accept")
		keys := th.Key.Render("a") + th.Muted.Render(" accept")
		rows = append(rows, " "+widget.Ends(text, keys, f.W-2))
		if n := len(s.Asked); n > 0 {
			text := "! mcpdeck pencil accept was run by " + plain.Line(s.Asked[n-1])
			if n > 1 {
				text = fmt.Sprintf("! mcpdeck pencil accept was run %d times, last by %s", n, plain.Line(s.Asked[n-1]))
			}
			rows = append(rows, " "+widget.Fit(th.Warn.Render(text), f.W-2))
		}
	}
	return rows
}

// cost is what the mode costs each agent, on and off.
func (p *Page) cost(f *tui.Frame, w int) string {
	th, s := f.Theme, p.status
	if len(s.Tools) == 0 {
		return widget.Fit(th.Faint.Render("cost: 0 bytes while off; the cost while on is known once Pencil connects"), w)
	}
	on := fmt.Sprintf("%s, about %s tokens", tui.Bytes(s.Bytes), thousands(s.Tokens()))
	a, b := th.Muted, th.Faint
	if !s.Listed {
		a, b = b, a
	}
	return widget.Fit(th.Faint.Render("cost to each agent: ")+a.Render("on "+on)+th.Faint.Render("  ")+b.Render("off 0 bytes"), w)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// facts are the program and the child, on a line or two.
func (p *Page) facts(f *tui.Frame) []string {
	th, s := f.Theme, p.status
	var parts []string
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, th.Faint.Render(name+" ")+th.Muted.Render(plain.Line(value)))
		}
	}
	if s.Mode == card.On || s.PID != 0 {
		add("app", s.For+" ("+string(s.App)+")")
		add("file", s.File)
	}
	if s.PID != 0 {
		add("process", strconv.Itoa(s.PID)+" for "+f.Ago(s.Since))
	} else if s.Link != card.NoLink {
		add("link", string(s.Link))
	}
	if s.Restarts > 0 {
		add("restarts", strconv.Itoa(s.Restarts))
	}
	if s.Waiting > 0 {
		add("waiting calls", strconv.Itoa(s.Waiting))
	}
	var rows []string
	if len(parts) > 0 {
		rows = append(rows, " "+widget.Fit(strings.Join(parts, "   "), f.W-2))
	}
	if s.Program != "" && f.H >= 20 {
		line := th.Faint.Render("program ") + th.Muted.Render(plain.Line(widget.CutLeft(s.Program, max(f.W-40, 20)))) + th.Faint.Render("  by "+plain.Line(s.Source))
		rows = append(rows, " "+widget.Fit(line, f.W-2))
	}
	return rows
}

func (p *Page) box(f *tui.Frame, part string, x, y, w, h int) []string {
	focus := f.Focus && p.part == part
	p.areas = append(p.areas, tui.Area{Part: part, X: x + 1, Y: y + 1, W: w - 2, H: h - 2})
	title, note := p.heading(f, part)
	return widget.Box(f.Theme, title, note, focus, p.rows(f, part, w-4, h-2, focus), w, h)
}

// small draws the part with the focus under a rule that names all.
func (p *Page) small(f *tui.Frame, y, h int) []string {
	if h < 2 {
		return nil
	}
	th := f.Theme
	title, note := p.heading(f, p.part)
	rows := []string{widget.Rule(th.Focus, th.Accent, th.Glyph.Focus.Top, title, note, f.W)}
	p.areas = append(p.areas, tui.Area{Part: p.part, X: 0, Y: y + 1, W: f.W, H: h - 1})
	return append(rows, p.rows(f, p.part, f.W, h-1, f.Focus)...)
}

func (p *Page) heading(f *tui.Frame, part string) (title, note string) {
	th, s := f.Theme, p.status
	switch part {
	case partTools:
		if n := len(s.Tools); n > 0 {
			note = th.Faint.Render(strconv.Itoa(n))
		}
		return "Tools", note
	case partCalls:
		if n := s.OK + s.Failed; n > 0 {
			note = th.Faint.Render(strconv.Itoa(n))
		}
		if s.Failed > 0 {
			note += th.Faint.Render(", ") + th.Bad.Render(strconv.Itoa(s.Failed)+" failed")
		}
		return "Last calls", note
	}
	return "Link log", ""
}

// rows draws the inside of a part.
func (p *Page) rows(f *tui.Frame, part string, w, h int, focus bool) []string {
	switch part {
	case partTools:
		if len(p.items) == 0 {
			if s := p.status; s.Error != "" {
				again := "w shows where mcpdeck looked, r retries."
				if p.errorSaid {
					return p.empty(f, w, h, again)
				}
				return p.empty(f, w, h, plain.Line(s.Error), again)
			}
			return p.empty(f, w, h, "Pencil's tools appear here once the mode is on.", "p turns it on and off.")
		}
		return p.tools.Render(f.Theme, w, h, focus, func(i, w int) string { return toolRow(f.Theme, &p.items[i], w) })
	case partCalls:
		if len(p.status.Calls) == 0 {
			return p.empty(f, w, h, "Calls to Pencil's tools appear here, newest first.")
		}
		n := len(p.status.Calls)
		return p.calls.Render(f.Theme, w, h, focus, func(i, w int) string { return callRow(f, &p.status.Calls[n-1-i], w) })
	}
	if len(p.status.Log) == 0 {
		return p.empty(f, w, h, "Messages between mcpdeck and Pencil's server appear here.")
	}
	rows := make([]string, len(p.status.Log))
	for i, l := range p.status.Log {
		rows[i] = logRow(f.Theme, l)
	}
	if p.end {
		p.log.Top = len(rows)
	}
	return p.log.Render(f.Theme, rows, w, h)
}

func (p *Page) empty(f *tui.Frame, w, h int, lines ...string) []string {
	var rows []string
	for _, line := range lines {
		for _, l := range widget.Wrap(line, w-2) {
			rows = append(rows, "  "+f.Theme.Faint.Render(l))
		}
	}
	return widget.Rows(rows, w, h)
}

func toolRow(th *theme.Theme, it *item, w int) string {
	nameW := min(34, max(w-17, 16))
	switch {
	case it.held != nil:
		h := it.held
		state, size := "changed", fmt.Sprintf("%+d B", h.Now-h.Was)
		if h.New {
			state, size = "new", tui.Bytes(h.Now)
		}
		left := th.Warn.Render("! "+widget.Fit(plain.Line(h.Name()), nameW-2)) + th.Warn.Render("  "+state)
		return widget.Ends(left, th.Faint.Render(size), w)
	case it.note != nil:
		return widget.Fit(th.Faint.Render("  "+widget.Fit(plain.Line(it.note.Tool), nameW-2))+th.Faint.Render("  "+plain.Line(it.note.Reason)), w)
	}
	t := it.tool
	kind := th.Info.Render("writes")
	if t.ReadOnly {
		kind = th.Faint.Render("reads ")
	}
	about, _, _ := strings.Cut(t.Description, "\n")
	left := widget.Fit(plain.Line(t.Original), nameW) + "  " + kind
	if w >= 70 {
		left += "  " + th.Faint.Render(plain.Line(about))
	}
	return widget.Ends(left, th.Faint.Render(tui.Bytes(t.Bytes)), w)
}

func callRow(f *tui.Frame, c *card.CallFact, w int) string {
	th := f.Theme
	mark, style := th.Glyph.OK, th.Good
	if c.Outcome != "ok" {
		mark, style = th.Glyph.Fail, th.Bad
	}
	left := style.Render(mark) + " " + plain.Line(c.Tool)
	if c.Outcome != "ok" && c.Outcome != "error" {
		left += " " + style.Render(c.Outcome)
	}
	if n := len(c.Images); n > 0 {
		left += th.Special.Render(" +" + strconv.Itoa(n) + " picture")
	}
	left += "  " + th.Hue(plain.Line(c.Agent)).Render(plain.Line(c.Agent))
	right := th.Muted.Render(span.Took(c.Run)) + th.Faint.Render("  "+f.Ago(c.Started))
	return widget.Ends(left, right, w)
}

func logRow(th *theme.Theme, l child.Line) string {
	from := th.Faint
	if l.From == "link" {
		from = th.Info
	}
	return th.Faint.Render(l.Time.Format("15:04:05")) + " " + from.Render(widget.Fit(l.From, 7)) + l.Text
}
