package tui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
)

func (m *Model) blindKey(names []string) tea.Cmd {
	if !slices.Contains(names, "ctrl+c") {
		return nil
	}
	if m.leaving() {
		return m.leave()
	}
	return m.quit()
}

// uncover reports whether a toast lies over what a key would decide. Such a key
// takes the toasts away instead, once there was time to see them.
func (t *toasts) uncover(now time.Time) bool {
	if !t.hiding {
		return false
	}
	if t.clear(now) {
		t.hiding = false
	}
	return true
}

// chosen does an action that was chosen from a menu, on its page. One that must be seen to
// be done is not: the user is told its key.
func (m *Model) chosen(a *Action, menu string) tea.Cmd {
	m.close(menu)
	show := m.show(m.index(a.page))
	switch {
	case !a.Sight:
		return tea.Batch(show, m.run(a))
	case len(a.Keys) == 0:
		return tea.Batch(show, Toast(Info, "go to its page to: "+a.Title))
	}
	return tea.Batch(show, Toast(Info, "press "+KeyLabel(a.Keys[0], m.theme.Glyph.ASCII)+" to: "+a.Title))
}
