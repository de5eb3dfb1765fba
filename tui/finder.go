package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/tui/verb"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Finder is what is in an overlay in which the user types to find one of a list: a
// field, a rule and the list.
type Finder struct {
	Edit widget.Editor
	List widget.List

	y int // of the list within the overlay, for clicks
}

// Moves are the actions that move the cursor of the list. id is what their IDs begin with.
func (d *Finder) Moves(id string) []Action {
	return []Action{
		{ID: id + ".up", Title: "Up", Verb: verb.Up, InText: true, Moves: true, Run: func() tea.Cmd { d.List.Move(-1); return nil }},
		{ID: id + ".down", Title: "Down", Verb: verb.Down, InText: true, Moves: true, Run: func() tea.Cmd { d.List.Move(1); return nil }},
	}
}

// Update passes a message on: filter is called when the text has changed, take when a
// row is clicked that the cursor is at.
func (d *Finder) Update(msg tea.Msg, filter func(), take func() tea.Cmd) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if d.Edit.Key(msg) {
			filter()
		}
	case tea.PasteMsg:
		d.Edit.Insert(msg.Content)
		filter()
	case WheelMsg:
		d.List.Scroll(msg.Delta)
	case ClickMsg:
		if d.List.Click(msg.Y - d.y) {
			return take()
		}
	}
	return nil
}

// Rows draws it for the inside of a dialog, with h rows of the list, or the row none
// when the list is empty.
func (d *Finder) Rows(f *Frame, w, h int, none string, row func(i, w int) string) []string {
	edit, x, _ := d.Edit.Render(f.Theme, w-2, 1, true)
	f.Cursor(3+2+x, 1)
	rows := []string{f.Theme.Key.Render("> ") + edit[0], f.Theme.Border.Render(widget.Repeat(f.Theme.Glyph.Frame.Top, w))}
	d.y = 1 + len(rows)
	if d.List.Len() == 0 {
		return append(rows, none)
	}
	return append(rows, d.List.Render(f.Theme, w, max(h, 1), true, row)...)
}
