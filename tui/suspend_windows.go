package tui

import tea "charm.land/bubbletea/v2"

// suspend does nothing: there is no shell to go to.
func suspend() tea.Msg { return tea.Suspend() }
