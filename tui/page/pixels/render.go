package pixels

import (
	"cmp"
	"fmt"
	"image/color"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/browser"
	"github.com/mcpdeck/mcpdeck/tui/picture"
	"github.com/mcpdeck/mcpdeck/tui/viewer"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// columnsFrom is how wide the page must be for the column of colours.
const columnsFrom = 100

// Render draws the list, the picture and its colours, as many of them as there is room for.
func (p *Page) Render(f *tui.Frame) []string {
	p.view.Advance(f.Now)
	p.Areas = p.Areas[:0]
	names := nameWidth(p.renders)
	v := browser.View{
		Title: fmt.Sprint("Pixels ", len(p.renders)), W: min(max(f.W/7, names+10, 22), 32), Wide: columnsFrom,
		Row: func(i, w int) string {
			return p.renders[i].row(f, p.unseen[p.renders[i].ID], min(names, w-8), w)
		},
		Empty:  []string{" " + f.Theme.Faint.Render("No matches. Esc clears.")},
		Detail: func(x, y, w, h int) []string { return p.picturePane(f, x, y, w, h) },
	}
	if n := p.Badge(); n > 0 {
		v.Note = f.Theme.Accent.Render(fmt.Sprint(n, " new"))
	}
	if pic := p.view.Picture(); f.W >= columnsFrom && (pic == nil || !pic.Smooth || p.view.Cropped()) {
		colours := min(max(f.W/5, 22), 40)
		v.DetailW = f.W - v.W - colours - 2
		v.More = func(w, _ int) []string { return p.coloursPane(f, f.W-w, w) }
	} else if p.Focus == partColours {
		p.Focus = browser.PartDetail
	}
	switch {
	case len(p.renders) == 0 && p.Filter.Empty() && !p.TextEntry():
		return p.nothing(f)
	case (f.W < browser.Over || f.H < browser.Least) && len(p.renders) == 1:
		return p.picturePane(f, 0, 0, f.W, f.H)
	}
	return p.Panes(f, v)
}

func (p *Page) nothing(f *tui.Frame) []string {
	th, w := f.Theme, min(f.W-2, browser.Prose)
	var rows []string
	for _, text := range []string{"", "Pictures that agents draw with pixelsrc appear here as they are drawn.", "", ":open shows a .pxl, PNG, GIF or JPEG file, and again whenever it is saved."} {
		rows = append(rows, widget.Paragraph(th.Muted, "", text, w)...)
	}
	return widget.Pane(th, "No pictures yet", "", f.Focus, append(rows, f.Example()...), f.W, f.H)
}

// nameWidth is how wide the longest name in the list is.
func nameWidth(renders []Render) int {
	w := 12
	for i := range renders {
		w = max(w, widget.Width(sanitize.Line(renders[i].Name)))
	}
	return w
}

// row draws the render in the list: whether it is new, its name, when it was drawn, and by whom.
func (r *Render) row(f *tui.Frame, isNew bool, names, w int) string {
	th := f.Theme
	mark := "  "
	switch {
	case r.Failed != "":
		mark = th.Bad.Render(th.Glyph.Fail) + " "
	case len(r.Notes) > 0:
		mark = th.Warn.Render("!") + " "
	case isNew:
		mark = th.Accent.Render("+") + " "
	}
	row := mark + th.Text.Render(widget.Fit(sanitize.Line(r.Name), names)) + widget.PadLeft(th.Faint.Render(f.Ago(r.Time)), 5)
	if who := cmp.Or(sanitize.Line(r.Agent), "file"); widget.Width(row)+3+widget.Width(who) < w {
		row += "   " + th.Muted.Render(who)
	}
	return row
}

func (p *Page) picturePane(f *tui.Frame, x, y, w, h int) []string {
	below := p.below(f, w-2, h-1)
	rows := append(p.picture(f, x+1, y+1, w-2, h-1-len(below)), below...)
	note := ""
	if r := p.current(); r != nil {
		note = f.PictureCaps().Mode.String()
		if _, cells := f.PictureCaps().Mode.Set(); cells {
			note = "cells"
		}
		if scale := scaleOf(&p.view); scale != "" {
			note = scale + f.Theme.Glyph.Dot + " " + note
		}
	}
	return widget.Pane(f.Theme, p.headline(f, w-widget.Width(note)-8), f.Theme.Faint.Render(note), f.Focus && p.Focus == browser.PartDetail, rows, w, h)
}

// coloursPane draws the colours of the picture, where it is from, and what was before it.
func (p *Page) coloursPane(f *tui.Frame, x, w int) []string {
	var about []string
	if r := p.current(); r != nil && w >= 30 {
		head := func(title string) { about = append(about, "", f.Theme.Strong.Render(title)) }
		add := func(text string) {
			if text != "" {
				about = append(about, "  "+f.Theme.Text.Render(widget.CutLeft(sanitize.Line(text), w-4)))
			}
		}
		head("From")
		add(cmp.Or(r.Agent, "a file of yours"))
		add(r.File)
		add(f.Since(r.Time))
		for i, old := range p.versions.older(p.thing, p.shown) {
			if i == 0 {
				head("Before this")
			}
			add(fmt.Sprintf("v%d  %s", old.number, f.Since(old.Time)))
		}
	}
	return p.colours.pane(f, &p.view, &p.Areas, f.Focus && p.Focus == partColours, x, w, about)
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

// headline is what is shown: its name, its size, and which version of it.
func (p *Page) headline(f *tui.Frame, w int) string {
	r := p.current()
	if r == nil {
		return ""
	}
	line := sanitize.Line(r.Name)
	for _, part := range []string{sizeOf(p.view.Picture()), p.versions.place(p.thing, p.shown)} {
		if next := line + " " + f.Theme.Glyph.Dot + " " + part; part != "" && widget.Width(next) <= w {
			line = next
		}
	}
	return widget.Cut(line, w)
}

func sizeOf(pic *viewer.Picture) string {
	if w, h := pic.Size(); w > 0 {
		return fmt.Sprintf("%d×%d", w, h)
	}
	return ""
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
	p.Areas = append(p.Areas, tui.Area{Part: browser.PartDetail, X: x, Y: y, W: w, H: h})
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
		if _, _, _, on := p.view.Cursor(); on || p.view.Cropped() {
			rows = append(rows, pixel(f, &p.view, w))
		}
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
	text := fmt.Sprintf("%s: %s changed%s in %d×%d at %d,%d", how, humanize.Count(c.Pixels, "pixel"), within, c.Box.Dx(), c.Box.Dy(), c.Box.Min.X, c.Box.Min.Y)
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
