package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/picture"
)

// Settings are the options that can change while the screen is up.
type Settings struct {
	Theme      theme.Options
	Themes     []theme.Scheme
	Background string
	Keys       map[string][]string
	KeysFile   string
	KeyLines   map[string]int
	NoMouse    bool
	Still      bool
	KeyRest    time.Duration
	Pictures   picture.Mode
	Tell       []tea.Msg // to the pages
	Warn       []string  // sentences to show
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
	m.close(pickerID) // it shows what was
	m.opts.Themes = s.Themes
	m.opts.Theme, m.opts.Background, m.opts.NoMouse, m.opts.Still = s.Theme, s.Background, s.NoMouse, s.Still
	m.presses.rest = s.KeyRest
	m.opts.Keys, m.opts.KeysFile, m.opts.KeyLines = s.Keys, s.KeysFile, s.KeyLines
	if !m.opts.asksTheme() {
		m.opts.Theme.Dark = s.Background == "dark"
	}
	m.opts.pickTheme()
	m.bind()
	for _, text := range s.Warn {
		m.toasts.add(Warn, text)
	}
	cmds := []tea.Cmd{m.retheme(), m.awaitSettings, m.sized()}
	if s.Pictures != m.opts.Pictures { // else what the user has picked on the screen stays
		m.opts.Pictures = s.Pictures
		cmds = append(cmds, SetPictureMode(s.Pictures))
	}
	if m.opts.asksTheme() {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	for _, msg := range s.Tell {
		cmds = append(cmds, m.broadcast(msg))
	}
	return tea.Batch(cmds...)
}
