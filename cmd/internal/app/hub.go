package app

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/servers/machines/book"
	"github.com/mcpdeck/mcpdeck/servers/machines/hub"
	"github.com/mcpdeck/mcpdeck/servers/machines/mirror"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// hubs are this machine's ends of the hubs that it has joined: at most one as a deck, and one as a
// host. Nothing of them runs where there is no hub.
type hubs struct {
	mu    sync.Mutex
	all   []hub.Membership // as they are at work
	sides []side
	deck  *hub.DeckSide // the one of them that is a deck's; nil: there is none
	stop  context.CancelFunc
}

// side is one of the ends.
type side interface {
	Run(ctx context.Context)
	Refresh()
	State() hub.State
}

// holds reports whether this machine holds items for decks that may be away.
func (h *hubs) holds() bool {
	return slices.ContainsFunc(h.states(), func(s hub.State) bool { return s.Role == hub.Host })
}

// states are how it is with the hubs.
func (h *hubs) states() []hub.State {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := []hub.State{}
	for _, s := range h.sides {
		all = append(all, s.State())
	}
	return all
}

// join takes part in the hubs that this machine has joined, as they are now.
func (m machines) join(ctx context.Context) error {
	b := hub.Book{Dir: m.book.Dir}
	all, err := b.All()
	if err != nil || m.queue == nil {
		return err
	}
	h := m.hubs
	h.mu.Lock()
	defer h.mu.Unlock()
	if reflect.DeepEqual(all, h.all) {
		for _, s := range h.sides {
			s.Refresh()
		}
		return nil
	}
	if h.stop != nil {
		h.stop()
	}
	h.deck, h.sides, h.all = nil, nil, nil
	ctx, h.stop = context.WithCancel(ctx)
	for _, s := range all {
		var at side
		if s.Role == hub.Deck {
			h.deck, err = hub.NewDeck(hub.DeckOptions{
				Membership: s, Book: b, Owned: func() (*hub.Owned, error) { return hub.Load(filepath.Join(b.Dir, "hub")) },
				Changed: func() { m.hubChanged(ctx) }, Woke: m.Tell,
			})
			at = h.deck
		} else {
			at, err = hub.NewHost(hub.HostOptions{Membership: s, Book: b, Learn: m.learnOfHub, Forget: m.forgetOfHub, Host: m.serves})
		}
		if err != nil {
			return err
		}
		h.sides = append(h.sides, at)
		recovery.Go(string(s.Role)+" of a hub", func() { at.Run(ctx) })
	}
	h.all = all
	return nil
}

// hubChanged shows the hosts of the hub as they are now.
func (m machines) hubChanged(ctx context.Context) {
	if ctx.Err() == nil {
		_, _ = m.follow(ctx) // what is wrong with the files was said at the start
		m.Tell()
	}
}

// onHub are the hosts of the hub that are not reached otherwise.
func (m machines) onHub(others []book.Machine) (all []mirror.Options) {
	m.hubs.mu.Lock()
	d := m.hubs.deck
	m.hubs.mu.Unlock()
	if d == nil {
		return nil
	}
	known := d.Decks()
	for _, h := range d.Hosts() {
		if slices.ContainsFunc(others, func(o book.Machine) bool { return o.Name == h.Name }) {
			continue
		}
		all = append(all, mirror.Options{Name: h.Name, Host: h.ID(), Key: d.Key(), Decks: known, Dial: d.Dial(h), Awake: d.Awake(h), Queue: m.queue, Version: cli.Version()})
	}
	return all
}

// learnOfHub asks the user whether a deck may answer that the hub's owner has added.
func (m machines) learnOfHub(ctx context.Context, d *hub.Member) {
	if _, known := m.trust.Find(d.Sign); known {
		return
	}
	deck := book.Deck{Name: d.Name, Key: d.Sign, Added: d.Added}
	refused, err := m.book.Refused()
	if err != nil || slices.ContainsFunc(refused, func(o book.Deck) bool { return o.Key.Equal(d.Sign) }) {
		return
	}
	err = m.consent(ctx, &deck, "mcpdeck hub status", "It was added to the hub that this machine has joined. Refused, it is not asked about again before mcpdeck hub ask "+d.Name)
	switch {
	case err == nil:
		_, _ = m.trust.Learn(deck) // its answers are not taken then, which it is told
		m.tellDecks()
	case errors.Is(err, errRefused):
		deck.Added = time.Now()
		_ = m.book.Refuse(deck) // the user is asked again, then
	}
}

// forgetOfHub has no more answers taken of a deck that the hub's owner has removed.
func (m machines) forgetOfHub(d *hub.Member) {
	_, _ = m.book.Forget(func(o book.Deck) bool { return o.Key.Equal(d.Sign) }) // the list alone has its answers refused
}
