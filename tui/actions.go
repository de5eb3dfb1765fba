package tui

import (
	"fmt"
	"strconv"

	tea "charm.land/bubbletea/v2"
)

func itoa(n int) string { return strconv.Itoa(n) }

// actions is the root's part of the table: what can be done everywhere.
func (m *Model) actions() []Action {
	out := []Action{
		{
			ID: "help", Title: "Help: keys on this page", Hint: "help", Keys: []string{"?", "f1"},
			Run: func() tea.Cmd { m.open(newHelp(&m.stage, m.chosen, m.opts.Watch)); return nil },
		},
		{
			ID: "palette", Title: "Command palette: every action", Hint: "commands", Keys: []string{"ctrl+p"}, InText: true,
			Run: func() tea.Cmd { m.open(newPalette(&m.stage, m.chosen, m.opts.Watch)); return nil },
		},
		{
			ID: "keys", Title: "All keys in the footer, or a few", Keys: []string{"ctrl+g"}, InText: true,
			Run: func() tea.Cmd {
				if m.allKeys = !m.allKeys; m.allKeys && m.footerRows() == 1 {
					m.toasts.add(Info, fmt.Sprintf("all keys need a window of %d rows; ? lists them here", 2*LeastH))
				}
				return m.sized()
			},
		},
	}
	for i, p := range m.pages {
		n := itoa(i + 1)
		out = append(out, Action{
			ID: "go." + p.ID(), Title: "Go to " + p.Title(), Keys: []string{n, "alt+" + n}, InText: true,
			Run: func() tea.Cmd { return m.show(i) },
		})
	}
	out = append(out, m.opts.demoActions()...)
	return append(out,
		Action{
			ID: "home", Title: "Back to the first page", Keys: []string{"esc"}, Hidden: true,
			Run: func() tea.Cmd { return m.show(0) },
		},
		Action{
			ID: "back", Title: "Previous page", Keys: []string{"backspace"}, Hidden: true,
			Run: func() tea.Cmd { return m.show(m.back) },
		},
		m.failures.seenAction(),
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
			ID: "theme", Title: "Theme: pick the colours", Keys: nil,
			Enabled: func() string { return Because(len(m.opts.Themes) == 0, "there is only one") },
			Run:     func() tea.Cmd { m.open(newPicker(&m.opts, m.applyTheme)); return nil },
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

// demoActions are what goes on with the demo that is being played, or begins one.
func (o *Options) demoActions() []Action {
	if g := o.Guide; g != nil {
		return []Action{{
			ID: "guide", Title: "Go on with the demo", Hint: "next", Keys: []string{"ctrl+n"}, InText: true,
			Run: func() tea.Cmd { g.Next(); return nil },
		}}
	}
	play := o.Demo
	if play == nil {
		return nil
	}
	return []Action{{
		ID: "demo", Title: "Play the demo with stand-in agents, and come back", Keys: []string{"ctrl+n"},
		Run: func() tea.Cmd {
			return tea.Exec(play(), func(err error) tea.Msg {
				if err != nil {
					return Toast(Bad, "the demo ended with "+err.Error())()
				}
				return nil
			})
		},
	}}
}
