package ask

import (
	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
)

// Command runs the user's notifier for one request.
func Command(n Notify, r questions.Request) tea.Cmd {
	return command(n, []questions.Item{{Request: r}})
}
