package tui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
)

// blind tells whether the screen has no room for a page. Nothing can be done
// then but leave: whoever presses a key cannot see what it would act on.
func (m *Model) blind() bool { return m.w < LeastW || m.h < LeastH }

func (m *Model) blindKey(names []string) tea.Cmd {
	if !slices.Contains(names, "ctrl+c") {
		return nil
	}
	if m.leaving() {
		return m.leave()
	}
	return m.quit()
}

// uncover tells whether a toast lies over what a key would decide. Such a key
// takes the toasts away instead, once there was time to see them.
func (m *Model) uncover(now time.Time) bool {
	if !m.hiding {
		return false
	}
	if m.toasts.clear(now) {
		m.hiding = false
	}
	return true
}

// covered closes the overlay from which an action was chosen that must be seen
// to be done, and says by which key it is.
func (m *Model) covered(a *Action, overlay string) tea.Cmd {
	m.close(overlay)
	if len(a.Keys) == 0 {
		return Toast(Info, "go to its page to: "+a.Title)
	}
	return Toast(Info, "press "+KeyLabel(a.Keys[0], m.theme.Glyph.ASCII)+" to: "+a.Title)
}

// place is the page that is shown, with what lies over it.
func (m *Model) place() string {
	at := ""
	if p := m.page(); p != nil {
		at = p.ID()
	}
	if o := m.top(); o != nil {
		at += " " + o.overlay.ID()
	}
	return at
}
