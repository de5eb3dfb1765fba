package tui

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/tui/verb"
)

func itoa(n int) string { return strconv.Itoa(n) }

// actions is the root's part of the table: what can be done everywhere.
func (m *Model) actions() []Action {
	out := []Action{
		{
			ID: "help", Title: "Help: keys on this page", Hint: "help", Verb: verb.Help,
			Run: func() tea.Cmd { m.open(newHelp(&m.stage, m.chosen, m.opts.Watch)); return nil },
		},
		{
			ID: "palette", Title: "Command palette: every action", Verb: verb.Commands, InText: true, HintNow: m.toNewcomer("commands"),
			Run: func() tea.Cmd { m.open(newPalette(&m.stage, m.chosen, m.opts.Watch)); return nil },
		},
	}
	for i, p := range m.pages {
		key := pageKey(p)
		out = append(out, Action{
			ID: "go." + p.ID(), Title: "Go to " + p.Title(), Verb: verb.Go, Keys: []string{key, "alt+" + strings.ToLower(key)}, InText: true,
			Run: func() tea.Cmd { return m.show(i) },
		})
	}
	out = append(out,
		Action{ID: "next", Title: "Next page", Verb: verb.NextPage, Hidden: true, Run: func() tea.Cmd { return m.show(m.beside(1)) }},
		Action{ID: "previous", Title: "Previous page", Verb: verb.PreviousPage, Hidden: true, Run: func() tea.Cmd { return m.show(m.beside(-1)) }},
		Action{
			ID: "digits", Title: "Choose an option of what is shown", Verb: verb.Choose, Hidden: true, Moves: true,
			Run: func() tea.Cmd { m.toasts.add(Info, "Digits choose answers. Pages: "+m.pageKeys()); return nil },
		},
	)
	out = append(out, m.opts.demoActions()...)
	out = append(out,
		Action{
			ID: "home", Title: "Back to the first page", Verb: verb.Back, Hidden: true,
			Run: func() tea.Cmd { return m.show(0) },
		},
		Action{
			ID: "back", Title: "Previous page", Hidden: true,
			Run: func() tea.Cmd { return m.show(m.back) },
		},
		Action{ID: "history", Title: "History of answers", Verb: verb.History, Enabled: func() string { return Because(m.history() < 0, "this deck keeps no answers") }, Run: func() tea.Cmd {
			i := m.history()
			return tea.Batch(m.show(i), m.pages[i].(Historian).History())
		}},
		Action{ID: "notices", Title: "Notices: problems of the deck and failed calls, which then count as seen", Verb: verb.Notices, Run: Do(func() {
			m.open(notices(&m.stage, m.failures))
			m.failures.all()
		})},
		Action{ID: "seen", Title: "Mark all failed calls as seen", Run: Do(m.failures.all)},
		Action{
			ID: "mouse", Title: "Turn the mouse on or off (off lets the terminal select text)", Verb: verb.Mouse,
			Run: func() tea.Cmd {
				m.opts.NoMouse = !m.opts.NoMouse
				if m.opts.NoMouse {
					return Toast(Info, "mouse off: the terminal selects text again")
				}
				return Toast(Info, "mouse on")
			},
		},
		Action{
			ID: "theme", Title: "Theme: pick the colours",
			Enabled: func() string { return Because(len(m.opts.Themes) == 0, "there is only one") },
			Run:     func() tea.Cmd { m.open(newPicker(&m.opts, m.applyTheme)); return nil },
		},
		Action{
			ID: "suspend", Title: "Suspend to the shell; agents wait until you type fg", Verb: verb.Suspend, InText: true, Hidden: true,
			Run: func() tea.Cmd { return suspend },
		},
		Action{
			ID: "redraw", Title: "Redraw the screen", Verb: verb.Redraw, InText: true, Hidden: true,
			Run: func() tea.Cmd {
				m.pictures.gallery.Forget()
				return tea.ClearScreen
			},
		},
		Action{
			ID: "quit", Title: "Quit", Verb: verb.Quit, InText: true, HintNow: m.toNewcomer("quit"),
			Run: func() tea.Cmd { return m.quit() },
		},
	)
	for _, w := range m.opts.Widgets {
		out = append(out, w.Actions()...)
	}
	return out
}

// toNewcomer is a hint that only a new user gets.
func (m *Model) toNewcomer(hint string) func() string {
	return func() string {
		if p, ok := m.page().(Newcomer); ok && p.Newcomer() {
			return hint
		}
		return ""
	}
}

// demoActions are what goes on with the demo that is being played, or begins one.
func (o *Options) demoActions() []Action {
	if g := o.Guide; g != nil {
		return []Action{{
			ID: "guide", Title: "Continue the demo", Hint: "next", Keys: []string{"ctrl+n"}, InText: true,
			Run: func() tea.Cmd { g.Next(); return nil },
		}}
	}
	play := o.Demo
	if play == nil {
		return nil
	}
	return []Action{{
		ID: "demo", Title: "Play the demo with stand-in agents, and come back",
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
