package widget

import (
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/theme"
)

// Text is rows, and the values in them that can be folded.
type Text struct {
	Rows  []string
	Folds []Foldable // as they begin
}

// Foldable is a value of several rows, and the row that stands for it when it is folded.
type Foldable struct {
	From, To int // its first row and its last
	Row      string
}

// Add puts rows below.
func (t *Text) Add(rows ...string) { t.Rows = append(t.Rows, rows...) }

// Append puts another text below.
func (t *Text) Append(below Text) {
	for _, f := range below.Folds {
		t.Folds = append(t.Folds, Foldable{f.From + len(t.Rows), f.To + len(t.Rows), f.Row})
	}
	t.Add(below.Rows...)
}

// Window is a window on rows: a Scroll, a Pager, or Folds on one of them.
type Window interface {
	Move(d int) // by rows
	Page(d int) // by screens
	Half(d int) // by half screens
	// Height is how many rows the last Render had, At the row y rows below the first of
	// them.
	Height() int
	At(y int) int
	Show(row int) // moves the window so that a row is in it
	Render(th *theme.Theme, rows []string, w, h int) []string
}

// Folds is a window on a text with a cursor, and with values that can be folded at it.
// Without such values it is the Window below it, which must be set.
type Folds struct {
	Window

	folds  []Foldable
	folded map[int]bool // by index
	cursor int          // row of the text
	placed bool         // the cursor was
	found  bool         // it is at what was searched for
	shown  []int        // rows of the text that are not folded away
}

// Set says which values of the text can be folded. They are known by how many begin before
// them, so that they stay folded when more follow and when they take other rows.
func (f *Folds) Set(folds []Foldable) { f.folds = folds }

// Reset is for another text: all of it is shown, from the top.
func (f *Folds) Reset() {
	*f = Folds{Window: f.Window}
	f.Window.Move(-1 << 30)
}

// Move moves the cursor by d rows.
func (f *Folds) Move(d int) {
	if len(f.folds) == 0 {
		f.Window.Move(d)
		return
	}
	f.moveTo(f.place() + d)
	f.follow()
}

// Page moves window and cursor by d screens.
func (f *Folds) Page(d int) {
	f.Window.Page(d)
	if len(f.folds) > 0 {
		f.Move(d * max(f.Height()-1, 1))
	}
}

// Half moves them by d half screens.
func (f *Folds) Half(d int) {
	f.Window.Half(d)
	if len(f.folds) > 0 {
		f.Move(d * max(f.Height()/2, 1))
	}
}

// Scroll moves the window by d rows and takes the cursor along when it would leave it.
func (f *Folds) Scroll(d int) {
	f.Window.Move(d)
	top := f.Window.At(0)
	f.moveTo(min(max(f.place(), top), top+max(f.Height()-1, 0)))
}

// Click moves the cursor to row y of the window. A value that begins there is folded or
// unfolded.
func (f *Folds) Click(y int) {
	if i := f.Window.At(y); y >= 0 && y < f.Height() && i < len(f.shown) && len(f.folds) > 0 {
		f.cursor = f.shown[i]
		if v := f.value(); v >= 0 && f.folds[v].From == f.cursor {
			f.Toggle()
		}
	}
}

// At is the row of the text y rows below the first that is shown.
func (f *Folds) At(y int) int {
	i := f.Window.At(y)
	if len(f.folds) == 0 || i >= len(f.shown) {
		return i
	}
	return f.shown[i]
}

// Cursor is the row of the window under the cursor; -1 when it has none.
func (f *Folds) Cursor() int {
	if len(f.folds) == 0 {
		return -1
	}
	return f.place() - f.Window.At(0)
}

// Show unfolds what a row is in and moves the cursor there.
func (f *Folds) Show(row int) {
	if len(f.folds) == 0 {
		f.Window.Show(row)
		return
	}
	for i, v := range f.folds {
		if v.From < row && row <= v.To {
			delete(f.folded, i)
		}
	}
	f.cursor, f.found = row, true
}

// Value reports whether there is a value at the cursor, and whether it is folded.
func (f *Folds) Value() (folded, ok bool) {
	v := f.value()
	return f.folded[v], v >= 0
}

// value is the innermost value at the cursor; -1 when there is none.
func (f *Folds) value() int {
	for i, v := range slices.Backward(f.folds) {
		if v.From <= f.cursor && f.cursor <= v.To {
			return i
		}
	}
	return -1
}

// Toggle folds the value at the cursor, or unfolds it.
func (f *Folds) Toggle() {
	v := f.value()
	if v < 0 {
		return
	}
	if f.folded == nil {
		f.folded = map[int]bool{}
	}
	f.folded[v], f.cursor = !f.folded[v], f.folds[v].From
}

// Render draws the rows of the text that are not folded away.
func (f *Folds) Render(th *theme.Theme, rows []string, w, h int) []string {
	if len(f.folds) == 0 {
		return f.Window.Render(th, rows, w, h)
	}
	drawn := f.lay(rows)
	if first := f.folds[0].From; !f.placed && first < h {
		f.cursor = first
	}
	f.placed = true
	f.moveTo(f.place()) // the text may have fewer rows than before
	out := f.Window.Render(th, drawn, w, h)
	if f.follow() { // which can only be done once the window knows how many rows there are
		out = f.Window.Render(th, drawn, w, h)
	}
	f.found = false
	return out
}

// lay finds the rows that are not folded away and returns them as they are drawn.
func (f *Folds) lay(rows []string) []string {
	drawn := make([]string, 0, len(rows))
	f.shown = f.shown[:0]
	next := 0 // the value that begins here or below
	for i := 0; i < len(rows); i++ {
		for next < len(f.folds) && f.folds[next].From < i {
			next++
		}
		f.shown = append(f.shown, i)
		if next == len(f.folds) || f.folds[next].From > i || !f.folded[next] {
			drawn = append(drawn, rows[i])
			continue
		}
		drawn = append(drawn, f.folds[next].Row)
		i = f.folds[next].To
	}
	return drawn
}

// place is which of the rows that are shown the cursor is on.
func (f *Folds) place() int {
	i, found := slices.BinarySearch(f.shown, f.cursor)
	if !found {
		i--
	}
	return max(i, 0)
}

func (f *Folds) moveTo(i int) {
	if n := len(f.shown); n > 0 {
		f.cursor = f.shown[min(max(i, 0), n-1)]
	}
}

// follow moves the window to the cursor and reports whether it had to.
func (f *Folds) follow() bool {
	at, top, h := f.place(), f.Window.At(0), f.Height()
	switch {
	case at >= top && at < top+h:
		return false
	case f.found:
		f.Window.Show(at)
	default:
		f.Window.Move(max(at-top-h+1, 0) + min(at-top, 0))
	}
	return true
}

// Cursor draws the row of a text under the cursor, which begins with two cells of air.
func Cursor(th *theme.Theme, row string) string {
	return th.Selected.Over(th.Key.Render(th.Glyph.Cursor) + strings.TrimPrefix(row, " "))
}
