package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Settings are the options that can change while the screen is up.
type Settings struct {
	Theme      theme.Options
	Background string
	Keys       map[string][]string
	KeysFile   string
	KeyLines   map[string]int
	NoMouse    bool
	Warnings   []string // what was wrong with them, for the user
	Broken     string   // why their file cannot be read; it stays on the screen until it can
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
	if s.Broken == "" { // else it stands below
		for _, w := range s.Warnings {
			m.toasts.add(Warn, w)
		}
	}
	m.broken = plain.Line(s.Broken)
	cmds := []tea.Cmd{m.retheme(), m.awaitSettings, m.sized()}
	if m.asksTheme() {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	return tea.Batch(cmds...)
}

// brokenRows say why the settings cannot be read, in as few rows as a small
// screen can spare.
func (m *Model) brokenRows() []string {
	if m.broken == "" {
		return nil
	}
	most := 2
	if m.h < 18 {
		most = 1
	}
	lines := widget.Wrap("! "+m.broken, max(m.w-2, 1))
	if len(lines) > most {
		lines = append(lines[:most-1:most-1], widget.Cut(strings.Join(lines[most-1:], " "), m.w-2))
	}
	for i, l := range lines {
		lines[i] = m.theme.Warn.Render(widget.Fit(" "+l, m.w))
	}
	return lines
}
