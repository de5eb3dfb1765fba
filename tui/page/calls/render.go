package calls

import (
	"time"

	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Render draws the list, and the detail beside it, or instead of it in a narrow
// terminal.
func (p *Page) Render(f *tui.Frame) []string {
	if f.W >= wide {
		return p.both(f)
	}
	if p.part == partDetail {
		rows := p.detailPane(f, 2, f.W-4)
		return widget.Box(f.Theme, "Call", p.place(f), f.Focus, rows, f.W, f.H)
	}
	return p.listBox(f, f.W)
}

// listWidth is how wide the list is beside the detail.
func listWidth(w int) int { return w * 11 / 20 }

// detailWidth is how wide the text of the detail is: without frame, scroll bar and
// the air around them.
func detailWidth(w int) int {
	if w >= wide {
		w -= listWidth(w)
	}
	return w - 6
}

func (p *Page) both(f *tui.Frame) []string {
	w := listWidth(f.W)
	dw := f.W - w
	return widget.Beside(
		p.listBox(f, w),
		widget.Box(f.Theme, "Call", "", f.Focus && p.part == partDetail, p.detailPane(f, w+2, dw-4), dw, f.H),
	)
}

// detailPane is the inside of the detail, from column x on: the text above the
// first picture of the result, if there is one and room for it.
func (p *Page) detailPane(f *tui.Frame, x, w int) []string {
	const least = 14
	h := f.H - 2
	c, pic := p.selected(), p.detail.picture
	if c == nil || pic == nil || p.detail.key != c.key || h < least {
		return p.scroll.Render(f.Theme, p.detailRows(f, detailWidth(f.W)), w, h)
	}
	below := h / 2
	rows := widget.Rows(p.scroll.Render(f.Theme, p.detailRows(f, detailWidth(f.W)), w, h-below-1), w, h-below-1)
	rows = append(rows, widget.Section(f.Theme, "Picture", f.Theme.Faint.Render(p.view.Scale()), w))
	if p.view.Picture() != pic {
		p.view.Set(pic)
	}
	return append(rows, p.view.Render(f, x, 1+h-below, w, below)...)
}

// place says which of the calls this is.
func (p *Page) place(f *tui.Frame) string {
	return f.Theme.Faint.Render(tui.Place(p.log.place(p.list.Cursor), p.log.len()))
}

func (p *Page) listBox(f *tui.Frame, w int) []string {
	th := f.Theme
	note := ""
	switch {
	case p.log.filter.err != nil:
		note = th.Warn.Render(plain.Line(p.log.filter.err.Error()))
	case p.failed:
		note = th.Bad.Render("only failed")
	case p.follow:
		note = th.Faint.Render("following")
	default:
		note = th.Warn.Render("paused")
		if at := p.place(f); at != "" {
			note += " " + at
		}
	}
	h := f.H - 2
	p.listY = 1
	var rows []string
	if p.part == partFilter || !p.edit.Empty() {
		edit, x, _ := p.edit.Render(th, w-8, 1, p.part == partFilter)
		rows = append(rows, "  "+th.Key.Render("/")+" "+edit[0])
		if p.part == partFilter {
			f.Cursor(6+x, 1)
		}
		h--
		p.listY++
	}
	if p.log.len() == 0 {
		for _, line := range widget.Wrap(p.nothing(), w-6) {
			rows = append(rows, "  "+th.Faint.Render(line))
		}
	} else {
		ended := p.log.first() == p.log.len() // there is no call of this run
		if ended {
			h = min(h-1, p.log.len())
		}
		rows = append(rows, p.list.Render(th, w-4, h, f.Focus && p.part != partDetail, func(i, w int) string {
			if c := p.log.at(i); c != nil {
				return tui.CallRow(f, &c.Call, w)
			}
			return p.line(f, w)
		})...)
		if ended {
			rows = append(rows, "  "+p.line(f, w-6))
		}
	}
	return widget.Box(th, "Calls", note, f.Focus && p.part != partDetail, rows, w, f.H)
}

// line stands between the calls of earlier runs and of this one.
func (p *Page) line(f *tui.Frame, w int) string {
	return widget.Rule(f.Theme.Border, f.Theme.Faint, f.Theme.Glyph.H, "deck opened "+p.opened.Format(time.TimeOnly), "", w)
}

func (p *Page) nothing() string {
	if p.log.filter.empty() {
		return "Calls show up here as agents make them."
	}
	return "No call is like that; esc shows all."
}
