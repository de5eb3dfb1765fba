package inbox

import (
	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
)

// Command runs the user's notifier for one request.
func Command(n Notify, r questions.Request) tea.Cmd {
	items := []questions.Item{{Request: r}}
	return n.command(announce(items, nil, n.Private), about(items, n.Private))
}
