package inbox

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
)

// reading is whether the user sees the session that is selected.
type reading struct {
	focused, covered bool
	of               string // the key of the session whose time runs; "" for none
}

type (
	// readMsg says that a session has been selected for as long as it takes to read it.
	readMsg struct{ of string }
	// lookMsg says that a key has done what it does.
	lookMsg struct{}
)

// readAfter is how long a session must be selected for that.
const readAfter = time.Second

// look marks the session that is selected as read once it has been: it was opened, or has
// stayed selected. s is nil where none is on screen.
func (r *reading) look(msg tea.Msg, s *snapshot.Session, opened bool, opt *Options) tea.Cmd {
	if s == nil || !s.Unread || !r.focused {
		r.of = ""
		return nil
	}
	of, read := sessionKey(s), false
	switch msg := msg.(type) {
	case lookMsg, tui.ClickMsg:
		read = opened && !r.covered
	case readMsg:
		read = msg.of == r.of && !r.covered
		if msg.of == r.of && r.covered {
			r.of = "" // it may be seen later
		}
	}
	switch {
	case read:
		r.of = of
		return opt.hasRead(s)
	case r.of == of:
		return nil
	}
	r.of = of
	return tea.Tick(readAfter, func(time.Time) tea.Msg { return readMsg{of} })
}

// hasRead marks a session as read.
func (o *Options) hasRead(s *snapshot.Session) tea.Cmd {
	if !s.Unread || o.Read == nil {
		return nil
	}
	read, agent, id := o.Read, s.Agent, s.ID
	return func() tea.Msg { read(agent, id); return nil }
}

// replying is the session in a pane that may be sent a prompt; nil: none is there.
func replying(p *pane) *snapshot.Session {
	if p.place != partSession || !p.opened {
		return nil
	}
	return p.session
}
