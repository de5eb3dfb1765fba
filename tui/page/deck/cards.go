package deck

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/tui"
)

// toggleAction turns the server under the cursor on or off.
func (p *Page) toggleAction() tui.Action {
	return tui.Action{
		ID: "deck.toggle", Title: "Turn the server on or off", Hint: "turn on", Keys: []string{"space"}, Part: partServers, Acts: true,
		Enabled: p.whyNoToggle, HintNow: func() string {
			if s := p.server(); s != nil && isOn(s) {
				return "turn off"
			}
			return ""
		},
		Run: func() tea.Cmd { return p.toggle(p.server().Name) },
	}
}

// isOn tells whether a server is on, or is being turned on.
func isOn(s *deck.Server) bool {
	return s.State.Status != deck.Off && s.State.Status != deck.Failed
}

func (p *Page) whyNoToggle() string {
	s := p.server()
	switch {
	case s == nil:
		return "there is no server"
	case p.opts.Cards == nil:
		return "the servers run elsewhere"
	}
	return ""
}

// Commands implements [tui.Commander]: each server by its name. One with a page of its
// own has its command there.
func (p *Page) Commands() []tui.Action {
	var out []tui.Action
	for i := range p.snap.Servers {
		s := &p.snap.Servers[i]
		if p.opts.Cards == nil || p.opts.Tells[s.Name] != "" {
			continue
		}
		to := " on"
		if isOn(s) {
			to = " off"
		}
		name := s.Name
		out = append(out, tui.Action{ID: "deck.toggle." + name, Title: "Turn " + plain.Line(s.Title) + to, Acts: true, Run: func() tea.Cmd { return p.toggle(name) }})
	}
	return out
}

func (p *Page) toggle(name string) tea.Cmd {
	cards := p.opts.Cards
	return func() tea.Msg {
		said, err := cards.Toggle(name)
		switch {
		case err != nil:
			return tui.Toast(tui.Bad, err.Error())()
		case said != "":
			return tui.Toast(tui.Good, said)()
		}
		return nil
	}
}
