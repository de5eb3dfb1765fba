package inbox

import (
	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/tui"
)

// BeforeQuit asks what becomes of requests that wait.
func (p *Page) BeforeQuit() tui.Overlay {
	n := 0
	for _, it := range p.snap.Items {
		if needsDeck(it) {
			n++
		}
	}
	if n == 0 || p.opt.Watch {
		return nil
	}
	text := humanize.Count(n, "question") + " waiting. Questions and drafts are kept; agents can pick them up when you reopen mcpdeck."
	return tui.ConfirmQuit(text,
		tui.Choice{Key: "k", Text: "Quit and keep the questions", Run: tui.Quit},
		tui.Choice{Key: "d", Text: "Decline all and quit", Run: func() tea.Cmd { declineAll(p.queue); return tui.Quit() }},
		tui.Choice{Key: "s", Text: "Stay"})
}

// needsDeck reports whether a request can only be answered in a deck: an agent's own
// prompt goes on in its terminal.
func needsDeck(it questions.Item) bool { return it.Waits() && it.Request.Prompt == nil }

func declineAll(q *questions.Queue) {
	for _, it := range q.Pending().Items {
		if needsDeck(it) {
			_ = q.Decline(it.ID, "the deck was closed") // gone meanwhile: nothing to decline
		}
	}
}
