package ask

import (
	"errors"
	"reflect"
	"time"
)

// Afar is the user in a deck of another machine.
type Afar struct {
	Queue *Queue
	Deck  string
}

// Draft shows here what the user has entered there for a request, unless something is entered here.
func (e Afar) Draft(id int, d Draft) {
	e.Queue.mu.Lock()
	defer e.Queue.mu.Unlock()
	lend(e.Queue, id, d, "in the deck "+e.Deck)
}

// Draft shows what was entered for the request on the machine that asks, unless something is entered here.
func (c *Call) Draft(d Draft, machine string) {
	c.q.mu.Lock()
	defer c.q.mu.Unlock()
	lend(c.q, c.id, d, "on "+machine)
}

// Entered returns what the user has entered here for the request, which may be nothing again. It returns false if it
// shows what was entered elsewhere, or is answered.
func (c *Call) Entered() (Draft, bool) {
	c.q.mu.Lock()
	defer c.q.mu.Unlock()
	it := c.q.find(c.id)
	if it == nil || it.state == Sending || it.lentBy != "" {
		return Draft{}, false
	}
	return it.draft.Travels(), true
}

// lend replaces the draft of a request by one from elsewhere. It never touches what was entered here, nor a field
// that is open, and takes back only what came from the same place.
func lend(q *Queue, id int, d Draft, by string) {
	it := q.find(id)
	if it == nil || it.state == Sending || it.draft.Field != NoField || it.typed() {
		return
	}
	own, d := it.draft, d.fit(it.req.Questions).Travels()
	if it.req.permission() != nil { // whose options are decisions: only a note is text
		for i := range d.Answers {
			d.Answers[i] = AnswerDraft{Notes: d.Answers[i].Notes}
		}
	}
	switch {
	case !d.Empty():
	case it.lentBy != by:
		return
	default:
		by = ""
	}
	it.draft, it.lentBy, it.changed = d.At(own), by, true // the cursor does not move under the user's fingers
	it.lastKey = time.Now()
	q.changed(true)
}

// set replaces the draft by that of the screen here. It is the user's own once anything but the cursor differs.
func (it *item) set(d Draft) {
	if it.lentBy != "" && !reflect.DeepEqual(d.entered(), it.draft.entered()) {
		it.lentBy = ""
	}
	it.draft, it.changed = d, false
}

// typed reports whether something was entered here.
func (it *item) typed() bool { return it.lentBy == "" && !it.draft.Empty() }

// errChanged is of a request whose draft has come since the screen gave it.
var errChanged = errors.New("this was just changed on another machine; look at it, then send again")
