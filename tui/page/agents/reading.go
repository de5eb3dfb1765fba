package agents

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/tui/browser"
)

// reading is whether the user sees the session that is selected.
type reading struct {
	shown, focused, covered bool
	of                      readMsg
}

// readMsg says that a session has been selected for as long as it takes to read it.
type readMsg struct{ agent, id string }

// readAfter is how long a session must be selected for that.
const readAfter = time.Second

// read begins to wait until the session that is selected has been read. One that came under the
// cursor by itself has not been looked at: of several that end, each comes there in its turn.
func (p *Page) read() tea.Cmd {
	s, r := p.selected(), &p.reading
	if s == nil || state(s) != done || !p.moved || !r.shown || !r.focused {
		r.of = readMsg{}
		return nil
	}
	of := readMsg{s.Agent, s.ID}
	if r.of == of {
		return nil
	}
	r.of = of
	return tea.Tick(readAfter, func(time.Time) tea.Msg { return of })
}

// hasRead marks a session as read if it has stayed selected.
func (p *Page) hasRead(m readMsg) tea.Cmd {
	switch r := &p.reading; {
	case r.of != m:
		return nil
	case r.covered: // it may be seen later
		r.of = readMsg{}
		return p.read()
	}
	return p.mark()
}

// mark marks the session that is selected as read.
func (p *Page) mark() tea.Cmd {
	s, sessions := p.selected(), p.opts.Sessions
	if s == nil || !s.Unread || sessions == nil {
		return nil
	}
	agent, id := s.Agent, s.ID
	return func() tea.Msg { sessions.MarkRead(agent, id); return nil }
}

// open shows all of the session that is selected.
func (p *Page) open() tea.Cmd {
	p.Go(browser.PartDetail)()
	return p.mark()
}
