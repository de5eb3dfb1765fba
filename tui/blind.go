package tui

import (
	"slices"

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
