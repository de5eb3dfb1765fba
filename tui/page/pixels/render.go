package pixels

import (
	"fmt"
	"image/color"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/picture"
	"github.com/mcpdeck/mcpdeck/tui/viewer"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Render draws the list, the picture and its colours, as many of them as there is room for.
func (p *Page) Render(f *tui.Frame) []string {
	p.view.Advance(f.Now)
	p.areas = p.areas[:0]
	if len(p.renders) == 0 {
		return p.nothing(f)
	}
	if f.W < 72 || f.H < 14 {
		return p.small(f)
	}
	listW, colourW := min(max(f.W/5, 22), 32), 0
	if pic := p.view.Picture(); f.W >= columnsFrom && (pic == nil || !pic.Smooth || p.view.Cropped()) {
		colourW = min(max(f.W/5, 22), 30)
	}
	pictureW := f.W - listW - 1
	if colourW > 0 {
		pictureW -= colourW + 1
	}
	blocks := [][]string{p.listPane(f, listW), p.picturePane(f, listW+1, pictureW)}
	if colourW > 0 {
		blocks = append(blocks, p.colours.pane(f, &p.view, &p.areas, f.Focus && p.part == partColours, listW+pictureW+2, colourW))
	} else if p.part == partColours {
		p.part = partPicture
	}
	return widget.Panes(f.Theme, blocks...)
}

// columnsFrom is how wide the page must be for the column of colours.
const columnsFrom = 100

func (p *Page) nothing(f *tui.Frame) []string {
	th := f.Theme
	w := min(f.W-2, 44)
	lines := []string{th.Strong.Render("No pictures yet"), ""}
	lines = append(lines, widget.Paragraph(th.Muted, "", "Pictures that agents draw with pixelsrc appear here as they are drawn.", w)...)
	lines = append(lines, "")
	lines = append(lines, widget.Paragraph(th.Muted, "", ":open shows a .pxl, PNG, GIF or JPEG file, and again whenever it is saved.", w)...)
	lines = append(lines, f.Example()...)
	rows := make([]string, max((f.H-len(lines))/2, 0))
	left := widget.Blank(max((f.W-44)/2, 1))
	for _, line := range lines {
		rows = append(rows, left+line)
	}
	return rows
}

// small is for narrow and low terminals: the list above the picture while it has the
// focus, else the picture alone.
func (p *Page) small(f *tui.Frame) []string {
	if p.part == partColours {
		p.part = partPicture
	}
	var rows []string
	if p.part == partList && len(p.renders) > 1 {
		h := min(len(p.renders), max(f.H/3, 2))
		p.areas = append(p.areas, tui.Area{Part: partList, W: f.W, H: h})
		rows = p.list.Render(f.Theme, f.W, h, f.Focus, p.row(f))
	}
	top := len(rows) + 1
	below := p.below(f, f.W-2, f.H-top)
	drawn := p.picture(f, 0, top, f.W, f.H-top-len(below))
	rows = append(rows, widget.Ends(" "+p.headline(f, f.W-16), f.Theme.Faint.Render(scaleOf(&p.view)), f.W)) // after the picture, whose scale it says
	rows = append(rows, drawn...)
	for _, line := range below {
		rows = append(rows, widget.Fit(" "+line, f.W))
	}
	return rows
}

func (p *Page) listPane(f *tui.Frame, w int) []string {
	p.areas = append(p.areas, tui.Area{Part: partList, Y: 1, W: w, H: f.H - 1})
	focus := f.Focus && p.part == partList
	rows := []string{widget.Heading(f.Theme, "Pixels "+fmt.Sprint(len(p.renders)), "", focus, w)}
	return append(rows, p.list.Render(f.Theme, w, f.H-1, focus, p.row(f))...)
}

// row draws an item of the list: name, who, when.
func (p *Page) row(f *tui.Frame) func(i, width int) string {
	th := f.Theme
	return func(i, width int) string {
		r := &p.renders[i]
		mark := "  "
		switch {
		case r.Failed != "":
			mark = th.Bad.Render(th.Glyph.Fail) + " "
		case len(r.Notes) > 0:
			mark = th.Warn.Render("!") + " "
		}
		who := th.Muted.Render("file")
		if r.Agent != "" {
			who = th.Text.Render(widget.Cut(sanitize.Line(r.Agent), 10))
		}
		right := f.Ago(r.Time)
		if width >= 24 {
			right = who + " " + th.Faint.Render(right) + " "
		} else {
			right = th.Faint.Render(right) + " "
		}
		return widget.Ends(mark+widget.Cut(sanitize.Line(r.Name), max(width-widget.Width(right)-widget.Width(mark)-1, 4)), right, width)
	}
}

func (p *Page) picturePane(f *tui.Frame, x, w int) []string {
	focus := f.Focus && p.part == partPicture
	inner := w - 2
	below := p.below(f, inner, f.H-1)
	h := f.H - 1 - len(below)
	rows := append(p.picture(f, x+1, 1, inner, h), below...)
	note := ""
	if r := p.current(); r != nil {
		mode := f.PictureCaps().Mode.String()
		if scale := scaleOf(&p.view); scale != "" {
			mode = scale + f.Theme.Glyph.Dot + " " + mode
		}
		note = f.Theme.Faint.Render(mode)
	}
	return widget.Pane(f.Theme, p.headline(f, w-24), note, focus, rows, w, f.H)
}

// scaleOf is how large the picture is drawn.
func scaleOf(v *viewer.Viewer) string {
	if w, _ := v.Picture().Size(); w == 0 {
		return ""
	}
	scale := v.Scale()
	if v.Lossy() && !v.Picture().Smooth {
		scale += " lossy"
	}
	if v.Cropped() {
		scale += " part"
	}
	return scale + " "
}

// headline is what is shown: name, size, version.
func (p *Page) headline(f *tui.Frame, w int) string {
	r := p.current()
	if r == nil {
		return ""
	}
	parts := []string{sanitize.Line(r.Name)}
	if pw, ph := p.view.Picture().Size(); pw > 0 {
		parts = append(parts, fmt.Sprintf("%d×%d", pw, ph))
	}
	if v := p.versions.place(p.thing, p.shown); v != "" {
		parts = append(parts, v)
	}
	if len(r.Kind) > 0 && r.Kind != "file" {
		parts = append(parts, r.Kind)
	}
	if r.File != "" {
		parts = append(parts, filepath.Base(sanitize.Line(r.File)))
	}
	line := ""
	for _, part := range parts {
		next := part
		if line != "" {
			next = line + " " + f.Theme.Glyph.Dot + " " + part
		}
		if widget.Width(next) > w {
			break
		}
		line = next
	}
	return line
}

// picture draws the viewer in a box of the frame.
func (p *Page) picture(f *tui.Frame, x, y, w, h int) []string {
	r := p.current()
	if r == nil || p.view.Picture() == nil {
		text, style := "nothing to show", f.Theme.Bad
		switch {
		case r != nil && r.Failed != "":
			text = r.Failed
		case r != nil && r.Fetch != nil:
			text, style = "reading…", f.Theme.Faint
		}
		var rows []string
		rows = append(rows, widget.Paragraph(style, " ", sanitize.Text(text), max(w-2, 8))...)
		return widget.Rows(rows, w, h)
	}
	p.areas = append(p.areas, tui.Area{Part: partPicture, X: x, Y: y, W: w, H: h})
	return p.view.Render(f, x, y, w, h)
}

// below is what stands under the picture: playback, the pixel under the cursor, what
// changed, diagnostics; at most a third of h rows.
func (p *Page) below(f *tui.Frame, w, h int) []string {
	r := p.current()
	if r == nil {
		return nil
	}
	th := f.Theme
	var rows []string
	if p.view.Picture() != nil {
		if len(p.view.Picture().Frames) > 1 {
			rows = append(rows, strip(f, &p.view, w))
		}
		if p.view.Comparing() != viewer.CompareOff {
			rows = append(rows, p.comparison(th, w))
		}
		rows = append(rows, pixel(f, &p.view, w))
		if f.PictureCaps().Mode == picture.ModeLetters && f.W < columnsFrom {
			rows = append(rows, letters(&p.view, w, max(h/8, 1))...)
		}
	}
	notes := r.Notes
	if r.Failed != "" && r.Picture != nil {
		notes = append([]string{r.Failed}, notes...)
	}
	room := max(h/3-len(rows), min(1, len(notes)))
	for i, note := range notes {
		style := th.Warn
		if i == 0 && r.Failed != "" {
			style = th.Bad
		}
		if i == room-1 && len(notes) > room {
			rows = append(rows, th.Warn.Render(fmt.Sprintf("%d more; d shows all", len(notes)-i)))
			break
		}
		rows = append(rows, style.Render(widget.Cut(sanitize.Line(note), w)))
	}
	return rows
}

// strip shows the frames as a bar whose parts are as long as their time. A progress
// bar of bubbles could tell the parts by colour alone.
func strip(f *tui.Frame, v *viewer.Viewer, w int) string {
	th := f.Theme
	pic, index := v.Picture(), v.Index()
	state := th.Glyph.Run
	if !v.Playing() {
		state = "||"
	}
	d := pic.Frames[index].Duration
	loop, speed := v.Loop(), v.Speed()
	text := fmt.Sprintf("%s %d/%d %d ms", state, index+1, len(pic.Frames), d.Milliseconds())
	if speed != 1 {
		text += fmt.Sprintf(" x%g", speed)
	}
	if loop != viewer.Forever {
		text += " " + loop.String()
	}
	room := w - widget.Width(text) - 1
	if room < len(pic.Frames) || room < 8 {
		return widget.Cut(text, w)
	}
	var total time.Duration
	for _, one := range pic.Frames {
		total += one.Duration
	}
	var b strings.Builder
	from := time.Duration(0)
	for i, one := range pic.Frames {
		at, to := 0, 0
		if total > 0 {
			at, to = int(int64(from)*int64(room)/int64(total)), int(int64(from+one.Duration)*int64(room)/int64(total))
		}
		from += one.Duration
		n := max(to-at, 1)
		switch {
		case i == index:
			b.WriteString(th.Accent.Render(widget.Repeat(th.Glyph.Bar, n)))
		case i%2 == 0:
			b.WriteString(th.Faint.Render(widget.Repeat(th.Glyph.BarRest, n)))
		default:
			b.WriteString(th.Border.Render(widget.Repeat(th.Glyph.Frame.Top, n)))
		}
	}
	return text + " " + widget.Fit(b.String(), room)
}

func (p *Page) comparison(th *theme.Theme, w int) string {
	c, ok := p.view.Changes()
	if !ok {
		return th.Muted.Render("nothing to compare with")
	}
	how := p.view.Comparing().String()
	if p.view.Comparing() == viewer.CompareBlink {
		how = "blink: after"
		if p.view.Flipped() {
			how = "blink: before"
		}
	}
	if m := p.versions.marked; m.picture != nil && m.thing != p.thing && m.picture == p.before() {
		how += " with " + m.name
	}
	within := ""
	if t := p.view.Tolerance(); t > 0 {
		within = fmt.Sprintf(" (>%g)", t)
	}
	switch {
	case c.Pending:
		return th.Faint.Render(widget.Cut(how+": counting what changed", w))
	case c.TooLarge:
		return widget.Cut(how+": too large to count what changed", w)
	case c.Pixels == 0:
		return widget.Cut(how+": no pixel changed"+within, w)
	}
	text := fmt.Sprintf("%s: %d pixels changed%s in %d×%d at %d,%d", how, c.Pixels, within, c.Box.Dx(), c.Box.Dy(), c.Box.Min.X, c.Box.Min.Y)
	if c.Added > 0 || c.Removed > 0 {
		text += fmt.Sprintf("; colours +%d -%d", c.Added, c.Removed)
	}
	return th.Info.Render(widget.Cut(text, w))
}

// pixel says what is under the cursor: place, colour, token.
func pixel(f *tui.Frame, v *viewer.Viewer, w int) string {
	x, y, c, ok := v.Cursor()
	if v.Cropped() {
		r := v.View()
		part := f.Theme.Faint.Render(fmt.Sprintf("%d,%d to %d,%d", r.Min.X, r.Min.Y, r.Max.X-1, r.Max.Y-1))
		if n := widget.Width(part); w > 40+n {
			return widget.Ends(pixelAt(f, v, x, y, c, ok, w-n-1), part, w)
		}
	}
	return pixelAt(f, v, x, y, c, ok, w)
}

func pixelAt(f *tui.Frame, v *viewer.Viewer, x, y int, c color.NRGBA, ok bool, w int) string {
	th := f.Theme
	if !ok {
		return th.Faint.Render(widget.Cut("arrows or a click select a pixel", w))
	}
	text := fmt.Sprintf("%d,%d ", x, y)
	pic := v.Picture()
	name, i := pic.Paint(v.Index(), x, y)
	if c.A == 0 {
		return widget.Cut(text+"transparent "+name, w)
	}
	out := text + swatch(f, v, c) + " " + picture.Hex(c)
	if name == viewer.OffPalette {
		return widget.Cut(out+" "+th.Bad.Render(name), w)
	}
	out += " " + th.Strong.Render(name)
	if i >= 0 {
		out += th.Faint.Render(fmt.Sprintf(" %d of %d", i+1, len(pic.Tokens)))
	}
	return widget.Cut(out, w)
}
