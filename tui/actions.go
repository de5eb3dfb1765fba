package tui

import (
	"strconv"

	tea "charm.land/bubbletea/v2"
)

func itoa(n int) string { return strconv.Itoa(n) }

// actions is the root's part of the table: what can be done everywhere.
func (m *Model) actions() []Action {
	out := []Action{
		{
			ID: "help", Title: "Help: keys on this page", Hint: "help", Keys: []string{"?", "f1"},
			Run: func() tea.Cmd { m.open(m.newHelp()); return nil },
		},
		{
			ID: "palette", Title: "Command palette: every action", Hint: "commands", Keys: []string{"ctrl+p"}, InText: true,
			Run: func() tea.Cmd { m.open(m.newPalette()); return nil },
		},
		{
			ID: "keys", Title: "All keys in the footer, or a few", Keys: []string{"ctrl+g"}, InText: true,
			Run: func() tea.Cmd { m.allKeys = !m.allKeys; return m.sized() },
		},
	}
	for i, p := range m.pages {
		n := itoa(i + 1)
		out = append(out, Action{
			ID: "go." + p.ID(), Title: "Go to " + p.Title(), Keys: []string{n, "alt+" + n}, InText: true,
			Run: func() tea.Cmd { return m.show(i) },
		})
	}
	return append(out,
		Action{
			ID: "home", Title: "Back to the first page", Keys: []string{"esc"}, Hidden: true,
			Run: func() tea.Cmd { return m.show(0) },
		},
		Action{
			ID: "back", Title: "Previous page", Keys: []string{"backspace"}, Hidden: true,
			Run: func() tea.Cmd { return m.show(m.back) },
		},
		Action{
			ID: "mouse", Title: "Turn the mouse on or off (off lets the terminal select text)", Keys: []string{"ctrl+t"},
			Run: func() tea.Cmd {
				m.opts.NoMouse = !m.opts.NoMouse
				if m.opts.NoMouse {
					return Toast(Info, "mouse off: the terminal selects text again")
				}
				return Toast(Info, "mouse on")
			},
		},
		Action{
			ID: "theme", Title: "Light or dark", Keys: nil,
			Run: func() tea.Cmd {
				m.opts.Theme.Dark = !m.opts.Theme.Dark
				m.opts.Background = "light"
				if m.opts.Theme.Dark {
					m.opts.Background = "dark"
				}
				return m.retheme()
			},
		},
		Action{
			ID: "suspend", Title: "Suspend to the shell; agents wait until you run fg", Keys: []string{"ctrl+z"}, InText: true, Hidden: true,
			Run: func() tea.Cmd { return suspend },
		},
		Action{
			ID: "redraw", Title: "Redraw the screen", Keys: []string{"ctrl+l"}, InText: true, Hidden: true,
			Run: func() tea.Cmd {
				m.pictures.gallery.Forget()
				return tea.ClearScreen
			},
		},
		Action{
			ID: "quit", Title: "Quit", Hint: "quit", Keys: []string{"q", "ctrl+c"}, InText: true,
			Run: func() tea.Cmd { return m.quit() },
		},
	)
}
