package agents

import (
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// connectionFacts is what is known of a session's connection to the deck.
func (p *Page) connectionFacts(f *tui.Frame, a *snapshot.Agent, w int) []string {
	var rows []string
	of := tui.ConnectionFacts(f, p.snap, a)
	for i := 0; i+1 < len(of); i += 2 {
		rows = append(rows, factRows(f.Theme, of[i], sanitize.Line(of[i+1]), w)...)
	}
	return rows
}

// besidePane draws what else there is to a session: its connection to the deck, and what it
// called there last, the newest below.
func (p *Page) besidePane(f *tui.Frame, w, h int) []string {
	th, s := f.Theme, p.selected()
	rows := []string{widget.PaneRule(f.Theme, "Connection to the deck", "", false, w)}
	if s == nil {
		return widget.Rows(rows, w, h)
	}
	a := p.connection(s)
	if a == nil {
		text := "This session is not connected to the deck. To let it use what the deck offers: mcpdeck setup " + sanitize.Line(s.Agent)
		rows = append(rows, widget.Paragraph(th.Faint, " ", text, w-2)...)
		return widget.Rows(rows, w, h)
	}
	for _, l := range p.connectionFacts(f, a, w-2) {
		rows = append(rows, " "+l)
	}
	rows = append(rows, "", widget.PaneRule(f.Theme, "Calls", "", false, w))
	var calls []string
	for i := len(p.snap.Calls) - 1; i >= 0 && len(calls) < h-len(rows); i-- {
		if c := p.snap.Calls[i]; c.Agent == a.Agent {
			c.AgentName = "" // which all of them have
			calls = append(calls, " "+tui.CallRow(f, &c, w-1))
		}
	}
	for i := len(calls) - 1; i >= 0; i-- {
		rows = append(rows, calls[i])
	}
	if len(calls) == 0 {
		rows = append(rows, " "+th.Faint.Render("no calls yet"))
	}
	return widget.Rows(rows, w, h)
}
