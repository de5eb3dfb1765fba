package browser

import (
	"cmp"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Widths, in cells, from which on the panes of a page are laid out in another way, and the rows of a
// page with more than one at least.
const (
	Over   = 60  // the list above the detail
	Beside = 80  // the detail beside the list
	Wide   = 160 // the list stays where the detail is opened
	Prose  = 88  // cells of a pane with text at most, where there is another beside it
	Least  = 15
)

// View is what a page says of its list.
type View struct {
	Title, Note string
	W           int                      // cells, where the detail stands beside it
	Beside      int                      // columns of the page from which on it does; 0 is Beside
	Wide        int                      // those from which on the list stays where the detail is opened; 0 is Wide
	H           int                      // rows at most, where the detail stands below it; 0 is two fifths of the page
	Heads       func(x, y, w int) string // the names of the columns, drawn at x, y; nil: none
	Row         func(i, w int) string
	Empty       []string // instead of a list without rows
	// Below draws what follows the list at once, where that leaves so many rows, and a click there
	// does OnBelow; nil: nothing.
	Below   func(left int) []string
	OnBelow func() tea.Cmd
	// Detail draws the detail, More what stands to the right of it where there is room
	// for that; nil: nothing.
	Detail  func(x, y, w, h int) []string
	DetailW int // cells, where More stands beside it; 0 is half of what the list leaves, or Prose
	More    func(w, h int) []string
}

// Panes draws the list and the detail as they share the frame: one of them in a small terminal,
// and where the detail is opened in all but a wide one.
func (b *Browser) Panes(f *tui.Frame, v View) []string {
	b.Areas = b.Areas[:0]
	switch {
	case f.W >= cmp.Or(v.Wide, Wide) && f.H >= Least: // where an open detail leaves the list its place
		list, w := b.ListPane(f, v, v.W, f.H), f.W-v.W-1
		if v.More == nil {
			return widget.Panes(f.Theme, list, v.Detail(v.W+1, 0, w, f.H))
		}
		detail := cmp.Or(v.DetailW, min((w-3)/2, Prose))
		return widget.Panes(f.Theme, list, v.Detail(v.W+1, 0, detail, f.H), v.More(w-detail-1, f.H))
	case b.opened():
		return v.Detail(0, 0, f.W, f.H)
	case f.W < Over || f.H < Least:
		return b.ListPane(f, v, f.W, f.H)
	case f.W >= cmp.Or(v.Beside, Beside):
		return widget.Panes(f.Theme, b.ListPane(f, v, v.W, f.H), v.Detail(v.W+1, 0, f.W-v.W-1, f.H))
	}
	h := min(b.rows(f, v), cmp.Or(v.H, f.H*2/5))
	return append(b.ListPane(f, v, f.W, h), v.Detail(0, h, f.W, f.H-h)...)
}

// opened reports whether the detail, or what is there in its place, has the focus.
func (b *Browser) opened() bool { return b.Focus != b.opts.List && b.Focus != PartFilter }

// ListWidth is how wide the list is on a page of w × h cells, and detail the text of the detail.
func (b *Browser) ListWidth(v View, w, h int) (list, detail int) {
	if h < Least || w < cmp.Or(v.Beside, Beside) || b.opened() && w < cmp.Or(v.Wide, Wide) {
		return w, w - 4
	}
	return v.W, w - v.W - 5
}

// rows is how many rows the list needs with its heading.
func (b *Browser) rows(f *tui.Frame, v View) int {
	n := 1 + max(b.List.Len(), len(v.Empty)) + len(b.Filter.Rows(f, 0, 0, f.W, false))
	if v.Below != nil {
		n += len(v.Below(f.H))
	}
	if b.Typing() && b.Filter.Empty() {
		n++
	}
	if v.Heads != nil {
		n++
	}
	return n
}

// headsFrom is how many rows a list has at least with its heads.
const headsFrom = 3

// ListPane draws the list below its heading and its filter in w × h cells.
func (b *Browser) ListPane(f *tui.Frame, v View, w, h int) []string {
	focus := f.Focus && !b.opened()
	rows := []string{widget.Heading(f.Theme, v.Title, v.Note, focus, w)}
	for _, row := range b.Filter.Rows(f, 1, len(rows), w-2, b.Typing()) {
		rows = append(rows, " "+row)
	}
	if b.List.Len() == 0 {
		return widget.Rows(append(rows, v.Empty...), w, h)
	}
	if left := h - len(rows); v.Heads != nil && left >= headsFrom {
		room := w - 1 // beside the cursor
		if b.List.Len() >= left {
			room -= 2 // and the scroll bar
		}
		rows = append(rows, " "+v.Heads(1, len(rows), room))
	}
	left := h - len(rows)
	var below []string
	if v.Below != nil {
		below = v.Below(left - b.List.Len())
	}
	if len(below) > 0 {
		left = min(left-len(below), b.List.Len())
	}
	b.Areas = append(b.Areas, tui.Area{Part: b.opts.List, Y: len(rows), W: w, H: left})
	rows = append(rows, b.List.Render(f.Theme, w, left, focus, v.Row)...)
	if v.OnBelow != nil {
		b.Areas = append(b.Areas, tui.Area{Y: len(rows), W: w, H: len(below), Run: v.OnBelow})
	}
	return widget.Rows(append(rows, below...), w, h)
}

// DetailPane draws rows as the detail, w × h cells at x, y, below a heading.
func (b *Browser) DetailPane(f *tui.Frame, title, note string, rows []string, x, y, w, h int) []string {
	b.Areas = append(b.Areas, tui.Area{Part: PartDetail, X: x, Y: y, W: w, H: h})
	text := b.Search.Render(f, &b.Detail, rows, x+1, y+1, w-2, h-1)
	return widget.Pane(f.Theme, title, note, f.Focus && b.Focus == PartDetail, text, w, h)
}
