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

// sightQuiet is how long what decides something that must be seen waits after what hid
// it was taken away.
const sightQuiet = 400 * time.Millisecond

// uncover tells whether a toast lies over what a key would decide. Such a key
// takes the toasts away instead, once there was time to see them.
func (m *Model) uncover(now time.Time) bool {
	if !m.hiding {
		return false
	}
	if m.toasts.clear(now) {
		m.hiding = false
		m.settled = now.Add(sightQuiet)
	}
	return true
}

// covered closes the overlay from which an action was chosen that must be seen
// to be done, and says by which key it is. Keys pressed in the same breath meant
// the overlay.
func (m *Model) covered(a *Action, overlay string) tea.Cmd {
	m.close(overlay)
	m.settled = time.Now().Add(sightQuiet)
	if len(a.Keys) == 0 {
		return Toast(Info, "go to its page to: "+a.Title)
	}
	return Toast(Info, "press "+KeyLabel(a.Keys[0], m.theme.Glyph.ASCII)+" to: "+a.Title)
}
