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

// pane draws them in a column of w cells at x, and below them the whole picture where only
// a part is in view. The list has its place among areas.
func (cs *colours) pane(f *tui.Frame, v *viewer.Viewer, areas *tui.Areas, focus bool, x, w int) []string {
	uses := v.Uses()
	cs.SetLen(len(uses))
	th := f.Theme
	h := f.H - 1
	overview := overview(f, v, x+1, w-2, h/2)
	if len(overview) > 0 {
		h -= len(overview) + 1
	}
	*areas = append(*areas, tui.Area{Part: partColours, X: x, Y: 1, W: w, H: h})
	if len(uses) == 0 {
		text := "too many colours to list"
		if v.Picture() == nil {
			text = ""
		}
		rows := widget.Rows([]string{th.Faint.Render(text)}, w-2, f.H-1-len(overview))
		return widget.Pane(th, "Colours", "", focus, append(rows, overview...), w, f.H)
	}
	rows := cs.Render(th, w, h, focus, func(i, width int) string {
		u := uses[i]
		name := strings.Join(u.Names, " ")
		style := th.Text
		count := fmt.Sprint(u.Count)
		switch {
		case u.Count == 0:
			count, style = "unused", th.Warn
		case name == "" && v.Picture().Named():
			name, style = "off palette", th.Bad
		}
		if u.Near != nil {
			count = "~" + count
		}
		left := swatch(f, v, u.Color) + " "
		hex := picture.Hex(u.Color)
		if room := width - 3 - len(hex) - len(count) - 3; name != "" && room >= widget.Width(name) {
			left += style.Render(sanitize.Line(name)) + " " + th.Faint.Render(hex)
		} else if name != "" {
			left += style.Render(widget.Cut(sanitize.Line(name), width-5-len(count)))
		} else {
			left += hex
		}
		return widget.Ends(left, th.Muted.Render(count)+" ", width)
	})
	rows = append([]string{widget.Heading(th, "Colours", fmt.Sprint(len(uses)), focus, w)}, rows...)
	if len(overview) > 0 {
		rows = append(rows, "")
		for _, row := range overview {
			rows = append(rows, " "+row)
		}
	}
	return widget.Rows(rows, w, f.H)
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

// swatch is a colour's own two cells; where there is nothing but letters, its letter.
func swatch(f *tui.Frame, v *viewer.Viewer, c color.NRGBA) string {
	switch {
	case f.PictureCaps().Mode == picture.ModeLetters:
		return widget.Fit(v.Letter(c), 2)
	case f.Theme.Depth == theme.NoColor:
		return "  "
	}
	c = picture.Mix(color.NRGBA{0, 0, 0, 255}, c)
	return lipgloss.NewStyle().Background(c).Render("  ")
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
