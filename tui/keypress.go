package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// anyKey tells the pages that want to know that the user is there.
func (m *Model) anyKey() tea.Cmd {
	var cmds []tea.Cmd
	for _, p := range m.pages {
		if k, ok := p.(Keyed); ok {
			cmds = append(cmds, k.AnyKey())
		}
	}
	return tea.Batch(cmds...)
}

// key gives a key to the topmost overlay, else to the page: first to their
// actions, then to the root's, then to Update.
func (m *Model) key(k tea.KeyPressMsg) tea.Cmd {
	now := time.Now()
	defer func() { m.lastKey = now }()
	names := keyNames(k)
	if m.blind() {
		return m.blindKey(names)
	}
	if o := m.top(); o != nil {
		if o.undrawn {
			if slices.Contains(names, "ctrl+c") || slices.Contains(names, "esc") {
				m.close(o.overlay.ID())
			}
			return nil
		}
		if a := lookup(names, o.table, "", o.overlay.TextEntry()); a != nil {
			if a.Sight && m.uncover(now) {
				return nil
			}
			return m.run(a)
		}
		if slices.Contains(names, "ctrl+c") {
			if o.overlay.ID() == quitID {
				return m.leave()
			}
			m.close(o.overlay.ID())
			return nil
		}
		return m.tell(o.overlay, k)
	}
	p := m.page()
	if p == nil {
		return tea.Quit
	}
	text := p.TextEntry() && !m.undrawn
	if a := lookup(names, m.tables[m.at], p.Part(), text); a != nil && !m.undrawn {
		if a.Sight && (now.Before(m.settled) || m.uncover(now)) {
			return nil
		}
		return m.run(a)
	}
	if a := lookup(names, m.global, "", text); a != nil {
		return m.run(a)
	}
	if m.undrawn {
		return nil
	}
	return m.tell(p, k)
}

func lookup(names []string, t table, part string, text bool) *Action {
	for _, n := range names {
		if a := t.find(n, part, text); a != nil {
			return a
		}
	}
	return nil
}

// run does an action, or says why it cannot be done.
func (m *Model) run(a *Action) tea.Cmd {
	if why := a.why(m.opts.Watch); why != "" {
		m.toasts.add(Info, a.Title+": "+why)
		return nil
	}
	if a.Run == nil {
		return nil
	}
	return m.try(a.ID, a.Run)
}

// maxPaste is the longest text that is taken at once, in bytes: a text field keeps
// several times as much.
const maxPaste = 1 << 20

func (m *Model) paste(msg tea.PasteMsg) tea.Cmd {
	if m.blind() || m.top() == nil && m.undrawn {
		return nil
	}
	if len(msg.Content) > maxPaste {
		// A copy, so that the rest can go.
		msg.Content = strings.Clone(strings.ToValidUTF8(msg.Content[:maxPaste], ""))
		m.toasts.add(Warn, fmt.Sprintf("your paste was cut to %d MB", maxPaste>>20))
	}
	if o := m.top(); o != nil {
		return m.tell(o.overlay, msg)
	}
	if p := m.page(); p != nil {
		return m.tell(p, msg)
	}
	return nil
}
