package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/tui/verb"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Reader is an overlay to read in: rows that scroll.
type Reader struct {
	Name  string // ID of the overlay
	Title string
	// Rows draws the text for w cells; f is for theme and time.
	Rows func(f *Frame, w int) []string
	// Text is for a text with values to fold, in the place of Rows.
	Text  func(f *Frame, w int) widget.Text
	Extra []Action // beside moving and closing

	pager  widget.Pager
	folds  widget.Folds // on it
	search Search
}

// ID is the Name.
func (r *Reader) ID() string { return r.Name }

// TextEntry is true while a text to search for is typed.
func (r *Reader) TextEntry() bool { return r.search.Typing("") }

// Actions are searching, moving and closing.
func (r *Reader) Actions() []Action {
	r.folds.Window = &r.pager
	closing := Action{ID: "reader.close", Title: "Close", Hint: "back", Verb: verb.Back, Run: func() tea.Cmd { return Close(r.Name) }}
	return slices.Concat(r.Extra, []Action{closing, FoldAction("reader", "", &r.folds)}, r.search.Actions("reader"), ScrollActions("reader", "", &r.folds))
}

// FoldAction folds JSON in a window on a text, in a part. It comes before ScrollActions,
// whose key it has where there is something to fold.
func FoldAction(id, part string, f *widget.Folds) Action {
	return Action{
		ID: id + ".fold", Title: "Fold or unfold the JSON at the cursor", Moves: true, Verb: verb.Mark, Part: part,
		Enabled: func() string {
			if _, ok := f.Value(); !ok {
				return "no JSON at the cursor"
			}
			return ""
		},
		Run: func() tea.Cmd { f.Toggle(); return nil },
	}
}

// scroller is a window on rows.
type scroller interface {
	Move(d int) // by rows
	Page(d int) // by screens
	Half(d int) // by half screens
}

// ScrollActions move a window on rows, in a part. The keys of all windows are
// set by text.down and its like, those of this one by ID.down. What is to be done after
// any of them follows.
func ScrollActions(id, part string, s scroller, after ...func()) []Action {
	return moves(id, "text", part, after, []move{
		{"down", "Down", verb.Down, nil, func() { s.Move(1) }},
		{"up", "Up", verb.Up, nil, func() { s.Move(-1) }},
		{"pagedown", "Page down", verb.PageDown, []string{"pgdown"}, func() { s.Page(1) }},
		{"pageup", "Page up", verb.PageUp, []string{"pgup"}, func() { s.Page(-1) }},
		{"halfdown", "Half a page down", verb.PageDown, []string{"ctrl+d"}, func() { s.Half(1) }},
		{"halfup", "Half a page up", verb.PageUp, []string{"ctrl+u"}, func() { s.Half(-1) }},
		{"top", "To the top", verb.First, nil, func() { s.Move(-1 << 30) }},
		{"bottom", "To the bottom", verb.Last, nil, func() { s.Move(1 << 30) }},
	})
}

// ListActions move the cursor of a list, in a part. The keys of all lists are
// set by list.down and its like, those of this one by ID.down. What is to be done after
// any of them follows.
func ListActions(id, part string, l *widget.List, after ...func()) []Action {
	return moves(id, "list", part, after, []move{
		{"down", "Down", verb.Down, nil, func() { l.Move(1) }},
		{"up", "Up", verb.Up, nil, func() { l.Move(-1) }},
		{"pagedown", "Page down", verb.PageDown, []string{"pgdown"}, func() { l.Page(1) }},
		{"pageup", "Page up", verb.PageUp, []string{"pgup"}, func() { l.Page(-1) }},
		{"halfdown", "Half a page down", verb.PageDown, []string{"ctrl+d"}, func() { l.Half(1) }},
		{"halfup", "Half a page up", verb.PageUp, []string{"ctrl+u"}, func() { l.Half(-1) }},
		{"top", "To the first", verb.First, nil, func() { l.MoveTo(0) }},
		{"bottom", "To the last", verb.Last, nil, func() { l.MoveTo(1 << 30) }},
	})
}

type move struct {
	name, title string
	verb        verb.Verb
	keys        []string // of the verb; nil: all
	do          func()
}

func moves(id, every, part string, after []func(), ms []move) []Action {
	out := make([]Action, len(ms))
	for i, m := range ms {
		out[i] = Action{
			ID: id + "." + m.name, Title: m.title, Verb: m.verb, Keys: m.keys, Part: part, Hidden: true, Moves: true, every: every + "." + m.name,
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

// Update scrolls and searches.
func (r *Reader) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case WheelMsg:
		r.folds.Scroll(msg.Delta)
	case ClickMsg:
		r.folds.Click(msg.Y - 1)
	}
	r.search.Update("", msg)
	return nil
}

// Render draws the reader.
func (r *Reader) Render(f *Frame) []string {
	w, air := min(f.W, 100), 0
	var text widget.Text
	if r.Text == nil {
		text.Rows = r.Rows(f, w-8)
	} else {
		air = 2 // for the cursor
		text = r.Text(f, w-8-air)
	}
	r.folds.Set(text.Folds)
	widest := widget.Width(r.Title) + 2
	for _, row := range text.Rows {
		widest = max(widest, widget.Width(row)+air)
	}
	w = min(w, widest+7)
	h := len(text.Rows) + 2
	if r.search.on() {
		w, h = min(f.W, max(w, 40)), h+1
	}
	if h > f.H {
		h, w = f.H, w+1 // air before the scroll bar
	}
	rows := r.search.Render(f, &r.folds, text.Rows, 3+air, 1, w-6-air, h-2)
	for i := range rows {
		if rows[i] = widget.Blank(air) + rows[i]; i == r.folds.Cursor() {
			rows[i] = widget.Cursor(f.Theme, rows[i])
		}
	}
	return widget.Dialog(f.Theme, r.Title, "", rows, w, h)
}
