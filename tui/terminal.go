package tui

import (
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/theme"
)

// asksTheme reports whether the terminal says if it is light or dark.
func (o *Options) asksTheme() bool {
	return o.Background != "dark" && o.Background != "light"
}

// terminal handles what the terminal says about itself.
func (m *Model) terminal(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case tea.FocusMsg:
		m.focused = true
		m.pictures.seenAgain()
		cmd := m.broadcast(FocusMsg{Focused: true})
		if m.opts.asksTheme() { // it may have changed while the user was away
			cmd = tea.Batch(cmd, tea.RequestBackgroundColor)
		}
		return cmd, true
	case uv.DarkColorSchemeEvent, uv.LightColorSchemeEvent:
		if m.opts.asksTheme() {
			return tea.RequestBackgroundColor, true
		}
		return nil, true
	case tea.BlurMsg:
		m.focused = false
		return m.broadcast(FocusMsg{}), true
	case tea.BackgroundColorMsg:
		if !m.opts.asksTheme() || m.opts.Theme.Dark == msg.IsDark() {
			return nil, true
		}
		m.opts.Theme.Dark = msg.IsDark()
		return m.retheme(), true
	case tea.ModeReportMsg:
		if msg.Mode != ansi.ModeUnicodeCore {
			return nil, false
		}
		switch msg.Value { // those at which the renderer changes over, too
		case ansi.ModeReset, ansi.ModeSet, ansi.ModePermanentlySet:
			m.clusters = true
		default:
		}
		return nil, true
	case tea.ColorProfileMsg:
		m.opts.Theme.Depth = depth(msg.Profile)
		return m.retheme(), true
	}
	return nil, false
}

func depth(p colorprofile.Profile) theme.Depth {
	switch {
	case p <= colorprofile.ASCII:
		return theme.NoColor
	case p == colorprofile.ANSI:
		return theme.Basic
	}
	return theme.Full
}

func (m *Model) retheme() tea.Cmd {
	m.theme = theme.New(m.opts.Theme)
	return m.broadcast(ThemeMsg{Theme: m.theme})
}
