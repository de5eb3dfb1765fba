package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/tui/verb"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Prompt is an overlay that asks for one line.
type Prompt struct {
	Name  string // its ID, and the first part of its actions'
	Title string // what is asked for, and what enter does
	Hint  string // that in a word, for the footer
	Label string // above the line; "" for nothing
	Wide  bool   // the line is a path that is there already
	Empty bool   // nothing is an answer, too
	Acts  bool   // taking it changes something: not while only watching
	// Take gets what was typed, once the overlay is closed.
	Take func(text string) tea.Cmd
	Text widget.Editor
}

// ID is the name.
func (o *Prompt) ID() string { return o.Name }

// TextEntry is true: something is typed.
func (o *Prompt) TextEntry() bool { return true }

// Actions are taking what is typed, and leaving.
func (o *Prompt) Actions() []Action {
	return []Action{
		{ID: o.Name + ".take", Title: o.Title, Hint: o.Hint, Verb: verb.Open, InText: true, Acts: o.Acts, Run: func() tea.Cmd {
			text := o.Text.Value()
			if text == "" && !o.Empty {
				return Close(o.Name)
			}
			return tea.Sequence(Close(o.Name), o.Take(text))
		}},
		{ID: o.Name + ".close", Title: "Back", Hint: "back", Verb: verb.Back, InText: true, Run: func() tea.Cmd { return Close(o.Name) }},
	}
}

// Update takes what is typed and pasted.
func (o *Prompt) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		o.Text.Key(msg)
	case tea.PasteMsg:
		o.Text.Insert(msg.Content)
	}
	return nil
}

// Render draws the dialog.
func (o *Prompt) Render(f *Frame) []string {
	most := 64
	if o.Wide {
		most = 90
	}
	w := min(f.W, most) - 6
	rows, x, y := o.Text.Render(f.Theme, w, 1, f.Focus)
	if o.Label != "" {
		rows = append([]string{f.Theme.Muted.Render(o.Label)}, rows...)
		y++
	}
	f.Cursor(3+x, 1+y)
	return widget.Dialog(f.Theme, o.Title, "", rows, f.W, f.H)
}
