package approvals

import (
	"context"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
)

// Standing is what became of a prompt, apart from what the user did in the deck.
type Standing int

// A prompt is Open until something shows what became of it, also after the user has
// answered it. It is Taken once its agent has the user's answer, answered Elsewhere by the
// agent's own record, Gone when nobody asks any more, and Left when nothing is heard of its
// agent, which may ask the same again.
const (
	Open Standing = iota
	Taken
	Elsewhere
	Gone
	Left
)

// Fate is what an adapter sees of a prompt.
type Fate struct {
	Is    Standing
	How   string        // it was answered elsewhere, or why nobody asks any more
	Last  bool          // nothing more will be known
	Again time.Duration // after which to look again; 0: not before [Item.Poke]
}

// Door is what an item needs of its adapter. Its methods are called one at a time.
type Door interface {
	// Look returns what is seen of the prompt. It is called at the start, after each poke,
	// and when it wants to be.
	Look() Fate
	// Answer sends the user's reply to the agent, and reports whether it could be.
	Answer(ask.Reply) bool
}

// Holder is a door whose agent's terminal may show nothing while the prompt waits here.
type Holder interface {
	Door
	// LetGo has the terminal show a held prompt.
	LetGo()
	// Over is called once the prompt no longer waits for the user.
	Over()
	// Gone returns a channel that is closed when the agent's program has hung up.
	Gone() <-chan struct{}
}

// Item is one prompt: it waits in the queue for the user, its answer goes to the agent, and
// it is followed until it is known what became of it.
type Item struct {
	Request ask.Request

	door  Door
	queue Queue
	rules RuleSource

	call     *ask.Call
	poke     chan struct{}
	answered bool
}

// NewItem returns an item that is not in the queue yet. Rules say how long it is held.
func NewItem(r ask.Request, rules RuleSource) *Item {
	return &Item{Request: r, rules: rules, poke: make(chan struct{}, 1)}
}

// Open puts the prompt into a queue. The error says why it stays in its terminal.
func (it *Item) Open(q Queue, d Door) (err error) {
	it.door, it.queue = d, q
	it.call, err = q.Open(it.Request)
	return err
}

// Call returns the prompt's place in the queue, nil before [Item.Open].
func (it *Item) Call() *ask.Call { return it.call }

// Poke has Follow look: something may be seen of the prompt.
func (it *Item) Poke() { notify.Poke(it.poke) }

// Follow works until nothing more will be known of the prompt, or ctx ends, after which it
// looks once more.
func (it *Item) Follow(ctx context.Context) {
	done := it.call.Done()
	gone, released, hold := it.held()
	var last Fate
	for {
		now := it.door.Look()
		if now.Is != last.Is || now.How != last.How {
			it.tell(now)
		}
		if last = now; now.Last {
			it.over(&done)
			return
		}
		var again <-chan time.Time
		if now.Again > 0 {
			again = time.After(now.Again)
		}
		select {
		case <-done:
			reply, err := it.call.Reply()
			if err == nil && !it.call.Holds() {
				it.call.Gone("it changed before a rule answered: you are asked")
				if call, err := it.queue.Open(it.Request); err == nil {
					it.call, done, last = call, call.Done(), Fate{}
					continue
				}
				err = ask.ErrWithdrawn // its terminal asks
			}
			if err == nil {
				it.answered = true
				became := ask.NotTaken
				if it.door.Answer(reply) {
					became = ask.Sent
				}
				it.call.Delivered(became)
			}
			it.over(&done)
			released, hold = nil, nil
		case <-released:
			it.door.(Holder).LetGo()
			released, hold = nil, nil
		case <-hold:
			if !it.call.LetGo() { // since the user looks at it
				hold = time.After(max(it.rules.Now().Hold, time.Second))
			}
		case <-gone:
			gone = nil
		case <-it.poke:
		case <-again:
		case <-ctx.Done():
			it.tell(it.door.Look())
			if _, holds := it.door.(Holder); holds {
				it.call.Leave("mcpdeck was closed") // unless it has ended
			}
			it.over(&done)
			return
		}
	}
}

// held returns when the agent's program has hung up and when a held prompt is let go to its
// terminal, by whom and after how long.
func (it *Item) held() (gone, released <-chan struct{}, after <-chan time.Time) {
	h, holds := it.door.(Holder)
	switch {
	case !holds:
		return nil, nil, nil
	case it.Request.Prompt.Door != ask.Held:
		return h.Gone(), nil, nil
	}
	return h.Gone(), it.call.Released(), time.After(max(it.rules.Now().Hold, 0))
}

// tell tells the queue what is seen of the prompt.
func (it *Item) tell(f Fate) {
	switch {
	case f.Is == Taken:
		it.call.Delivered(ask.Delivered)
	case f.Is == Elsewhere:
		it.call.Settled(f.How)
	case f.Is == Left && !it.answered:
		it.call.Leave(f.How)
	case f.Is != Open:
		it.call.Gone(f.How)
	}
}

func (it *Item) over(done *<-chan struct{}) {
	if h, holds := it.door.(Holder); holds && *done != nil {
		h.Over()
	}
	*done = nil
}
