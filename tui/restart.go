package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// ConfirmRestart asks whether to restart a server, which ends those of the calls that it
// runs.
func ConfirmRestart(s *snapshot.Server, calls []snapshot.Call, restart func() error) tea.Cmd {
	title, text, running := sanitize.Line(s.Title), "Agents keep their connection.", 0
	for i := range calls {
		if calls[i].Server == s.Name && calls[i].Status == snapshot.Running {
			running++
		}
	}
	if running > 0 {
		text = humanize.Count(running, "running call") + " will fail. " + text
	}
	return Open(&Confirm{
		Name: "restart", Title: "Restart " + title + "?", Text: text,
		Choices: []Choice{
			{Key: "y", Text: "Restart", Run: func() tea.Cmd {
				return Outcome(func() (string, error) { return title + " was restarted", restart() })
			}},
			{Key: "n", Text: "Leave it"},
		},
	})
}
