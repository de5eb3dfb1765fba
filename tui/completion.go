package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/mcpdeck/mcpdeck/tui/verb"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// PartCompletion is the part of a page whose keys choose from a Completion.
const PartCompletion = "completion"

// Completion is a list of what the word before the cursor of a text field can become. It
// lies under the field, or over it. The zero Completion is closed.
type Completion struct {
	field  *widget.Editor
	after  func() tea.Cmd // once the field has another text
	word   string
	offers []string
	list   widget.List
	pick   bool   // the keys choose from the list at once
	picked bool   // they do
	shut   string // a word that is not completed, however it goes on
}

// Offer says what the word before the cursor of a field can become, the likeliest first;
// after is told when it has. With pick the keys choose from the list at once, else when
// the user goes there.
func (c *Completion) Offer(field *widget.Editor, after func() tea.Cmd, word string, offers []string, pick bool) {
	if c.shut == "" || !strings.HasPrefix(word, c.shut) {
		c.shut = ""
	} else {
		offers = nil
	}
	if slices.Contains(offers, word) { // it is whole
		offers = nil
	}
	at := 0
	if word == c.word {
		at = max(slices.Index(offers, c.chosen()), 0)
	}
	c.picked = len(offers) > 0 && (pick || c.picked && word == c.word)
	c.field, c.after, c.word, c.offers, c.pick = field, after, word, offers, pick
	c.list.SetLen(len(offers))
	c.list.MoveTo(at)
}

// Open reports whether there is something to choose from, Picking whether the keys do.
func (c *Completion) Open() bool { return len(c.offers) > 0 }

// Picking implies Open.
func (c *Completion) Picking() bool { return c.picked }

// Close closes the list; the word that is being typed opens it no more.
func (c *Completion) Close() { c.offers, c.picked, c.shut = nil, false, c.word }

// Reset closes the list, of a field that is left.
func (c *Completion) Reset() { *c = Completion{} }

func (c *Completion) chosen() string {
	if i := c.list.Cursor; i >= 0 && i < len(c.offers) {
		return c.offers[i]
	}
	return ""
}

func (c *Completion) take() tea.Cmd {
	if !c.Open() {
		return nil
	}
	word := c.chosen()
	c.field.Complete(c.word, word)
	c.Close()
	if c.shut = ""; c.pick { // else the completed word may go on
		c.shut = word
	}
	return c.after()
}

// Actions choose from the list. part is that of the field, where they begin to; "" where
// they choose at once.
func (c *Completion) Actions(id, part string) []Action {
	open := func() string { return Because(!c.Open(), "nothing completes this") }
	shut := func() tea.Cmd { c.Close(); return nil }
	move := func(d int) func() tea.Cmd {
		return func() tea.Cmd { c.picked = true; c.list.Move(d); return nil }
	}
	out := []Action{
		{ID: id + ".take", Title: "Complete the word", Hint: "choose", Verb: verb.Complete, Also: []verb.Verb{verb.Open}, Part: PartCompletion, Run: c.take},
		{ID: id + ".shut", Title: "Close suggestions", Hint: "back", Verb: verb.Back, Part: PartCompletion, Run: shut},
		{ID: id + ".up", Title: "Previous suggestion", Moves: true, Verb: verb.Up, Part: PartCompletion, Run: move(-1)},
		{ID: id + ".down", Title: "Next suggestion", Moves: true, Verb: verb.Down, Part: PartCompletion, Run: move(1)},
	}
	if part != "" {
		out = append(out,
			Action{ID: id + ".take", Title: "Complete the word", Hint: "choose", Verb: verb.Complete, Part: part, Run: c.take},
			Action{ID: id + ".pick", Title: "Choose a suggestion", Moves: true, Verb: verb.Down, Part: part, Run: move(0)},
			Action{ID: id + ".shut", Title: "Close suggestions", Hint: "back", Verb: verb.Back, Part: part, Run: shut})
	}
	for i := range out {
		out[i].InText, out[i].Enabled = true, open
	}
	return out
}

// completionRows is how many rows of the list are seen.
const completionRows = 8

// Render lays the list under the frame's cursor, or over it where there is no room.
func (c *Completion) Render(f *Frame) {
	if !c.Open() || f.cursor == nil || !f.Focus {
		return
	}
	th := f.Theme
	w, h := 0, min(len(c.offers), completionRows)
	for _, s := range c.offers {
		w = max(w, widget.Width(s)+6) // the cursor's mark, the scroll bar, and air before it
	}
	w = min(w, 72, f.W)
	rows := func(h int) []string {
		out := c.list.Render(th, w, h, c.picked, func(i, w int) string {
			return th.Text.Render(widget.CutLeft(c.offers[i], w))
		})
		for i, r := range out {
			out[i] = th.Panel.Over(r)
		}
		return out
	}
	before := widget.Width(c.word) + 2 // the mark of the list's cursor
	f.popup = &popup{x: max(min(f.cursor.X-before, f.W-w), 0), y: f.cursor.Y, h: h, rows: rows, run: func(row int) tea.Cmd {
		if c.list.Click(row) {
			return c.take()
		}
		return nil
	}}
}

// popup is rows that lie over a page, next to a row that they leave in sight.
type popup struct {
	x, y int
	h    int                   // rows there are at most
	rows func(h int) []string  // the rows in the room there is
	run  func(row int) tea.Cmd // what a click on one does
}

// drawPopup lays the popup of the page under its row, or over it where there is more room.
func (m *Model) drawPopup(f *Frame, rows []string, l layout) {
	p := f.popup
	if p == nil {
		return
	}
	above, below := p.y-l.bodyY, l.bodyY+l.bodyH-p.y-1
	y, h := p.y+1, min(p.h, below)
	if p.h > below && above > below {
		h = min(p.h, above)
		y = p.y - h
	}
	if h <= 0 {
		return
	}
	over := p.rows(h)
	m.lay(rows, []*lipgloss.Layer{lipgloss.NewLayer(strings.Join(over, "\n")).X(p.x).Y(y)})
	for i, row := range over {
		m.targets = append(m.targets, Area{X: p.x, Y: y + i, W: widget.Width(row), H: 1, Run: func() tea.Cmd { return p.run(i) }})
	}
}
