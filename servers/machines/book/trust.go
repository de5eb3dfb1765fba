package book

import (
	"crypto/ed25519"
	"slices"
	"sync"
)

// Trust is which decks a running deck takes answers of: those that were in the book when it began,
// and those that it was told of since. What a process adds to the file by itself does not count
// until the deck is started again; what is removed there counts at once. Its methods are safe for
// concurrent use.
type Trust struct {
	book Book

	mu    sync.Mutex
	taken []Deck
}

// NewTrust returns one that takes no answers yet.
func NewTrust(b Book) *Trust { return &Trust{book: b} }

// Begin takes what is in the book now.
func (t *Trust) Begin() error {
	all, err := t.book.Decks()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taken = all
	return err
}

// Host is what this machine calls itself in what decks sign.
func (t *Trust) Host() (string, error) { return t.book.Host() }

// Decks returns those whose answers are taken.
func (t *Trust) Decks() []Deck {
	all, _ := t.split()
	return all
}

// Untold returns those in the book whose answers are not taken, since something else than this deck
// has put them there.
func (t *Trust) Untold() []Deck {
	_, all := t.split()
	return all
}

func (t *Trust) split() (taken, untold []Deck) {
	t.mu.Lock()
	defer t.mu.Unlock()
	all, err := t.book.Decks() // as it is now, else one that is learned meanwhile would count as removed
	if err != nil {
		return nil, nil
	}
	for _, d := range all {
		if _, before := find(t.taken, d.Key); before {
			taken = append(taken, d)
		} else {
			untold = append(untold, d)
		}
	}
	t.taken = taken // one that was removed does not come back by itself
	return slices.Clone(taken), untold
}

// Find returns the deck with a key if its answers are taken.
func (t *Trust) Find(key ed25519.PublicKey) (Deck, bool) {
	taken, _ := t.split()
	return find(taken, key)
}

// Learn has a deck's answers taken from now on, and returns what this machine calls itself.
func (t *Trust) Learn(d Deck) (host string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if host, err = t.book.Learn(d); err == nil {
		t.taken = append(t.taken, d)
	}
	return host, err
}
