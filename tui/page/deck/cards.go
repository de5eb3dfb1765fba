package deck

import (
	"errors"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
)

// toggleAction turns the server under the cursor on or off.
func (p *Page) toggleAction() tui.Action {
	return tui.Action{
		ID: "deck.toggle", Title: "Turn the server on or off", Hint: "turn on", Keys: []string{"space"}, Part: partServers, Acts: true,
		Enabled: p.whyNoToggle, HintNow: func() string {
			if s := p.server(); s != nil && s.IsOn() {
				return "turn off"
			}
			return ""
		},
		Run: func() tea.Cmd { return p.toggle(p.server()) },
	}
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
		if s.IsOn() {
			to = " off"
		}
		name, title := s.Name, sanitize.Line(s.Title)
		out = append(out, tui.Action{ID: "deck.toggle." + name, Title: "Turn " + title + to, Acts: true, Run: func() tea.Cmd { return p.toggle(s) }})
		lazy := !s.Lazy || !s.IsOn()
		words := "List " + title + "'s tools"
		if lazy {
			words = "Make " + title + " lazy: agents find its tools"
		}
		out = append(out, tui.Action{ID: "deck.lazy." + name, Title: words, Acts: true, Run: func() tea.Cmd {
			return p.turnOn(name, lazy)
		}})
	}
	return out
}

func (p *Page) toggle(s *snapshot.Server) tea.Cmd {
	if !s.IsOn() {
		return p.turnOn(s.Name, s.Lazy)
	}
	name, cards := s.Name, p.opts.Cards
	return tui.Outcome(func() (string, error) { return cards.TurnOff(name) })
}

// turnOn turns a server on. What the user has to read first is shown on the page of servers.
func (p *Page) turnOn(name string, lazy bool) tea.Cmd {
	cards, page := p.opts.Cards, p.opts.CardsPage
	return func() tea.Msg {
		said, err := cards.TurnOn(name, lazy, "")
		if errors.Is(err, snapshot.ErrNotAgreed) && page != "" {
			return p.show(page, tui.ShowServerMsg{Name: name, TurnOn: true, Lazy: lazy})()
		}
		return tui.Outcome(func() (string, error) { return said, err })()
	}
}

func (p *Page) whyNoCard() string {
	switch {
	case p.server() == nil:
		return "there is no server"
	case p.opts.CardsPage == "":
		return "this deck has no Servers page"
	}
	return ""
}

// openServer shows the card of the server under the cursor.
func (p *Page) openServer() tea.Cmd {
	if p.whyNoCard() != "" {
		return nil
	}
	name := p.server().Name
	return p.show(p.opts.CardsPage, tui.ShowServerMsg{Name: name})
}
