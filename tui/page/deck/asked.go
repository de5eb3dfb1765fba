package deck

import (
	"slices"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
)

// handedOver are the questions that wait without a call.
func (p *Page) handedOver() []ask.Item { return tui.HandedOver(p.opts.Questions) }

// before is the last call of an agent's client in earlier runs of the deck, nil
// where none is known. The call log knows clients alone: with two agents of one, a
// call could be either's.
func (p *Page) before(a *snapshot.Agent) *snapshot.Call {
	for i := range p.snap.Agents {
		if o := &p.snap.Agents[i]; o.Agent != a.Agent && o.Name() == a.Name() {
			return nil
		}
	}
	for i := range slices.Backward(p.earlier) {
		if c := &p.earlier[i]; c.AgentName == a.Name() {
			return c
		}
	}
	return nil
}
