package ask

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// Afar is the user in a deck of another machine.
type Afar struct {
	Queue *Queue
	Deck  string
}

// atFor is how long somebody elsewhere counts as being at a request who says so once.
const atFor = 2 * time.Minute

// Draft shows here what the user has entered there for a request, unless something is entered here, and that the user
// is at it, for [atFor] or until the draft says otherwise. That keeps nobody from answering.
func (e Afar) Draft(id int, d Draft) {
	q, by := e.Queue, "in the deck "+e.Deck
	q.mu.Lock()
	defer q.mu.Unlock()
	it := q.find(id)
	if it == nil {
		return
	}
	lend(q, it, d, by)
	at := map[string]time.Time{}
	maps.Copy(at, it.at)
	if delete(at, by); d.Begun() {
		at[by] = time.Now().Add(atFor)
	}
	setAt(q, it, at)
}

// At takes who is at the request on other machines: "in the deck desk".
func (c *Call) At(all []string) {
	at := map[string]time.Time{}
	for _, by := range all {
		at[by] = time.Time{}
	}
	c.with(func(it *item) { setAt(c.q, it, at) })
}

// Away takes why nobody waits for the answer on the machine that asks, from where the asker is expected back.
func (c *Call) Away(a Absence) {
	if a != HandedOver && a != Restarted {
		a = Present
	}
	c.with(func(it *item) {
		if it.away != a {
			it.away = a
			c.q.changed(false)
		}
	})
}

// setAt replaces who is at a request elsewhere. Who is new there is one more to be told of before an answer is sent.
func setAt(q *Queue, it *item, at map[string]time.Time) {
	was := it.at
	it.at = at
	for by := range at {
		if _, known := was[by]; !known {
			it.anyway = false
		}
	}
	if names := slices.Sorted(maps.Keys(at)); !slices.Equal(names, slices.Sorted(maps.Keys(was))) {
		q.changed(false)
	} else {
		q.wake()
	}
}

// leftAt forgets who has said for too long nothing of being at the request.
func (it *item) leftAt(now time.Time) {
	maps.DeleteFunc(it.at, func(_ string, until time.Time) bool { return !until.IsZero() && !until.After(now) })
}

// elsewhere is where somebody else is at the request, but for who has handed it over.
func (it *item) elsewhere() (all []string) {
	for _, by := range slices.Sorted(maps.Keys(it.at)) {
		if it.handed == nil || it.handed.From == "" || !strings.HasSuffix(by, " "+it.handed.From) {
			all = append(all, by)
		}
	}
	return all
}

// asksFirst returns an error, once, while somebody else is at the request that the user is about to end.
func (it *item) asksFirst() error {
	if len(it.elsewhere()) == 0 || it.anyway {
		return nil
	}
	it.anyway = true
	return errors.New("do this again to answer anyway: it is " + it.answered())
}

// answered says where somebody else is at the request.
func (it *item) answered() string {
	return sanitize.Line(DeckNames("being answered " + strings.Join(it.elsewhere(), " and ")))
}

// Draft shows what was entered for the request on the machine that asks, unless something is entered here.
func (c *Call) Draft(d Draft, machine string) {
	c.with(func(it *item) { lend(c.q, it, d, "on "+machine) })
}

// Entered returns what the user has entered here for the request, which may be nothing again. It returns false if it
// shows what was entered elsewhere, or is answered.
func (c *Call) Entered() (d Draft, own bool) {
	c.with(func(it *item) {
		if own = it.state != Sending && it.lentBy == ""; own {
			d = it.draft.Travels()
		}
	})
	return d, own
}

// lend replaces the draft of a request by one from elsewhere. It never touches what was entered here, nor a field
// that is open, and takes back only what came from the same place.
func lend(q *Queue, it *item, d Draft, by string) {
	if it.state == Sending || it.draft.Field != NoField || it.typed() {
		return
	}
	own, d := it.draft, d.fit(it.req.Questions).Travels()
	if it.req.permission() != nil { // whose options are decisions: only a note is text
		for i := range d.Answers {
			d.Answers[i] = AnswerDraft{Notes: d.Answers[i].Notes}
		}
	}
	switch {
	case it.lentBy == by && reflect.DeepEqual(d.entered(), own.entered()): // it is said again
		return
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
