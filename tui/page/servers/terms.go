package servers

import (
	"cmp"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/verb"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// terms is what a server runs and may do, over the page: the user reads all of it before they
// turn the server on, and agrees to what was drawn.
type terms struct {
	servers  Servers
	name     string
	title    string
	onDemand bool   // agents search for its tools instead of listing them
	undone   string // what is said once it is on; "" for how that went
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
		{ID: "terms.on", Title: "Turn it on as it is shown", Hint: "on/off", Verb: verb.Yes, Acts: true, Sight: true, Run: t.agree},
		{ID: "terms.off", Title: "Leave it off", Hint: "back", Verb: verb.Back, Also: []verb.Verb{verb.No}, Run: leave},
	}, t.consent.Actions("terms")...)
}

// agree turns the server on if all of what it runs was shown, and else shows more of it.
func (t *terms) agree() tea.Cmd {
	if !t.consent.Agreed() {
		return nil
	}
	name, onDemand, seen, servers, undone := t.name, t.onDemand, t.Digest, t.servers, t.undone
	return tea.Sequence(tui.Close(termsID), turnOn(servers, name, onDemand, seen, undone))
}

// turnOn turns a server on for which the user has been shown terms, "" for none. Where they
// have to see it first, they do. It says undone, or else what came of it, and offers to take the
// server out of the files of clients that have it, too.
func turnOn(servers Servers, name string, onDemand bool, seen, undone string) tea.Cmd {
	return func() tea.Msg {
		said, err := servers.TurnOn(name, onDemand, seen)
		switch {
		case errors.Is(err, snapshot.ErrNotAgreed):
			d, _ := servers.Details(name)
			t := &terms{servers: servers, name: name, title: sanitize.Line(name), onDemand: onDemand, undone: undone, Terms: d.Terms}
			if seen == "" {
				return tui.Open(t)()
			}
			return tea.BatchMsg{tui.Open(t), tui.Toast(tui.Warn, err.Error())}
		case err != nil:
			return tui.Toast(tui.Bad, err.Error())()
		case undone != "":
			return tui.Toast(tui.Good, undone)()
		}
		word := " on"
		if onDemand {
			word = " on demand"
		}
		out := tea.BatchMsg{tui.Toast(tui.Good, undoable(cmp.Or(strings.TrimSpace(said), sanitize.Line(name)+word)))}
		if there, err := servers.Elsewhere(name); err == nil && len(there.Clients) > 0 { // else they keep it
			out = append(out, tui.Open(elsewhere(servers, name, there)))
		}
		return out
	}
}

// elsewhere offers to take a server out of the files of clients, and shows what becomes of them.
func elsewhere(servers Servers, name string, there Elsewhere) tui.Overlay {
	from := sanitize.Line(name) + " from " + sanitize.Line(and(there.Clients))
	return &tui.Sure{
		Name: "elsewhere", Title: "Remove " + from + "?", Give: "remove it there", ItemID: "elsewhere " + name,
		Rows: func(th *theme.Theme, w int) []string {
			rows := append(widget.Wrap("It is on here now, so agents there would have its tools twice. These lines go:", w), "")
			for _, line := range there.Rows {
				style := th.Muted
				if strings.HasPrefix(line, "- ") {
					style = th.Removed
				}
				for _, row := range widget.Code(th, line, w) {
					rows = append(rows, style.Render(row))
				}
			}
			return rows
		},
		Run: func() tea.Cmd {
			return change("removed "+from, func() (string, error) { return servers.RemoveElsewhere(name, there) })
		},
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
