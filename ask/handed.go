package ask

import (
	"cmp"
	"reflect"
	"regexp"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// Handed is to which deck a request was given that waits, and by which; "" is this one. It keeps nobody from answering.
type Handed struct {
	To   string `json:"to"`
	From string `json:"from"`
	Note string `json:"note,omitempty"`
}

// MostNote is how many characters of a note are kept.
const MostNote = 200

// mostDeck is how many characters of a deck's name are kept.
const mostDeck = 200

// Here reports whether the user of this deck was handed the request.
func (h *Handed) Here() bool { return h != nil && h.To == "" }

// Own reports whether the user of this deck was handed the request, or has handed it over.
func (h *Handed) Own() bool { return h.Here() || h != nil && h.From == "" }

// Bound returns it with texts that fit into a line.
func (h *Handed) Bound() *Handed {
	if h == nil {
		return nil
	}
	line := func(s string, most int) string { return sanitize.Cut(sanitize.Line(s), most) }
	return &Handed{line(h.To, mostDeck), line(h.From, mostDeck), line(h.Note, MostNote)}
}

// String says it as this deck's user reads it: "handed to you by the deck desk: NOTE".
func (h *Handed) String() string {
	said := "handed to " + cmp.Or(deckName(h.To), "you")
	if h.From != "" {
		said += " by " + deckName(h.From)
	}
	if h.Note != "" {
		said += ": " + h.Note
	}
	return said
}

func deckName(s string) string {
	if name := DeckNames(s); name != s {
		return "the deck " + name
	}
	return s
}

var fingerprints = regexp.MustCompile(` \(SHA256:[0-9a-f]*\)`)

// DeckNames is a text that names decks, without their fingerprints, for where there is one line.
func DeckNames(text string) string { return fingerprints.ReplaceAllString(text, "") }

// Hand gives a request to another deck, one of its Decks; with nil it is taken back, or declined.
func (e Afar) Hand(id int, h *Handed) error {
	q := e.Queue
	q.mu.Lock()
	defer q.mu.Unlock()
	it, err := q.answerable(id)
	if err != nil {
		return err
	}
	if it.handed, it.handing = h.Bound(), it.req.Peer.Host != ""; h != nil {
		it.handed.From = e.Deck
	}
	q.changed(false)
	return nil
}

// SetDecks takes to which decks requests of this machine may be handed.
func SetDecks(q *Queue, all []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !slices.Equal(q.decks, all) {
		q.decks = all
		q.changed(false)
	}
}

// Handing returns to whom the request is to be given, if the machine that asks has not been told that yet.
func (c *Call) Handing() (h *Handed, due bool) {
	c.with(func(it *item) { h, due = it.handed, it.handing })
	return h, due
}

// Gave notes that the machine that asks was told of what is to be given, or why it refused that.
func (c *Call) Gave(h *Handed, refused string) {
	c.with(func(it *item) {
		if it.handed != h { // the user has decided otherwise meanwhile
			return
		}
		it.handing = false
		if refused != "" {
			it.handed = nil
			c.q.notice("not handed over: " + refused)
		}
		c.q.changed(false)
	})
}

// Handed takes to whom the request was given, by the word of the machine that asks, which counts for nothing while it
// has not been told what was decided here.
func (c *Call) Handed(h *Handed, decks []string) {
	c.with(func(it *item) {
		if it.handing || reflect.DeepEqual(it.handed, h) {
			h = it.handed
		}
		if h != it.handed || !slices.Equal(it.decks, decks) {
			it.handed, it.decks = h, decks
			c.q.changed(false)
		}
	})
}
