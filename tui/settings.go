package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/theme"
)

// Settings are the options that can change while the screen is up.
type Settings struct {
	Theme      theme.Options
	Background string
	Keys       map[string][]string
	KeysFile   string
	KeyLines   map[string]int
	NoMouse    bool
}

type settingsMsg Settings

// awaitSettings waits for changed settings.
func (m *Model) awaitSettings() tea.Msg {
	select {
	case s, ok := <-m.opts.Settings:
		if ok {
			return settingsMsg(s)
		}
	case <-m.pump.stop:
	}
	return nil
}

// set takes other settings. What the terminal has said of itself stays.
func (m *Model) set(s settingsMsg) tea.Cmd {
	s.Theme.Dark, s.Theme.Depth = m.opts.Theme.Dark, m.opts.Theme.Depth
	m.opts.Theme, m.opts.Background, m.opts.NoMouse = s.Theme, s.Background, s.NoMouse
	m.opts.Keys, m.opts.KeysFile, m.opts.KeyLines = s.Keys, s.KeysFile, s.KeyLines
	if !m.asksTheme() {
		m.opts.Theme.Dark = s.Background == "dark"
	}
	m.bind()
	cmds := []tea.Cmd{m.retheme(), m.awaitSettings, m.sized()}
	if m.asksTheme() {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	return tea.Batch(cmds...)
}
