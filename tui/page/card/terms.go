package card

import (
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/servers/span"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// terms is what a server runs and may do, over the page: the user reads all of it before they
// turn the server on, and agrees to what was drawn.
type terms struct {
	cards Cards
	name  string
	title string
	lazy  bool // agents find its tools instead of listing them
	deck.Terms

	reading reading
	pager   widget.Pager
}

const termsID = "terms"

// ID implements tui.Overlay.
func (t *terms) ID() string { return termsID }

// TextEntry is false: letters are keys.
func (t *terms) TextEntry() bool { return false }

// Actions are turning it on, leaving it off, and moving.
func (t *terms) Actions() []tui.Action {
	leave := func() tea.Cmd { return tui.Close(termsID) }
	return append([]tui.Action{
		{ID: "terms.on", Title: "Turn it on as it is shown", Hint: "turn on", Keys: []string{"y"}, Acts: true, Sight: true, Enabled: t.whyNot, Run: t.agree},
		{ID: "terms.off", Title: "Leave it off", Hint: "leave off", Keys: []string{"esc", "n", "q"}, Run: leave},
	}, tui.ScrollActions("terms", "", &t.pager)...)
}

func (t *terms) whyNot() string {
	if !t.reading.armed(time.Now()) {
		return "it has just come or changed; read it first"
	}
	return ""
}

// agree turns the server on if all of what it runs was shown, and else shows more of it.
func (t *terms) agree() tea.Cmd {
	if row, n := t.reading.unseen(time.Now()); n > 0 {
		t.pager.Move(row - t.pager.At(0))
		return nil
	}
	name, lazy, seen, cards := t.name, t.lazy, t.Digest, t.cards
	return tea.Sequence(tui.Close(termsID), turnOn(cards, name, lazy, seen))
}

// turnOn turns a server on for which the user has been shown terms, "" for none. Where they
// have to see it first, they do.
func turnOn(cards Cards, name string, lazy bool, seen string) tea.Cmd {
	return func() tea.Msg {
		said, err := cards.TurnOn(name, lazy, seen)
		if errors.Is(err, deck.ErrNotAgreed) {
			d, _ := cards.Details(name)
			t := &terms{cards: cards, name: name, title: plain.Line(name), lazy: lazy, Terms: d.Terms}
			if seen == "" {
				return tui.Open(t)()
			}
			return tea.BatchMsg{tui.Open(t), tui.Toast(tui.Warn, err.Error())}
		}
		return tui.Outcome(func() (string, error) { return said, err })()
	}
}

// Update takes what has changed about the server.
func (t *terms) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case detailsMsg:
		if msg.name != t.name {
			break
		}
		if msg.Terms.Agreed { // elsewhere
			return tui.Close(termsID)
		}
		t.Terms = msg.Terms
	case tui.WheelMsg:
		t.pager.Move(msg.Delta)
	}
	return nil
}

// Render draws the terms, and below them how much of them has not been shown.
func (t *terms) Render(f *tui.Frame) []string {
	th, w := f.Theme, min(f.W, 100)-8
	rows := t.rows(th, w)
	const below = 2
	h := min(len(rows), max(f.H-below-3, 1))
	out := t.pager.Render(th, rows, w+1, h)
	t.reading.drawn(t.Digest, len(rows), w, h, t.pager.At(0), f.Now)
	_, n := t.reading.unseen(f.Now)
	armed := t.reading.armed(f.Now)
	f.RedrawAfter(t.reading.next(f.Now))
	note, key, text := th.Faint.Render(fmt.Sprintf("all %s shown", span.Count(len(rows), "row"))), th.Key, th.Text
	if n > 0 {
		note = th.Warn.Render(span.Count(n, "row") + " not shown yet: pgdn")
	}
	if n > 0 || !armed {
		key, text = th.Faint, th.Faint
	}
	keys, beside := key.Render("y")+text.Render(" turn on")+"  "+th.Key.Render("esc")+" leave off", ""
	if widget.Width(keys+note)+2 <= w {
		note, beside = "", note
	}
	out = append(out, note, widget.Ends(keys, beside, w+1))
	return widget.Dialog(th, "Turn on "+t.title+"?", "", out, w+8, f.H)
}

// rows are the terms in rows of w cells.
func (t *terms) rows(th *theme.Theme, w int) []string {
	why := "You have not turned it on yet."
	if t.Changed {
		why = "It is not as it was when you turned it on."
	}
	rows := widget.Wrap(why+" Agree to all of this:", w)
	rows = append(rows, "")
	const nameW = 13
	for _, fact := range t.Facts {
		if w < 3*nameW { // the name on a row of its own
			rows = append(rows, th.Muted.Render(plain.Exact(fact.Name)))
			for _, row := range widget.Code(th, fact.Value, w-2) {
				rows = append(rows, "  "+row)
			}
			continue
		}
		name := widget.Fit(plain.Exact(fact.Name), nameW)
		for _, row := range widget.Code(th, fact.Value, w-nameW) {
			rows = append(rows, th.Muted.Render(name)+row)
			name = widget.Blank(nameW)
		}
	}
	return rows
}
