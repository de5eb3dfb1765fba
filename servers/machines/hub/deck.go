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
	m.client, err = connect(&m.Membership, m.keys, m.heard, "v.*", "p.*", "o.*."+m.Name+".*", listSubject)
	return d, err
}

// Run works until ctx ends.
func (d *DeckSide) Run(ctx context.Context) {
	defer d.close()
	prepared := make(chan struct{})
	recovery.Go("streams of a hub", func() {
		defer close(prepared)
		if d.Made == d.Name {
			d.prepare(ctx)
		}
	})
	d.keepList(ctx, func(List) { d.opt.Changed() })
	<-prepared
}

// prepare makes the hub's streams and puts the list there, once the hub is reached.
func (d *DeckSide) prepare(ctx context.Context) {
	links, stop := d.client.feed.Subscribe()
	defer stop()
	for ctx.Err() == nil {
		if d.problem() == nil {
			again(ctx, func() error {
				o, err := d.opt.Owned()
				if err != nil {
					return err
				}
				if err := d.client.prepare(ctx, d.keys, &o.List); err != nil {
					return err
				}
				message, err := d.keys.signList(o.List, listSubject)
				if err == nil && d.takeList(message) {
					d.opt.Changed()
				}
				return err
			})
		}
		select {
		case <-links:
		case <-ctx.Done():
		}
	}
}

// Refresh has the list looked at again.
func (d *DeckSide) Refresh() { d.client.feed.Send() }

// Key is what this deck signs with.
func (d *DeckSide) Key() ed25519.PrivateKey { return d.keys.Sign }

// Hosts returns those of the hub, by name.
func (d *DeckSide) Hosts() []Member {
	list := d.members()
	all := list.of(Host)
	slices.SortFunc(all, func(a, b Member) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Decks returns the fingerprints of the decks that may answer, by the word of the hub's owner.
func (d *DeckSide) Decks() (all []string) {
	list := d.members()
	for _, m := range list.of(Deck) {
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
		up, _ := d.isUp()
		select {
		case <-up:
		case <-time.After(patience):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if err := d.problem(); err != nil { // a connection that came just now is one
			return nil, err
		}
		_, on := d.isUp()
		ours, theirs := net.Pipe()
		recovery.Go("link over a hub", func() {
			defer context.AfterFunc(ctx, func() { theirs.Close() })()
			defer theirs.Close()
			defer context.AfterFunc(on, func() { theirs.Close() })()
			_ = wire.NewFrames(theirs, theirs).Serve(ctx, f.reply) // reading tells that the link is gone
		})
		return &lent{Conn: ours, of: d.client}, nil
	}
}

// lent is a link that ends with the connection to the hub.
type lent struct {
	net.Conn

	of *client
}

func (l *lent) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	if err != nil {
		if why := l.of.problem(); why != nil {
			err = why
		}
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
func (f *farHost) open(ctx context.Context, stream, subject string, known uint64, v any) (*stored, error) {
	s, err := f.last(ctx, stream, subject)
	switch {
	case err != nil || s == nil || len(s.data) == 0:
		return nil, err
	case s.seq == known:
		return s, nil
	}
	err = f.keys.open(subject, s.data, f.is.Sign, v)
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
	hints, stop := f.feed("v." + f.is.Name).Subscribe()
	defer stop()
	w := watch{hints: hints, soon: 3}
	for ctx.Err() == nil {
		var s state
		if at, err := f.open(ctx, itemsOf(f.is.Name), "v."+f.is.Name, 0, &s); err == nil && at != nil {
			own := wire.Fingerprint(f.keys.public())
			s.Welcome.Answers = slices.ContainsFunc(s.Welcome.Decks, func(d wire.Deck) bool { return d.Fingerprint == own })
			return wire.Reply{Hello: &s.Welcome}
		}
		w.wait(ctx)
	}
	return wire.Reply{Error: "it has put nothing on the hub yet that this deck may read; is mcpdeck running there, and has its user agreed to this deck?"}
}

// items returns what waits once that has another version.
func (f *farHost) items(ctx context.Context, known *uint64) *wire.Items {
	hints, stop := f.feed("v." + f.is.Name).Subscribe()
	defer stop()
	w := watch{hints: hints, soon: 3}
	var version uint64
	if known != nil {
		version = *known
	}
	for ctx.Err() == nil {
		var s state
		at, err := f.open(ctx, itemsOf(f.is.Name), "v."+f.is.Name, version, &s)
		if err == nil && at != nil && at.seq != version && len(s.Keys) == len(s.Items.Open) {
			if whole := f.fill(ctx, &s, at.age); whole {
				s.Items.Version = at.seq
				return &s.Items
			}
			_ = sleep(ctx, 200*time.Millisecond)
			continue
		}
		w.wait(ctx)
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
	hints, stop := f.feed("p." + f.is.Name).Subscribe()
	defer stop()
	w := watch{hints: hints, soon: 3}
	var seen uint64
	for ctx.Err() == nil {
		var s wire.Sessions
		if at, err := f.open(ctx, hereStream, "p."+f.is.Name, seen, &s); err != nil || at == nil {
			f.note(time.Time{})
		} else {
			f.note(time.Now().Add(-at.age))
			if at.seq != seen && (known == nil || *known != s.Version) {
				return &s
			}
			seen = at.seq
		}
		w.wait(ctx)
		_ = sleep(ctx, 200*time.Millisecond) // a host may say much, and what it has said is stored by then
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
	hints, stop := f.feed("o." + f.is.Name).Subscribe()
	defer stop()
	to := "a." + f.is.Name + "." + f.Name + "." + a.Item
	from := "o." + f.is.Name + "." + f.Name + "." + a.Item
	message, err := f.keys.seal(to, a, f.is)
	if err != nil {
		return &wire.Outcome{Why: err.Error(), Open: true}
	}
	w := watch{hints: hints, soon: 3}
	for ctx.Err() == nil {
		// The host says what became of it before it removes it, so this is the order in which to look.
		left, err := f.last(ctx, answersOf(f.is.Name), to)
		if err == nil {
			var o outcome
			said, err := f.open(ctx, itemsOf(f.is.Name), from, 0, &o)
			if err == nil && said != nil && o.Of == digest(a.Sign) {
				return &o.Outcome
			}
			if left == nil || !bytes.Equal(left.data, message) {
				err = f.put(ctx, to, message)
			}
			if err == nil {
				w.wait(ctx)
				continue
			}
		}
		_ = sleep(ctx, time.Second)
	}
	return nil
}
