package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/process"
)

// Edit opens a file in the user's editor, which has the terminal until it ends.
func Edit(editor process.Command, file string) tea.Cmd {
	return tea.Exec(&process.Foreground{Command: editor.With(file)}, func(err error) tea.Msg {
		if err != nil {
			return Toast(Bad, "the editor ended with an error: "+err.Error())()
		}
		return nil
	})
}
