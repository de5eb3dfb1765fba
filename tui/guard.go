package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// part is a page or an overlay.
type part interface {
	ID() string
	Update(msg tea.Msg) tea.Cmd
}

// tell gives a message to a page or an overlay. One that panics says so, and the
// others go on.
func (m *Model) tell(p part, msg tea.Msg) tea.Cmd {
	return m.try(p.ID(), func() tea.Cmd { return p.Update(msg) })
}

// try runs what a page or an overlay wants done.
func (m *Model) try(name string, run func() tea.Cmd) (cmd tea.Cmd) {
	err := recovery.Call(name, func() error {
		cmd = run()
		return nil
	})
	if err != nil {
		m.toasts.add(Bad, broken(err))
	}
	return cmd
}

func broken(err error) string { return err.Error() + "; see the log" }

// guard makes a panic in a command a toast instead of the end of the program.
func guard(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		err := recovery.Call("screen", func() error {
			msg = cmd()
			return nil
		})
		if err != nil {
			return toastMsg{kind: Bad, text: broken(err)}
		}
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = guard(batch[i])
			}
		}
		return msg
	}
}
