package pixels

import (
	"fmt"
	"image/color"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/picture"
	"github.com/mcpdeck/mcpdeck/tui/viewer"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// colours are the list of a picture's colours.
type colours struct{ widget.List }

// at is the colour under the cursor.
func (cs *colours) at(v *viewer.Viewer) (c color.NRGBA, ok bool) {
	uses := v.Uses()
	if i := cs.Cursor; i >= 0 && i < len(uses) {
		return uses[i].Color, true
	}
	return color.NRGBA{}, false
}

func (cs *colours) copy(v *viewer.Viewer) tea.Cmd {
	c, ok := cs.at(v)
	if !ok {
		return nil
	}
	return tui.Copy(picture.Hex(c), picture.Hex(c))
}

// only dims all colours but the one under the cursor; again shows all.
func (cs *colours) only(v *viewer.Viewer) {
	switch c, ok := cs.at(v); {
	case !ok:
	case v.IsOnly(c):
		v.Only(nil)
	default:
		v.Only(&c)
	}
}

// pane draws them in a column of w cells at x, about below them, and at its foot the whole picture
// where only a part is in view. The list has its place among areas.
func (cs *colours) pane(f *tui.Frame, v *viewer.Viewer, areas *tui.Areas, focus bool, x, w int, about []string) []string {
	uses := v.Uses()
	cs.SetLen(len(uses))
	th := f.Theme
	overview := overview(f, v, x+1, w-2, (f.H-1)/2)
	h := f.H - 1 - len(overview)
	rows := []string{widget.Heading(th, "Colours", th.Faint.Render(fmt.Sprint(len(uses))), focus, w)}
	if len(uses) == 0 {
		rows[0] = widget.Heading(th, "Colours", "", focus, w)
		if v.Picture() != nil {
			rows = append(rows, " "+th.Faint.Render("too many colours to list"))
		}
	}
	n := min(len(uses), max(h-len(about)-1, h/2))
	*areas = append(*areas, tui.Area{Part: partColours, X: x, Y: 1, W: w, H: n})
	names := 0
	for _, u := range uses {
		names = max(names, widget.Width(nameOf(v, u)))
	}
	at := cs.Cursor
	if !focus {
		cs.Cursor = -1 // one cursor is enough beside the list and the picture
	}
	rows = append(rows, cs.Render(th, w, n, focus, func(i, width int) string { return colourRow(f, v, uses[i], min(names, width-11), width) })...)
	cs.Cursor = at
	for _, row := range about {
		rows = append(rows, " "+row)
	}
	rows = widget.Rows(rows, w, f.H-len(overview))
	for _, row := range overview {
		rows = append(rows, widget.Fit(" "+row, w))
	}
	return rows
}

// nameOf is what a colour is called in its picture.
func nameOf(v *viewer.Viewer, u viewer.Use) string {
	if name := sanitize.Line(strings.Join(u.Names, " ")); name != "" || !v.Picture().Named() {
		return name
	}
	return viewer.OffPalette
}

// colourRow draws a colour: its swatch, its name, its value, and how many pixels have it.
func colourRow(f *tui.Frame, v *viewer.Viewer, u viewer.Use, names, w int) string {
	th, name, style, count := f.Theme, nameOf(v, u), f.Theme.Text, fmt.Sprint(u.Count)
	if len(u.Names) == 0 && name != "" {
		style = th.Bad
	}
	if u.Near != nil {
		count = "~" + count
	}
	row := swatch(f, v, u.Color) + " "
	if widget.Width(name) > names {
		return row + style.Render(widget.Cut(name, w-2))
	}
	if names > 0 {
		row += style.Render(widget.Fit(name, names)) + " "
	}
	if u.Count == 0 {
		return row + th.Faint.Render("unused")
	}
	if hex := picture.Hex(u.Color); widget.Width(row)+len(hex) <= w {
		row += th.Muted.Render(hex)
	}
	if w >= 26 && widget.Width(row)+len(count)+3 <= w {
		return widget.Ends(row, th.Faint.Render(count)+" ", w)
	}
	return row
}

// overview is the whole picture at the foot of the column of colours while only a part
// of it is in view.
func overview(f *tui.Frame, v *viewer.Viewer, x, w, most int) []string {
	_, high := v.Picture().Size()
	if high == 0 || most < 3 {
		return nil
	}
	rows := v.OverviewRows(f, w, min(most, 10))
	if rows == 0 {
		return nil
	}
	return v.Overview(f, x, f.H-rows, w, rows)
}

// swatch is a cell of a colour; where there is nothing but letters, its letter.
func swatch(f *tui.Frame, v *viewer.Viewer, c color.NRGBA) string {
	if f.PictureCaps().Mode == picture.ModeLetters {
		return widget.Fit(v.Letter(c), 2)
	}
	if f.Theme.Depth == theme.NoColor {
		return f.Theme.Glyph.Bar
	}
	return lipgloss.NewStyle().Foreground(picture.Mix(color.NRGBA{0, 0, 0, 255}, c)).Render(f.Theme.Glyph.Bar)
}

// letters says what the letters of a picture stand for, where no column of colours does,
// in at most the given rows.
func letters(v *viewer.Viewer, w, rows int) []string {
	var lines []string
	for _, u := range v.Uses() {
		letter := v.Letter(u.Color)
		if u.Count == 0 || letter == "" {
			continue
		}
		name := strings.Join(u.Names, " ")
		if name == "" {
			name = picture.Hex(u.Color)
		}
		one := letter + " " + sanitize.Line(name)
		switch last := len(lines) - 1; {
		case last >= 0 && widget.Width(lines[last])+2+widget.Width(one) <= w:
			lines[last] += "  " + one
		case len(lines) == rows:
			lines[last] = widget.Cut(lines[last]+"  "+one, w)
			return lines
		default:
			lines = append(lines, widget.Cut(one, w))
		}
	}
	return lines
}
