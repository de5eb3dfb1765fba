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

	pager widget.Pager
}

// ID is the Name.
func (r *Reader) ID() string { return r.Name }

// TextEntry is false.
func (r *Reader) TextEntry() bool { return false }

// Actions are moving and closing.
func (r *Reader) Actions() []Action {
	closing := Action{ID: "reader.close", Title: "Close", Hint: "close", Keys: []string{"esc", "q", "enter"}, Run: func() tea.Cmd { return Close(r.Name) }}
	return slices.Concat(r.Extra, []Action{closing}, ScrollActions("reader", "", &r.pager))
}

// scroller is a window on rows.
type scroller interface {
	Move(d int) // by rows
	Page(d int) // by screens
}

// ScrollActions move a window on rows, in a part. The keys of all windows are
// set by text.down and its like, those of this one by ID.down. What is to be done after
// any of them follows.
func ScrollActions(id, part string, s scroller, after ...func()) []Action {
	return moves(id, "text", part, after, []move{
		{"down", "Down", []string{"down", "j"}, func() { s.Move(1) }},
		{"up", "Up", []string{"up", "k"}, func() { s.Move(-1) }},
		{"pagedown", "Page down", []string{"pgdown", "space", "ctrl+d", "shift+down"}, func() { s.Page(1) }},
		{"pageup", "Page up", []string{"pgup", "ctrl+u", "shift+up"}, func() { s.Page(-1) }},
		{"top", "To the top", []string{"home", "g"}, func() { s.Move(-1 << 30) }},
		{"bottom", "To the bottom", []string{"end", "G"}, func() { s.Move(1 << 30) }},
	})
}

// ListActions move the cursor of a list, in a part. The keys of all lists are
// set by list.down and its like, those of this one by ID.down. What is to be done after
// any of them follows.
func ListActions(id, part string, l *widget.List, after ...func()) []Action {
	return moves(id, "list", part, after, []move{
		{"down", "Down", []string{"down", "j"}, func() { l.Move(1) }},
		{"up", "Up", []string{"up", "k"}, func() { l.Move(-1) }},
		{"pagedown", "Page down", []string{"pgdown", "ctrl+d", "shift+down"}, func() { l.Page(1) }},
		{"pageup", "Page up", []string{"pgup", "ctrl+u", "shift+up"}, func() { l.Page(-1) }},
		{"top", "To the first", []string{"home", "g"}, func() { l.MoveTo(0) }},
		{"bottom", "To the last", []string{"end", "G"}, func() { l.MoveTo(1 << 30) }},
	})
}

type move struct {
	name, title string
	keys        []string
	do          func()
}

func moves(id, every, part string, after []func(), ms []move) []Action {
	out := make([]Action, len(ms))
	for i, m := range ms {
		out[i] = Action{
			ID: id + "." + m.name, Title: m.title, Keys: m.keys, Part: part, Hidden: true, every: every + "." + m.name,
			Run: func() tea.Cmd {
				m.do()
				for _, f := range after {
					f()
				}
				return nil
			},
		}
	}
	return out
}

// Update scrolls.
func (r *Reader) Update(msg tea.Msg) tea.Cmd {
	if w, ok := msg.(WheelMsg); ok {
		r.pager.Move(w.Delta)
	}
	return nil
}

// Render draws the reader.
func (r *Reader) Render(f *Frame) []string {
	w := min(f.W, 100)
	rows := r.Rows(f, w-8)
	widest := widget.Width(r.Title) + 2
	for _, row := range rows {
		widest = max(widest, widget.Width(row))
	}
	w = min(w, widest+7)
	h := min(f.H, len(rows)+2)
	if h < len(rows)+2 {
		w++ // air before the scroll bar
	}
	return widget.Dialog(f.Theme, r.Title, "", r.pager.Render(f.Theme, rows, w-6, h-2), w, h)
}
