package hub

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// DeckOptions are what a [DeckSide] works with.
type DeckOptions struct {
	Membership Membership
	Book       Book
	Owned      func() (*Owned, error) // of the deck that has made the hub; else it fails
	Changed    func()                 // is told when the list of hosts differs
	Woke       func()                 // is told when a host wakes or sleeps, and all may do so at once
}

// DeckSide links this deck to the hosts of a hub.
type DeckSide struct {
	*member

	opt DeckOptions

	mu    sync.Mutex
	hosts map[string]*farHost
}

// farHost is what is known of a host.
type farHost struct {
	*DeckSide

	is Member

	prompting sync.Mutex

	filling sync.Mutex
	asked   map[string][]byte // by key: what the user reads of the items

	mu    sync.Mutex
	heard time.Time // when it said last that it is there
	awake bool
}

// NewDeck returns one that has not begun.
func NewDeck(o DeckOptions) (*DeckSide, error) {
	m, err := newMember(o.Membership, o.Book)
	if err != nil {
		return nil, err
	}
	d := &DeckSide{member: m, opt: o, hosts: map[string]*farHost{}}
	d.connect(&m.Membership, m.keys, nil, "v.*", "p.*", "o.*."+m.Name+".*", listSubject)
	return d, nil
}

// Run works until ctx ends.
func (d *DeckSide) Run(ctx context.Context) {
	works := map[string]func(context.Context){"list of a hub": func(ctx context.Context) {
		d.keepList(ctx, func(List) { d.opt.Changed() })
	}}
	if d.Made == d.Name {
		works["streams of a hub"] = d.keepPrepared
	}
	d.run(ctx, works)
}

// keepPrepared makes the hub's streams and puts the list there, whenever the hub is reached.
func (d *DeckSide) keepPrepared(ctx context.Context) {
	hints, stop := d.feed(changes).Subscribe()
	defer stop()
	for {
		var failed <-chan time.Time
		if d.problem() == nil && d.prepareOwned(ctx) != nil {
			failed = time.After(time.Second)
		}
		select {
		case <-hints:
		case <-failed:
		case <-ctx.Done():
			return
		}
	}
}

func (d *DeckSide) prepareOwned(ctx context.Context) error {
	o, err := d.opt.Owned()
	if err != nil {
		return err
	}
	return d.prepare(ctx, d.keys, o.List)
}

// Refresh has the list looked at again.
func (d *DeckSide) Refresh() { d.feed(changes).Send() }

// Key is what this deck signs with.
func (d *DeckSide) Key() ed25519.PrivateKey { return d.keys.Sign }

// Hosts returns those of the hub, by name.
func (d *DeckSide) Hosts() []Member {
	all := d.members().of(Host)
	slices.SortFunc(all, func(a, b Member) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Decks returns the fingerprints of the decks that may answer, by the word of the hub's owner.
func (d *DeckSide) Decks() (all []string) {
	for _, m := range d.members().of(Deck) {
		all = append(all, wire.Fingerprint(m.Sign))
	}
	return all
}

func (d *DeckSide) far(is Member) *farHost {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.hosts[is.ID()]
	if f == nil {
		f = &farHost{DeckSide: d, is: is, asked: map[string][]byte{}, heard: time.Now()}
		d.hosts[is.ID()] = f
	}
	return f
}

// asleepAfter is how long nothing may be heard of a host that is awake.
const asleepAfter = 3 * hereEvery

// Awake returns whether a host has been heard of lately, and since when that is so or not.
func (d *DeckSide) Awake(is Member) func() (bool, time.Time) {
	f := d.far(is)
	return func() (bool, time.Time) {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.awake, f.heard
	}
}

// Dial links to a host. The link lasts as long as the connection to the hub, whether the host is
// awake or not.
func (d *DeckSide) Dial(is Member) func(context.Context) (io.ReadWriteCloser, error) {
	f := d.far(is)
	return func(ctx context.Context) (io.ReadWriteCloser, error) {
		const patience = 20 * time.Second
		wait, done := context.WithTimeout(ctx, patience)
		defer done()
		on, err := d.connected(wait)
		if err != nil {
			return nil, err
		}
		ours, theirs := net.Pipe()
		recovery.Go("link over a hub", func() {
			defer context.AfterFunc(ctx, func() { theirs.Close() })()
			defer theirs.Close()
			defer context.AfterFunc(on, func() { theirs.Close() })()
			_ = wire.NewFrames(theirs, theirs).Serve(ctx, f.reply) // reading tells that the link is gone
		})
		return &lent{Conn: ours, on: on}, nil
	}
}

// lent is a link that ends with the connection to the hub.
type lent struct {
	net.Conn

	on context.Context
}

func (l *lent) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	if err != nil && l.on.Err() != nil {
		err = context.Cause(l.on)
	}
	return n, err
}

// reply replies as the host would, from what the hub has of it.
func (f *farHost) reply(ctx context.Context, req *wire.Request) (r wire.Reply) {
	switch {
	case req.Hello != nil:
		return f.hello(ctx)
	case req.Items != nil:
		r.Items = f.items(ctx, req.Items.Version)
	case req.Sessions != nil:
		r.Sessions = f.sessions(ctx, req.Sessions.Version)
	case req.Answer != nil:
		r.Answer = f.answer(ctx, req.Answer)
	default:
		return f.live(ctx, req)
	}
	return r
}

// open reads a message of the host; nil if there is none that is its own. The one that is known it does not read again.
func (f *farHost) open(ctx context.Context, stream, subject string, known uint64, v any) (*nats.RawStreamMsg, error) {
	s, err := f.last(ctx, stream, subject)
	switch {
	case err != nil || s == nil || len(s.Data) == 0:
		return nil, err
	case s.Sequence == known:
		return s, nil
	}
	err = f.keys.open(subject, s.Data, f.is.Sign, v)
	if err != nil {
		if !errors.Is(err, errOthers) { // else its user has not agreed to this deck
			f.drop()
		}
		return nil, err
	}
	return s, nil
}

func (f *farHost) hello(ctx context.Context) wire.Reply {
	const patience = 20 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for range f.looks(ctx, "v."+f.is.Name) {
		var s state
		if at, err := f.open(ctx, itemsOf(f.is.Name), "v."+f.is.Name, 0, &s); err == nil && at != nil {
			own := wire.Fingerprint(f.keys.public())
			s.Welcome.Answers = slices.ContainsFunc(s.Welcome.Decks, func(d wire.Deck) bool { return d.Fingerprint == own })
			return wire.Reply{Hello: &s.Welcome}
		}
	}
	return wire.Reply{Error: "it has put nothing on the hub yet that this deck may read; is mcpdeck running there, and has its user agreed to this deck?"}
}

// items returns what waits once that has another version.
func (f *farHost) items(ctx context.Context, known *uint64) *wire.Items {
	var version uint64
	if known != nil {
		version = *known
	}
	for w := range f.looks(ctx, "v."+f.is.Name) {
		var s state
		at, err := f.open(ctx, itemsOf(f.is.Name), "v."+f.is.Name, version, &s)
		if err != nil || at == nil || at.Sequence == version || len(s.Keys) != len(s.Items.Open) {
			continue
		}
		if whole := f.fill(ctx, &s, age(at)); whole {
			s.Items.Version = at.Sequence
			return &s.Items
		}
		w.retry = true
	}
	return nil
}

// fill adds to a list what the user reads of its items, and reports whether the hub has all of it. It
// has not if the list has been replaced meanwhile.
func (f *farHost) fill(ctx context.Context, s *state, age time.Duration) bool {
	f.filling.Lock()
	defer f.filling.Unlock()
	asked := map[string][]byte{}
	for i, key := range s.Keys {
		text := f.asked[key]
		if text == nil {
			subject := "i." + f.is.Name + "." + key
			var stored json.RawMessage
			if m, err := f.open(ctx, itemsOf(f.is.Name), subject, 0, &stored); err != nil || m == nil {
				return false
			}
			if text = stored; wire.KeyOf(text) != key {
				f.drop()
				return false
			}
			f.asked[key] = text
		}
		asked[key] = text
		it := &s.Items.Open[i]
		it.Asked = text
		it.Age += age
		if it.Left > 0 {
			it.Left = max(it.Left-age, time.Second)
		}
	}
	f.asked = asked
	return true
}

// sessions returns those of the host once they have changed, and notes meanwhile whether it is awake.
func (f *farHost) sessions(ctx context.Context, known *uint64) *wire.Sessions {
	var seen uint64
	for w := range f.looks(ctx, "p."+f.is.Name) {
		var s wire.Sessions
		if at, err := f.open(ctx, hereStream, "p."+f.is.Name, seen, &s); err != nil || at == nil {
			f.note(time.Time{})
		} else {
			f.note(time.Now().Add(-age(at)))
			if at.Sequence != seen && (known == nil || *known != s.Version) {
				return &s
			}
			seen = at.Sequence
		}
		sleep(ctx, 200*time.Millisecond) // a host may say much
		w.soon = min(w.soon, 1)
	}
	return nil
}

// note takes when the host was heard of.
func (f *farHost) note(at time.Time) {
	f.mu.Lock()
	if at.After(f.heard) || !f.awake && !at.IsZero() {
		f.heard = at
	}
	was := f.awake
	f.awake = !at.IsZero() && time.Since(f.heard) < asleepAfter
	changed := was != f.awake
	f.mu.Unlock()
	if changed {
		f.opt.Woke()
	}
}

// answer leaves an answer for the host, and returns what that has made of it.
func (f *farHost) answer(ctx context.Context, a *wire.Answer) *wire.Outcome {
	to := "a." + f.is.Name + "." + f.Name + "." + a.Item
	from := "o." + f.is.Name + "." + f.Name + "." + a.Item
	message, err := f.keys.seal(to, a, f.is)
	if err != nil {
		return &wire.Outcome{Why: err.Error(), Open: true}
	}
	for w := range f.looks(ctx, "o."+f.is.Name) {
		// The host says what became of it before it removes it, so this is the order in which to look.
		left, err := f.last(ctx, answersOf(f.is.Name), to)
		if err != nil {
			w.retry = true
			continue
		}
		var o outcome
		said, err := f.open(ctx, itemsOf(f.is.Name), from, 0, &o)
		if err == nil && said != nil && o.Of == digest(a.Sign) {
			return &o.Outcome
		}
		if left == nil || !bytes.Equal(left.Data, message) {
			err = f.put(ctx, to, message)
		}
		w.retry = err != nil
	}
	return nil
}
