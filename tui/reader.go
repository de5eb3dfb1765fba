package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Reader is an overlay to read in: rows that scroll.
type Reader struct {
	Name  string // ID of the overlay
	Title string
	// Rows draws the text for w cells; f is for theme and time.
	Rows  func(f *Frame, w int) []string
	Extra []Action // beside moving and closing

	scroll widget.Scroll
}

// ID is the Name.
func (r *Reader) ID() string { return r.Name }

// TextEntry is false.
func (r *Reader) TextEntry() bool { return false }

// Actions are moving and closing.
func (r *Reader) Actions() []Action {
	closing := Action{ID: "reader.close", Title: "Close", Hint: "close", Keys: []string{"esc", "q", "enter"}, Run: func() tea.Cmd { return Close(r.Name) }}
	return slices.Concat(r.Extra, []Action{closing}, ScrollActions("reader", "", &r.scroll))
}

// ScrollActions move a window on rows, in a part.
func ScrollActions(id, part string, s *widget.Scroll) []Action {
	do := func(f func()) func() tea.Cmd {
		return func() tea.Cmd { f(); return nil }
	}
	return []Action{
		{ID: id + ".down", Title: "Down", Keys: []string{"down", "j"}, Part: part, Hidden: true, Run: do(func() { s.Move(1) })},
		{ID: id + ".up", Title: "Up", Keys: []string{"up", "k"}, Part: part, Hidden: true, Run: do(func() { s.Move(-1) })},
		{ID: id + ".pagedown", Title: "Page down", Keys: []string{"pgdown", "space", "ctrl+d", "shift+down"}, Part: part, Hidden: true, Run: do(func() { s.Page(1) })},
		{ID: id + ".pageup", Title: "Page up", Keys: []string{"pgup", "ctrl+u", "shift+up"}, Part: part, Hidden: true, Run: do(func() { s.Page(-1) })},
		{ID: id + ".top", Title: "To the top", Keys: []string{"home", "g"}, Part: part, Hidden: true, Run: do(func() { s.Top = 0 })},
		{ID: id + ".bottom", Title: "To the bottom", Keys: []string{"end", "G"}, Part: part, Hidden: true, Run: do(func() { s.Move(1 << 30) })},
	}
}

// ListActions move the cursor of a list, in a part.
func ListActions(id, part string, l *widget.List) []Action {
	do := func(f func()) func() tea.Cmd {
		return func() tea.Cmd { f(); return nil }
	}
	return []Action{
		{ID: id + ".down", Title: "Down", Keys: []string{"down", "j"}, Part: part, Hidden: true, Run: do(func() { l.Move(1) })},
		{ID: id + ".up", Title: "Up", Keys: []string{"up", "k"}, Part: part, Hidden: true, Run: do(func() { l.Move(-1) })},
		{ID: id + ".pagedown", Title: "Page down", Keys: []string{"pgdown", "ctrl+d", "shift+down"}, Part: part, Hidden: true, Run: do(func() { l.Page(1) })},
		{ID: id + ".pageup", Title: "Page up", Keys: []string{"pgup", "ctrl+u", "shift+up"}, Part: part, Hidden: true, Run: do(func() { l.Page(-1) })},
		{ID: id + ".top", Title: "To the first", Keys: []string{"home", "g"}, Part: part, Hidden: true, Run: do(func() { l.MoveTo(0) })},
		{ID: id + ".bottom", Title: "To the last", Keys: []string{"end", "G"}, Part: part, Hidden: true, Run: do(func() { l.MoveTo(1 << 30) })},
	}
}

// Update scrolls.
func (r *Reader) Update(msg tea.Msg) tea.Cmd {
	if w, ok := msg.(WheelMsg); ok {
		r.scroll.Move(w.Delta)
	}
	return nil
}

// Render draws the reader.
func (r *Reader) Render(f *Frame) []string {
	w := min(f.W, 100)
	rows := r.Rows(f, w-7)
	widest := widget.Width(r.Title) + 2
	for _, row := range rows {
		widest = max(widest, widget.Width(row))
	}
	w = min(w, widest+7)
	h := min(f.H, len(rows)+2)
	return widget.Dialog(f.Theme, r.Title, "", r.scroll.Render(f.Theme, rows, w-6, h-2), w, h)
}
