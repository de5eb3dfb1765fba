package deck

import (
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/tui"
)

// handedOver are the questions that still wait although the call that asked them
// has ended: its client would have given up, and the agent comes for the answer.
func (p *Page) handedOver() []ask.Item {
	if p.opts.Questions == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.opts.Questions.Pending().Items), func(it ask.Item) bool {
		return it.Absent != ask.HandedOver || !it.Waits() || it.Request.Peer.Key == ""
	})
}

// left is the question that an agent has left with the user, and nil where it has
// left none.
func (p *Page) left(agent string) *ask.Item {
	waiting := p.handedOver()
	if i := slices.IndexFunc(waiting, func(it ask.Item) bool { return it.Request.Peer.Key == agent }); i >= 0 {
		return &waiting[i]
	}
	return nil
}

// standing is a call as it stands for the user: one that asked and ended in time
// waits for as long as its question does.
func standing(c *deck.Call, left []ask.Item) *deck.Call {
	if c.Server != "ask" || c.Status != deck.OK {
		return c
	}
	asked := tui.Question(c)
	for i := range left {
		r := &left[i].Request
		if asked != "" && r.Peer.Key == c.Agent && asks(r, asked) {
			again := *c
			again.Status, again.Waiting = deck.Running, true
			return &again
		}
	}
	return c
}

// before is the last call of an agent's client in earlier runs of the deck, nil
// where none is known.
func (p *Page) before(a *deck.Agent) *deck.Call {
	for i := range slices.Backward(p.earlier) {
		if c := &p.earlier[i]; c.AgentName == a.Name() {
			return c
		}
	}
	return nil
}

// asks tells whether a request begins with a question that a call's row shows,
// which may be cut, or followed by how many more there are.
func asks(r *ask.Request, row string) bool {
	whole := plain.Line(r.Questions[0].Question)
	return strings.HasPrefix(whole, row) || strings.HasPrefix(row, whole)
}

// words of the question that an agent has left with the user.
func words(it *ask.Item) string { return plain.Line(it.Request.Questions[0].Question) }
