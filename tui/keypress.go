package tui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// anyKey tells Keyed pages that a key was pressed.
func (m *Model) anyKey() tea.Cmd {
	var cmds []tea.Cmd
	for _, p := range m.pages {
		if k, ok := p.(Keyed); ok {
			cmds = append(cmds, k.AnyKey())
		}
	}
	return tea.Batch(cmds...)
}

// pressKey takes a key that is pressed, or held down. One that is only held does nothing but
// to move, to scroll and to type.
func (m *Model) pressKey(k tea.KeyPressMsg) tea.Cmd {
	held := m.presses.come(k.Key())
	cmd := m.key(k, held)
	return tea.Batch(cmd, m.presses.step(1))
}

// let takes a key that is let go.
func (m *Model) let(k tea.Key) tea.Cmd {
	if !m.presses.release(k) {
		m.unchanged()
		return nil
	}
	return m.broadcast(RestMsg{})
}

// rest takes the end of a step in which no key was pressed.
func (m *Model) rest(msg restMsg) tea.Cmd {
	rest, next := m.presses.rested(msg, time.Now())
	if !rest {
		m.unchanged()
		return next
	}
	return m.broadcast(RestMsg{})
}

// key gives a key to the topmost overlay, else to the page: first to their
// actions, then to the root's, then to Update.
func (m *Model) key(k tea.KeyPressMsg, held bool) tea.Cmd {
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
			return m.pressed(k, a, held)
		}
		if slices.Contains(names, "ctrl+c") {
			if o.overlay.ID() == quitID {
				return m.leave()
			}
			m.close(o.overlay.ID())
			return nil
		}
		return m.typed(k, o.overlay, o.overlay.TextEntry(), held)
	}
	p := m.page()
	if p == nil {
		return tea.Quit
	}
	text := p.TextEntry() && !m.undrawn
	if a := lookup(names, m.tables[m.at], p.Part(), text); a != nil && !m.undrawn {
		return m.pressed(k, a, held)
	}
	if a := lookup(names, m.global, "", text); a != nil {
		return m.pressed(k, a, held)
	}
	if m.undrawn {
		return nil
	}
	return m.typed(k, p, text, held)
}

// pressed does the action of a key, or says why the key does not count.
func (m *Model) pressed(k tea.KeyPressMsg, a *Action, held bool) tea.Cmd {
	now, name := time.Now(), KeyLabel(keyNames(k)[0], m.theme.Glyph.ASCII)
	switch {
	case a.Moves, m.guiding:
		return m.run(a)
	case held:
		m.presses.ignore(k.Key(), now, m.presses.held(name))
		return nil
	}
	if a.Sight || a.Acts && m.sight.asked.ID != "" { // a key to decide something
		why := ""
		switch {
		case !m.sight.ready:
			why = arrived
		case !m.presses.quiet(now):
			why = "a key was still held"
		}
		if why != "" {
			m.presses.ignore(k.Key(), now, why)
			return nil
		}
	}
	if !a.steps(k) {
		m.presses.spend(k.Key())
	}
	return m.run(a)
}

// arrived says why a key does nothing yet.
const arrived = "just arrived: keys count after a moment to read it"

// steps reports whether a key only goes a step: back, or to what stands beside. That gives
// nothing, and may be done several times.
func (a *Action) steps(k tea.KeyPressMsg) bool {
	if a.Acts || a.Sight {
		return false
	}
	switch k.Code {
	case tea.KeyEscape, tea.KeyTab, tea.KeyBackspace, tea.KeyUp, tea.KeyDown, tea.KeyLeft, tea.KeyRight:
		return true
	}
	return k.Keystroke() == "ctrl+c"
}

// typed passes on a key that is no action's. Where text is typed, keys repeat, but for one
// that has brought the field on the screen and is still held.
func (m *Model) typed(k tea.KeyPressMsg, to part, text, held bool) tea.Cmd {
	now := time.Now()
	switch {
	case m.guiding:
	case text && m.sight.early():
		m.presses.ignore(k.Key(), now, arrived)
		return nil
	case !text && held, text && k.IsRepeat && k.Code == m.presses.spent:
		return nil
	case !text:
		m.presses.spend(k.Key())
	}
	return m.tell(to, k)
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
		if said := a.Title + ": " + why; widget.Width(said) <= m.w-6 {
			why = said
		}
		m.toasts.add(Info, why)
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
	if m.blind() || m.top() == nil && m.undrawn || !m.writing() {
		return nil // keys of a text that nobody typed mean nothing
	}
	if m.sight.early() {
		m.toasts.add(Info, arrived)
		return nil
	}
	m.lastKey = time.Now()
	if len(msg.Content) > maxPaste {
		// A copy, so that the rest can go.
		msg.Content = strings.Clone(strings.ToValidUTF8(msg.Content[:maxPaste], ""))
		m.toasts.add(Warn, "your paste was cut to "+humanize.Bytes(maxPaste))
	}
	if o := m.top(); o != nil {
		return m.tell(o.overlay, msg)
	}
	if p := m.page(); p != nil {
		return m.tell(p, msg)
	}
	return nil
}
