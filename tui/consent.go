package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/verb"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Consent is a text that the user agrees to, in a window of an overlay: a key counts once all
// of it was shown, and shows what was not before that.
type Consent struct {
	ID     string // of what is agreed to
	Digest uint64 // of its text

	pager widget.Pager
	sight *Sight
	drawn *Drawn
}

// Render draws the text, and below it how much of it was not shown yet, and the keys: give
// is what y does, leave what esc does. The rows are w+1 cells wide and at most h; what is wider
// takes several, since nobody has read what was cut.
func (c *Consent) Render(f *Frame, rows []string, w, h int, give, leave string) []string {
	const below = 2
	th := f.Theme
	rows = widget.Wrap(strings.Join(rows, "\n"), w)
	c.sight, c.drawn = f.sight, Draw(rows)
	f.Asks(Asked{ID: c.ID, Digest: c.Digest, Quiet: ReadPrompt})
	h = min(len(rows), max(h-below, 1))
	out := c.pager.Render(th, rows, w+1, h)
	f.Shows(c.ID, c.drawn, c.pager.At(0), c.pager.At(0)+h)
	_, n := c.sight.Unseen(c.ID, c.drawn)
	note, key, text := th.Faint.Render("all "+humanize.Count(len(rows), "row")+" shown"), th.Key, th.Text
	switch {
	case n > 0 && h == len(rows): // they are before the user's eyes, and have not stood there for long enough
		note = ""
	case n > 0:
		note = th.Warn.Render(humanize.Count(n, "row") + " not shown yet: pgdn")
	}
	if n > 0 || !f.Ready() {
		key, text = th.Faint, th.Faint
	}
	keys, beside := key.Render("y")+text.Render(" "+give)+"  "+th.Key.Render("esc")+" "+leave, ""
	if widget.Width(keys+note)+2 <= w {
		note, beside = "", note
	}
	return append(out, note, widget.Ends(keys, beside, w+1))
}

// Agreed reports whether all of the text was shown; else the window moves to what was not.
func (c *Consent) Agreed() bool {
	if c.drawn == nil {
		return false
	}
	row, n := c.sight.Unseen(c.ID, c.drawn)
	if n > 0 {
		c.pager.Move(max(row-1, 0) - c.pager.At(0))
	}
	return n == 0
}

// Actions move the window.
func (c *Consent) Actions(id string) []Action { return ScrollActions(id, "", &c.pager) }

// Scroll moves the window by rows.
func (c *Consent) Scroll(d int) { c.pager.Move(d) }

// Sure is an overlay that asks whether something is to be given that lasts: its words stand
// there whole, and y gives it.
type Sure struct {
	Name   string // ID of the overlay
	Title  string
	Give   string // what y does, in a word or two
	ItemID string // of what is given
	Rows   func(th *theme.Theme, w int) []string
	Run    func() tea.Cmd

	consent Consent
}

// ID is the Name.
func (o *Sure) ID() string { return o.Name }

// TextEntry is false: letters are keys.
func (o *Sure) TextEntry() bool { return false }

// Actions are giving it, and going back.
func (o *Sure) Actions() []Action {
	give := func() tea.Cmd {
		if !o.consent.Agreed() {
			return nil
		}
		return tea.Sequence(Close(o.Name), o.Run())
	}
	return append([]Action{
		{ID: "sure.give", Title: "Allow it as shown", Hint: o.Give, Verb: verb.Yes, Acts: true, Sight: true, Run: give},
		{ID: "sure.back", Title: "Back, without allowing it", Hint: "back", Verb: verb.Back, Also: []verb.Verb{verb.No}, Run: func() tea.Cmd { return Close(o.Name) }},
	}, o.consent.Actions("sure")...)
}

// Update scrolls.
func (o *Sure) Update(msg tea.Msg) tea.Cmd {
	if wheel, ok := msg.(WheelMsg); ok {
		o.consent.Scroll(wheel.Delta)
	}
	return nil
}

// Render draws the dialog.
func (o *Sure) Render(f *Frame) []string {
	w := min(f.W, 100) - 8
	rows := o.Rows(f.Theme, w)
	o.consent.ID, o.consent.Digest = o.ItemID, Draw(rows).text
	return widget.Dialog(f.Theme, o.Title, "", o.consent.Render(f, rows, w, f.H-3, o.Give, "back"), w+8, f.H)
}
