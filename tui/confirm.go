package tui

import (
	"cmp"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/tui/verb"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Choice is one way out of a Confirm.
type Choice struct {
	Key  string // "y"; "": the digit of its place
	Text string // "Quit"
	Run  func() tea.Cmd
}

// Confirm is a question with a few answers, each with its key; Esc takes none.
type Confirm struct {
	Name    string // ID of the overlay
	Title   string
	Text    string // may have line breaks; is wrapped
	Choices []Choice
	Danger  bool // the title is in the colour of errors

	at int
	y  int
}

// ID is the Name.
func (c *Confirm) ID() string { return c.Name }

// TextEntry is false: letters are answers.
func (c *Confirm) TextEntry() bool { return false }

// Actions are the choices.
func (c *Confirm) Actions() []Action {
	move := func(d int) func() tea.Cmd {
		return func() tea.Cmd {
			c.at = (c.at + d + len(c.Choices)) % len(c.Choices)
			return nil
		}
	}
	var out []Action
	for i, ch := range c.Choices {
		key := c.key(i)
		out = append(out, Action{ID: "confirm." + key, Title: ch.Text, Keys: []string{key}, Sight: true, Run: func() tea.Cmd { return c.take(i) }})
	}
	return append(out, []Action{
		{ID: "confirm.take", Title: "Choose the highlighted answer", Hint: "choose", Verb: verb.Open, Sight: true, Run: func() tea.Cmd { return c.take(c.at) }},
		{ID: "confirm.next", Title: "Next answer", Hint: "next", Verb: verb.Down, Also: []verb.Verb{verb.NextPane, verb.Right}, Moves: true, Run: move(1)},
		{ID: "confirm.previous", Title: "Previous answer", Verb: verb.Up, Also: []verb.Verb{verb.PreviousPane, verb.Left}, Moves: true, Run: move(-1)},
		{ID: "confirm.close", Title: "Back", Hint: "back", Verb: verb.Back, Run: func() tea.Cmd { return Close(c.Name) }},
	}...)
}

func (c *Confirm) key(i int) string { return cmp.Or(c.Choices[i].Key, strconv.Itoa(i+1)) }

func (c *Confirm) take(i int) tea.Cmd {
	if run := c.Choices[i].Run; run != nil {
		return tea.Sequence(Close(c.Name), run())
	}
	return Close(c.Name)
}

// Update moves to the choice that is clicked: a key takes it.
func (c *Confirm) Update(msg tea.Msg) tea.Cmd {
	if click, ok := msg.(ClickMsg); ok {
		if i := click.Y - c.y; i >= 0 && i < len(c.Choices) {
			c.at = i
		}
	}
	return nil
}

// Render draws the dialog.
func (c *Confirm) Render(f *Frame) []string {
	th := f.Theme
	f.Asks(Asked{ID: c.Name, Digest: Digest(c.Title, c.Text), Quiet: ReadPrompt})
	w := min(f.W, 64) - 6
	var rows []string
	for _, line := range widget.Wrap(sanitize.Text(c.Text), w) {
		rows = append(rows, th.Text.Render(strings.TrimRight(line, " ")))
	}
	rows = append(rows, "")
	c.y = len(rows) + 1
	for i, ch := range c.Choices {
		row := th.Key.Render(c.key(i)) + "  " + ch.Text
		if i == c.at {
			row = th.Selected.Over(widget.Fit(th.Key.Render(th.Glyph.Cursor)+" "+row, w))
		} else {
			row = "  " + row
		}
		rows = append(rows, row)
	}
	if c.Danger {
		rows = append([]string{th.Bad.Render(c.Title), ""}, rows...)
		c.y += 2
		return widget.Dialog(th, "", "", rows, f.W, f.H)
	}
	return widget.Dialog(th, c.Title, "", rows, f.W, f.H)
}
