package calls

import (
	"strconv"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/browser"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// shape is how the list and the detail share the page.
type shape int

const (
	one    shape = iota // only one of them is seen
	over                // the list above the detail: beside it, rows would lose what they say
	beside              // the detail to the right of the list
)

func shapeOf(w, h int) shape {
	switch {
	case w >= 100 && w < 140 && h >= 24:
		return over
	case w >= 120:
		return beside
	}
	return one
}

// Render draws the list, and the detail beside or below it, or instead of it in a
// small terminal.
func (p *Page) Render(f *tui.Frame) []string {
	p.Areas = p.Areas[:0]
	p.look(f)
	call := func(b box, note string, focus bool) []string {
		p.Areas = append(p.Areas, tui.Area{Part: browser.PartDetail, X: b.x, Y: b.y, W: b.w, H: b.h})
		rows := widget.Pane(f.Theme, "Call", note, focus, p.detailPane(f, box{b.x + 1, b.y + 1, b.w - 2, b.h - 1}), b.w, b.h)
		if y := p.Detail.Cursor() + 1; focus && y > 0 && y < len(rows) {
			rows[y] = widget.Cursor(f.Theme, rows[y])
		}
		return rows
	}
	focus := f.Focus && p.Focus == browser.PartDetail
	switch lw, lh := listSize(f.W, f.H); shapeOf(f.W, f.H) {
	case beside:
		return widget.Panes(f.Theme, p.listBox(f, lw, lh), call(box{lw + 1, 0, f.W - lw - 1, f.H}, "", focus))
	case over:
		return append(p.listBox(f, lw, lh), call(box{0, lh, f.W, f.H - lh}, "", focus)...)
	default:
	}
	if p.Focus == browser.PartDetail {
		return call(box{0, 0, f.W, f.H}, p.place(f), f.Focus)
	}
	return p.listBox(f, f.W, f.H)
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

// box is a place on the page.
type box struct{ x, y, w, h int }

// listSize is how large the list is.
func listSize(w, h int) (int, int) {
	switch shapeOf(w, h) {
	case beside:
		return max(w*11/20, w-80), h // arguments are cut before a detail has more than it needs
	case over:
		return w, h * 2 / 5
	default:
		return w, h
	}
}

// detailWidth is how wide the text of the detail is: without frame, scroll bar and
// the air around them.
func detailWidth(w, h int) int {
	if shapeOf(w, h) == beside {
		lw, _ := listSize(w, h)
		w -= lw + 1
	}
	return w - 4
}

// detailPane is the inside of the detail: the text above the first picture of the
// result, if there is one and room for it.
func (p *Page) detailPane(f *tui.Frame, b box) []string {
	const least = 14
	text := p.detailText(f, detailWidth(f.W, f.H))
	p.Detail.Set(text.Folds)
	c, pic := p.selected(), p.detail.picture
	if c == nil || pic == nil || p.detail.key != c.key || b.h < least {
		return p.Search.Render(f, &p.Detail, text.Rows, b.x, b.y, b.w, b.h)
	}
	below := b.h / 2
	above := b.h - below - 1
	out := widget.Rows(p.Search.Render(f, &p.Detail, text.Rows, b.x, b.y, b.w, above), b.w, above)
	out = append(out, widget.Section(f.Theme, "Picture", f.Theme.Faint.Render(p.view.Scale()), b.w))
	if p.view.Picture() != pic {
		p.view.Set(pic)
	}
	return append(out, p.view.Render(f, b.x, b.y+above+1, b.w, below)...)
}

// place says which of the calls this is.
func (p *Page) place(f *tui.Frame) string {
	return f.Theme.Faint.Render(tui.Place(p.log.place(p.List.Cursor), p.log.len()))
}

// failedNote is how many failed calls the user has not seen, where a list of w cells has
// room for it; "" for none.
func (p *Page) failedNote(th *theme.Theme, w int) string {
	n := p.failures.Fresh()
	if n == 0 || w < 60 || p.Typing() {
		return ""
	}
	return th.Bad.Render(strconv.Itoa(n)+" failed") + "  " + th.Key.Render("!") + th.Muted.Render(" seen") + "  "
}

func (p *Page) listBox(f *tui.Frame, w, height int) []string {
	th := f.Theme
	note := ""
	switch {
	case p.log.filter.err != nil:
		note = th.Warn.Render(sanitize.Line(p.log.filter.err.Error()))
	case p.failed:
		note = th.Warn.Render("only failed")
	case p.log.order != nil:
		by := p.Order.By
		if w < headsFrom {
			by = p.arrow(th) + by
		}
		note = p.failedNote(th, w) + th.Faint.Render("by "+by+"  "+p.place(f))
	case p.follow:
		note = p.failedNote(th, w) + th.Faint.Render("following")
	default:
		note = th.Warn.Render("paused")
		if at := p.place(f); at != "" {
			note += " " + at
		}
	}
	h := height - 1
	var rows []string
	for _, row := range p.Filter.Rows(f, 1, 1, w-2, p.Typing()) {
		rows = append(rows, " "+row)
		h--
	}
	if w >= headsFrom && h >= 6 && p.log.len() > 0 {
		h--
		room := w - 1 // beside the cursor
		if p.log.rows() > h {
			room -= 2 // and the scroll bar
		}
		rows = append(rows, " "+p.heads(th, 1, 1+len(rows), room))
	}
	p.Areas = append(p.Areas, tui.Area{Part: browser.PartList, Y: 1 + len(rows), W: w, H: h})
	if p.log.len() == 0 {
		rows = append(rows, widget.Paragraph(th.Faint, " ", p.nothing(), w-2)...)
		if p.log.filter.empty() {
			for _, line := range f.Example() {
				rows = append(rows, " "+line)
			}
		}
	} else {
		ended := p.log.order == nil && p.log.first() == p.log.len() // there is no call of this run
		if ended {
			h = min(h-1, p.log.len())
		}
		left := tui.HandedOver(p.opts.Questions)
		rows = append(rows, p.List.Render(th, w, h, f.Focus && p.Focus != browser.PartDetail, func(i, w int) string {
			if c := p.log.at(i); c != nil {
				return tui.CallRow(f, tui.Standing(&c.Call, left), w)
			}
			return p.line(f, w)
		})...)
		if ended {
			rows = append(rows, " "+p.line(f, w-2))
		}
	}
	head := widget.Heading(th, "Calls", note, f.Focus && p.Focus != browser.PartDetail, w)
	return widget.Rows(append([]string{head}, rows...), w, height)
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
