package widget

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/viewport"

	"github.com/mcpdeck/mcpdeck/theme"
)

// Pager is a window on a text that seldom changes: a viewport of bubbles, with our
// scroll bar. It is for a few thousand rows. A viewport measures and copies all its
// rows when they change, which takes 46 ms for 10,000, and joins and styles those it
// shows, which takes 1.7 ms where a Scroll takes 0.05: lists that grow while they are
// looked at stay with that.
type Pager struct {
	view  viewport.Model
	rows  []string // what the view has
	width int      // and how wide they may be
}

// Move moves the window by d rows.
func (p *Pager) Move(d int) { p.view.SetYOffset(p.view.YOffset() + d) }

// Page moves it by d screens.
func (p *Pager) Page(d int) { p.Move(d * max(p.view.Height()-1, 1)) }

// Half moves it by d half screens.
func (p *Pager) Half(d int) { p.Move(d * max(p.view.Height()/2, 1)) }

// Height is how many rows the last Render had.
func (p *Pager) Height() int { return p.view.Height() }

// At is the row that stands y rows below the upper end of the window.
func (p *Pager) At(y int) int { return p.view.YOffset() + y }

// Show moves the window so that a row is in it: a third from its top, when it is not
// there yet.
func (p *Pager) Show(row int) {
	if top, h := p.At(0), p.view.Height(); row < top || row >= top+h {
		p.view.SetYOffset(row - h/3)
	}
}

// Render draws the part of rows in the window, w × h cells, with a scroll bar when
// there is more.
func (p *Pager) Render(th *theme.Theme, rows []string, w, h int) []string {
	if len(rows) > h {
		w--
	}
	if w <= 0 || h <= 0 {
		return nil
	}
	p.view.SetWidth(w)
	p.view.SetHeight(h)
	if p.width != w || !slices.Equal(p.rows, rows) {
		p.rows, p.width = rows, w
		fitted := make([]string, len(rows))
		for i, row := range rows {
			fitted[i] = Cut(row, w)
		}
		p.view.SetContentLines(fitted)
	}
	p.Move(0) // back inside when the window has grown
	out := Rows(strings.Split(p.view.View(), "\n"), w, h)
	for y, bar := range scrollbar(th, p.view.YOffset(), h, len(rows)) {
		out[y] += bar
	}
	return out
}
