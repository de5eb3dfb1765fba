package calls

import (
	"strconv"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/browser"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// shape is how the list stands beside the detail: where that is not too narrow for its columns, and
// no wider than they need.
func shape(w int) browser.View { return browser.View{W: max(w*11/20, w-80), Beside: 140} }

// headsFrom is how many cells wide a list is that has heads.
const headsFrom = 60

// Render draws the list, and the detail beside or below it, or instead of it.
func (p *Page) Render(f *tui.Frame) []string {
	th := f.Theme
	p.look(f)
	v, left, air := shape(f.W), tui.HandedOver(p.opts.Questions), 0
	w, _ := p.ListWidth(v, f.W, f.H)
	if w >= headsFrom {
		air = 1 // at the right end, as in other lists
	}
	v.Title, v.Note = p.title(), p.note(th, w)
	v.Detail = func(x, y, w, h int) []string { return p.detailPane(f, x, y, w, h) }
	v.Row = func(i, w int) string {
		if c := p.log.at(i); c != nil {
			return tui.CallRow(f, tui.Standing(&c.Call, left), w-air)
		}
		return p.line(f, w)
	}
	if w >= headsFrom {
		v.Heads = func(x, y, w int) string { return p.heads(th, x, y, w-air) }
	}
	switch {
	case p.log.len() == 0:
		v.Empty = widget.Paragraph(th.Faint, " ", p.nothing(), w-2)
		if p.log.filter.empty() {
			for _, line := range f.Example() {
				v.Empty = append(v.Empty, " "+line)
			}
		}
	case p.log.order == nil && p.log.first() == p.log.len(): // there is no call of this run
		v.Below = func(int) []string { return []string{" " + p.line(f, w-2)} }
	}
	return p.Panes(f, v)
}

// look notes that the user reads the call, or has its row under the cursor.
func (p *Page) look(f *tui.Frame) {
	switch c := p.selected(); {
	case c == nil || p.Typing():
		f.Looks(nil)
	case p.Focus == browser.PartDetail:
		f.Opened(&c.Call)
	default:
		f.Looks(&c.Call)
	}
}

// detailPane is the call under the cursor: the text above the first picture of the result, if there
// is one and room for it.
func (p *Page) detailPane(f *tui.Frame, x, y, w, h int) []string {
	const least = 14
	text := p.detailText(f, w-4)
	p.Detail.Set(text.Folds)
	c, pic, note := p.selected(), p.detail.picture, f.Theme.Faint.Render(p.place())
	if c == nil || pic == nil || p.detail.key != c.key || h-1 < least {
		pane := p.DetailPane(f, "Call", note, text.Rows, x, y, w, h)
		if at := p.Detail.Cursor() + 1; f.Focus && p.Focus == browser.PartDetail && at > 0 && at < len(pane) {
			pane[at] = widget.Cursor(f.Theme, pane[at])
		}
		return pane
	}
	below := (h - 1) / 2
	above := h - below - 1
	pane := p.DetailPane(f, "Call", note, text.Rows, x, y, w, above)
	pane = append(pane, " "+widget.Section(f.Theme, "Picture", f.Theme.Faint.Render(p.view.Scale()), w-2)+" ")
	if p.view.Picture() != pic {
		p.view.Set(pic)
	}
	for _, row := range widget.Rows(p.view.Render(f, x+1, y+above+1, w-2, below), w-2, below) {
		pane = append(pane, " "+row+" ")
	}
	return pane
}

// place says which of the calls this is.
func (p *Page) place() string { return tui.Place(p.log.place(p.List.Cursor), p.log.len()) }

// title is how many calls there are.
func (p *Page) title() string {
	n := strconv.Itoa(len(p.log.calls))
	switch {
	case !p.log.filter.empty():
		return "Calls " + strconv.Itoa(p.log.len()) + " of " + n
	case n == "0":
		return "Calls"
	}
	return "Calls " + n
}

// FooterNote says what of the filter cannot be read.
func (p *Page) FooterNote(int) string {
	if err := p.log.filter.err; err != nil {
		return sanitize.Line(err.Error())
	}
	return ""
}

// note says how many failed calls the user has not seen, and what a list of w cells lists how.
func (p *Page) note(th *theme.Theme, w int) string {
	var out []string
	if n := p.failures.Fresh(); n > 0 {
		out = append(out, th.Bad.Render(th.Glyph.Fail+strconv.Itoa(n)))
	}
	switch {
	case p.failed:
		return th.Warn.Render("only failed")
	case p.log.order != nil:
		by := p.Order.By
		if w < headsFrom {
			by = p.arrow(th) + by
		}
		out = append(out, th.Faint.Render("by "+by+"  "+p.place()))
	case p.follow:
		out = append(out, th.Faint.Render("following"))
	default:
		out = append(out, th.Faint.Render(p.place()))
	}
	return strings.Join(out, "  ")
}

// line stands between the calls of earlier runs and of this one.
func (p *Page) line(f *tui.Frame, w int) string {
	return widget.Rule(f.Theme.Border, f.Theme.Faint, f.Theme.Glyph.Frame.Top, "deck opened "+p.opened.Format(time.TimeOnly), "", w)
}

func (p *Page) nothing() string {
	if p.log.filter.empty() {
		return "Calls appear here as agents make them."
	}
	return "No matching calls. Esc clears the filter."
}

// Legend explains the marks of the calls.
func (p *Page) Legend(th *theme.Theme) []tui.Sign { return tui.CallLegend(th) }
