package tui

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// statusID is the record of the deck among those that programs report to the terminal.
const statusID = "mcpdeck"

// report sends the terminal its status, for its tab and its overview: whether
// something waits for the user (OSC 7501), and that calls run (OSC 9;4).
func (m *Model) report(v *tea.View) {
	waits, kind, title := 0, tea.ProgramStatusKind(""), v.WindowTitle
	for _, p := range m.pages {
		if w, ok := p.(Waiter); ok {
			n, k := w.Waits()
			if waits == 0 {
				kind = k
			}
			waits += n
		}
	}
	s := &tea.ProgramStatus{State: tea.ProgramStateIdle, ID: statusID, App: "mcpdeck"}
	bar := tea.ProgressBarNone
	switch runs := m.runs(); {
	case waits > 0:
		s.State, s.Kind, s.Message = tea.ProgramStateBlocked, kind, title
		bar = tea.ProgressBarWarning
	case runs:
		s.State = tea.ProgramStateWorking
		bar = tea.ProgressBarIndeterminate
	}
	v.ProgramStatus = s
	if bar == tea.ProgressBarNone || !m.bars || bar == tea.ProgressBarIndeterminate && m.opts.Still {
		return
	}
	v.ProgressBar = &tea.ProgressBar{State: bar, Value: 100}
}

// showsBars reports whether a terminal is one of those that show OSC 9;4 as progress:
// others take every OSC 9 for a notification.
func showsBars(environ []string) bool {
	vars := map[string]string{}
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		vars[name] = value
	}
	if vars["TMUX"] != "" || vars["STY"] != "" {
		return false
	}
	vte, _ := strconv.Atoi(vars["VTE_VERSION"])
	switch vars["TERM_PROGRAM"] {
	case "ghostty", "WezTerm":
		return true
	case "iTerm.app":
		return strings.Contains(vars["TERM_FEATURES"], "P")
	}
	return vars["WT_SESSION"] != "" || vars["ConEmuANSI"] == "ON" || vte >= 8000
}
