package tui

import tea "charm.land/bubbletea/v2"

// quit asks those who want a word, then ends.
func (m *Model) quit() tea.Cmd {
	if m.opts.Guide != nil { // nothing of this is kept
		return m.leave()
	}
	for _, p := range m.pages {
		if q, ok := p.(Quitter); ok {
			if o := q.BeforeQuit(); o != nil {
				m.open(o)
				return nil
			}
		}
	}
	n := 0
	if m.snap != nil {
		for _, a := range m.snap.Agents {
			if a.Gone.IsZero() {
				n++
			}
		}
	}
	if n == 0 {
		return m.leave()
	}
	m.open(confirmQuit(n))
	return nil
}

const quitID = "quit"

// ConfirmQuit asks whether to quit, once it was said what becomes of what is open.
func ConfirmQuit(text string, choices ...Choice) Overlay {
	return &Confirm{Name: quitID, Title: "Quit mcpdeck?", Text: text, Choices: choices}
}

// confirmQuit asks before n agents lose the deck.
func confirmQuit(n int) Overlay {
	text := itoa(n) + " agents are connected. They keep working and reconnect when you reopen mcpdeck."
	if n == 1 {
		text = "1 agent is connected. It keeps working and reconnects when you reopen mcpdeck."
	}
	return ConfirmQuit(text, Choice{Key: "y", Text: "Quit", Run: Quit}, Choice{Key: "n", Text: "Stay"})
}

// leave ends the program: the terminal's memory of pictures first, while their
// screen is up.
func (m *Model) leave() tea.Cmd { return tea.Sequence(m.saved.keep(m.keeps()), m.pictures.end()) }
