package inbox

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/verb"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// handAction gives a request to another deck, or takes that back or declines it.
func handAction(p *Page, asked func() string) tui.Action {
	movable := func(it questions.Item) bool { return len(it.Decks) > 0 || it.Handed.Own() }
	return tui.Action{
		ID: "inbox.hand", Title: "Hand over to another deck, take that back, or decline it", Hint: "hand over", Verb: verb.Hand, Acts: true,
		Unknown: func() bool { return !slices.ContainsFunc(p.snap.Items, movable) },
		HintNow: func() string {
			switch it, _ := p.current(); {
			case it.Handed.Here():
				return "give back"
			case it.Handed.Own():
				return "take back"
			}
			return ""
		},
		Enabled: func() string {
			it, _ := p.current()
			if why := asked(); why != "" {
				return why
			}
			return tui.Because(!movable(it), "no other deck may answer this")
		},
		Run: func() tea.Cmd { return hand(p) },
	}
}

func hand(p *Page) tea.Cmd {
	it, _ := p.current()
	if it.Handed.Own() {
		handTo(p, it.ID, nil)
		return nil
	}
	c := &tui.Confirm{Name: "hand", Title: "Hand over…", Text: "You can answer it, still."}
	for _, to := range it.Decks {
		c.Choices = append(c.Choices, tui.Choice{Text: sanitize.Line(to), Run: func() tea.Cmd {
			return tui.Open(&tui.Prompt{
				Name: "hand-note", Title: sanitize.Line("Hand over to " + to), Hint: "hand over", Label: "A note, or nothing:", Empty: true, Acts: true, Text: widget.Editor{Most: questions.MostNote},
				Take: func(note string) tea.Cmd {
					handTo(p, it.ID, &questions.Handed{To: to, Note: note})
					return nil
				},
			})
		}})
	}
	if len(c.Choices) == 1 {
		return c.Choices[0].Run()
	}
	return tui.Open(c)
}

func handTo(p *Page, id int, to *questions.Handed) {
	if err := (questions.Afar{Queue: p.queue}).Hand(id, to); err != nil {
		p.message = err.Error()
	}
	p.refresh()
}
