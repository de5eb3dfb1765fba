package servers

import (
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// terms is what a server runs and may do, over the page: the user reads all of it before they
// turn the server on, and agrees to what was drawn.
type terms struct {
	servers  Servers
	name     string
	title    string
	onDemand bool // agents search for its tools instead of listing them
	snapshot.Terms

	consent tui.Consent
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
		{ID: "terms.on", Title: "Turn it on as it is shown", Hint: "turn on", Keys: []string{"y"}, Acts: true, Sight: true, Run: t.agree},
		{ID: "terms.off", Title: "Leave it off", Hint: "leave off", Keys: []string{"esc", "n", "q"}, Run: leave},
	}, t.consent.Actions("terms")...)
}

// agree turns the server on if all of what it runs was shown, and else shows more of it.
func (t *terms) agree() tea.Cmd {
	if !t.consent.Agreed() {
		return nil
	}
	name, onDemand, seen, servers := t.name, t.onDemand, t.Digest, t.servers
	return tea.Sequence(tui.Close(termsID), turnOn(servers, name, onDemand, seen))
}

// turnOn turns a server on for which the user has been shown terms, "" for none. Where they
// have to see it first, they do.
func turnOn(servers Servers, name string, onDemand bool, seen string) tea.Cmd {
	return func() tea.Msg {
		said, err := servers.TurnOn(name, onDemand, seen)
		if errors.Is(err, snapshot.ErrNotAgreed) {
			d, _ := servers.Details(name)
			t := &terms{servers: servers, name: name, title: sanitize.Line(name), onDemand: onDemand, Terms: d.Terms}
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
		t.consent.Scroll(msg.Delta)
	}
	return nil
}

// Render draws the terms, and below them how much of them has not been shown.
func (t *terms) Render(f *tui.Frame) []string {
	w := min(f.W, 100) - 8
	t.consent.ID, t.consent.Digest = "terms "+t.name, tui.Digest(t.Digest)
	return widget.Dialog(f.Theme, "Turn on "+t.title+"?", "", t.consent.Render(f, t.rows(f.Theme, w), w, f.H-3, "turn on", "leave off"), w+8, f.H)
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
			rows = append(rows, th.Muted.Render(sanitize.Exact(fact.Name)))
			for _, row := range factRows(th, fact, w-2) {
				rows = append(rows, "  "+row)
			}
			continue
		}
		name := widget.Fit(sanitize.Exact(fact.Name), nameW)
		for _, row := range factRows(th, fact, w-nameW) {
			rows = append(rows, th.Muted.Render(name)+row)
			name = widget.Blank(nameW)
		}
	}
	return rows
}

// factRows are a fact in rows of at most w cells: its value character by character, and what
// it means broken between words.
func factRows(th *theme.Theme, fact snapshot.Fact, w int) []string {
	rows := widget.Code(th, fact.Value, w)
	end := len(rows) - 1
	n := widget.Width(rows[end])
	switch {
	case fact.Means == "":
		return rows
	case n >= w: // there is no room beside it
		return append(rows, widget.Wrap(strings.TrimLeft(fact.Means, ":, "), w)...)
	}
	words := widget.Wrap(strings.Repeat("x", n)+fact.Means, w)
	words[0] = rows[end] + words[0][n:]
	return append(rows[:end], words...)
}
