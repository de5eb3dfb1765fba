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
		name, title := s.Name, plain.Line(s.Title)
		out = append(out, tui.Action{ID: "deck.toggle." + name, Title: "Turn " + title + to, Acts: true, Run: func() tea.Cmd { return p.toggle(name) }})
		lazy := !s.Lazy || !isOn(s)
		words := "List " + title + "'s tools"
		if lazy {
			words = "Make " + title + " lazy: agents find its tools"
		}
		out = append(out, tui.Action{ID: "deck.lazy." + name, Title: words, Acts: true, Run: func() tea.Cmd {
			return p.ask(func(c Cards) (string, error) { return c.Lazy(name, lazy) })
		}})
	}
	return out
}

func (p *Page) toggle(name string) tea.Cmd {
	return p.ask(func(c Cards) (string, error) { return c.Toggle(name) })
}

// ask has the switch do something, and says what came of it.
func (p *Page) ask(what func(Cards) (string, error)) tea.Cmd {
	cards := p.opts.Cards
	return tui.Outcome(func() (string, error) { return what(cards) })
}

func (p *Page) whyNoCard() string {
	switch {
	case p.server() == nil:
		return "there is no server"
	case p.opts.CardsPage == "":
		return "this deck has no Cards page"
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
