package agents

import (
	"cmp"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
)

// The states of sessions, as they are sorted and counted.
const (
	waits = iota
	done
	works
	idle
	unseen
	ended
	states
)

func state(s *snapshot.Session) int {
	switch {
	case s.State.Waits():
		return waits
	case s.State == snapshot.Working, s.State == snapshot.Background:
		return works
	case s.State == snapshot.Idle && s.Unread:
		return done
	case s.State == snapshot.Idle:
		return idle
	case s.State == snapshot.Ended:
		return ended
	}
	return unseen
}

// sorts are the ways to sort the sessions.
func sorts() []tui.Sorting[row] {
	full := func(r row) float64 { return float64(r.Context.Used) / float64(max(r.Context.Window, 1)) }
	return []tui.Sorting[row]{
		{Means: "need: what needs you first", Down: true},
		{Column: "agent", Means: "agent", Compare: func(a, b row) int { return cmp.Compare(a.Agent, b.Agent) }},
		{Column: "project", Means: "project", Compare: func(a, b row) int { return cmp.Compare(folder(a), folder(b)) }},
		{Column: "tokens", Means: "tokens", Compare: func(a, b row) int { return cmp.Compare(tui.AllTokens(b.Session), tui.AllTokens(a.Session)) }, Down: true},
		{Column: "cost", Means: "cost", Compare: func(a, b row) int { return cmp.Compare(b.Cost.USD, a.Cost.USD) }, Down: true},
		{Column: "context", Means: "how full the context is", Compare: func(a, b row) int { return cmp.Compare(full(b), full(a)) }, Down: true},
	}
}

// folder is the name of the folder in which a session works.
func folder(r row) string {
	if r.Folder == "" {
		return ""
	}
	return filepath.Base(r.Folder)
}

// sortBy sorts the sessions by a column, the second time the other way around.
func (p *Page) sortBy(column string) tea.Cmd {
	p.Order.Sort(column)
	p.arrange()
	return nil
}
