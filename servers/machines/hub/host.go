package hub

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/mcpdeck/mcpdeck/servers/machines/host"
	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// state is what a host says of what waits on it: its items without their texts, each of which has a
// message of its own.
type state struct {
	Welcome wire.Welcome `json:"welcome"`
	Items   wire.Items   `json:"items"`
	Keys    []string     `json:"keys"` // of Items.Open
}

// outcome is what a host says of an answer.
type outcome struct {
	Of      string       `json:"of"` // the digest of its signature
	Outcome wire.Outcome `json:"outcome"`
}

func digest(sign []byte) string {
	sum := sha256.Sum256(sign)
	return hex.EncodeToString(sum[:16])
}

// HostOptions are what a [HostSide] works with.
type HostOptions struct {
	Membership Membership
	Book       Book
	Host       host.Options                   // Decks are those that this machine has learned of
	Learn      func(context.Context, *Member) // is told of each deck of the list
	Forget     func(*Member)                  // is told of each that is there no more
}

// HostSide puts on a hub what waits on this machine, and takes the answers from there. It makes
// nothing of them: package host does.
type HostSide struct {
	*member

	opt    HostOptions
	decks  onHub // those for which this host seals
	host   *host.Host
	places chan struct{} // of requests that are under way
	asking sync.Map      // by key: decks of which this machine is being told

	mu       sync.Mutex
	items    *wire.Items
	sessions *wire.Sessions
	fresh    map[string]fresh // by deck
}

// NewHost returns one that has not begun.
func NewHost(o HostOptions) (*HostSide, error) {
	m, err := newMember(o.Membership, o.Book)
	if err != nil {
		return nil, err
	}
	h := &HostSide{member: m, opt: o, decks: onHub{Decks: o.Host.Decks, of: m}, places: make(chan struct{}, mostLive), fresh: map[string]fresh{}}
	o.Host.Decks = h.decks
	h.host = host.New(o.Host)
	h.connect(&m.Membership, m.keys, h.takeLive, "a."+m.Name+".>", decksSubject, liveOf(m.Name, "*"))
	return h, nil
}

// onHub are the decks of a hub that may answer: those of its list that this machine has learned of.
type onHub struct {
	host.Decks

	of *member
}

// Host implements host.Decks.
func (d onHub) Host() (string, error) {
	return (&Member{Sign: d.of.keys.public()}).ID(), nil
}

// Find implements host.Decks.
func (d onHub) Find(key ed25519.PublicKey) (wire.Deck, bool) {
	for _, m := range d.all() {
		if m.Sign.Equal(key) {
			return wire.Deck{Name: m.Name, Fingerprint: wire.Fingerprint(key)}, true
		}
	}
	return wire.Deck{}, false
}

// All implements host.Decks.
func (d onHub) All() (all []wire.Deck) {
	for _, m := range d.all() {
		all = append(all, wire.Deck{Name: m.Name, Fingerprint: wire.Fingerprint(m.Sign)})
	}
	return all
}

func (d onHub) all() (all []Member) {
	for _, m := range d.of.members().of(Deck) {
		if _, known := d.Decks.Find(m.Sign); known {
			all = append(all, m)
		}
	}
	return all
}

// Run works until ctx ends.
func (h *HostSide) Run(ctx context.Context) {
	h.Refresh()
	h.run(ctx, map[string]func(context.Context){
		"list of a hub": func(ctx context.Context) {
			h.keepList(ctx, func(was List) {
				h.forget(was)
				h.Refresh()
			})
		},
		"items for a hub": func(ctx context.Context) {
			var known wire.Since
			h.follow(ctx, itemsPause, &known, &wire.Request{Items: &known})
		},
		"sessions for a hub": func(ctx context.Context) {
			var known wire.Since
			h.follow(ctx, sessionsPause, &known, &wire.Request{Sessions: &known})
		},
		"what a hub is told": h.tell,
		"answers of a hub":   h.answers,
	})
}

// Refresh tells this machine of the decks of the list. What it makes of one may take as long as its user does.
func (h *HostSide) Refresh() {
	for _, m := range h.members().of(Deck) {
		key := string(m.Sign)
		if _, asking := h.asking.LoadOrStore(key, true); asking {
			continue
		}
		recovery.Go("deck of a hub", func() {
			h.opt.Learn(h.life, &m)
			h.asking.Delete(key)
			h.feed(changes).Send()
		})
	}
	h.feed(changes).Send()
}

// forget has this machine forget the decks of an earlier list that are there no more.
func (h *HostSide) forget(was List) {
	now := h.members().of(Deck)
	for _, m := range was.of(Deck) {
		if !slices.ContainsFunc(now, func(o Member) bool { return o.Sign.Equal(m.Sign) }) {
			h.opt.Forget(&m)
		}
	}
}

const (
	// itemsPause is between two lists of what waits, sessionsPause between two of the sessions.
	itemsPause    = 50 * time.Millisecond
	sessionsPause = 2 * time.Second
	// hereEvery is how often a host says that it is there.
	hereEvery = 15 * time.Second
	// refresh is how often all is put there anew, whatever the hub has made of it.
	refresh = 10 * time.Minute
)

// follow takes each version of something that the host has: what it is asked for by req, which has known.
func (h *HostSide) follow(ctx context.Context, pause time.Duration, known *wire.Since, req *wire.Request) {
	for ctx.Err() == nil {
		r := h.host.Reply(ctx, req)
		h.mu.Lock()
		switch {
		case r.Items != nil:
			h.items, known.Version = r.Items, &r.Items.Version
		case r.Sessions != nil:
			h.sessions, known.Version = r.Sessions, &r.Sessions.Version
		}
		h.mu.Unlock()
		h.feed(changes).Send()
		sleep(ctx, pause)
	}
}

// tell puts on the hub what has changed.
func (h *HostSide) tell(ctx context.Context) {
	hints, stop := h.feed(changes).Subscribe()
	defer stop()
	t := &teller{HostSide: h}
	anew, here := time.Tick(refresh), time.Tick(hereEvery)
	for {
		var failed <-chan time.Time
		if t.tell(ctx) != nil {
			failed = time.After(time.Second)
		}
		select {
		case <-hints:
		case <-anew:
			t.forget()
		case <-here:
			t.here = nil
		case <-failed:
		case <-ctx.Done():
			return
		}
	}
}

// teller knows what it has put on the hub.
type teller struct {
	*HostSide

	on    context.Context // of the connection by which it has
	to    []Member        // who may read it
	told  map[string]bool // the items
	items *wire.Items
	here  *wire.Sessions
}

func (t *teller) forget() { t.told, t.items, t.here = map[string]bool{}, nil, nil }

func (t *teller) tell(ctx context.Context) error {
	_, on, err := t.conn()
	to := t.decks.all()
	if err != nil || len(to) == 0 { // there is a hint once it is linked, or a deck may read it
		return nil
	}
	if on != t.on || !slices.EqualFunc(to, t.to, func(a, b Member) bool { return a.Sign.Equal(b.Sign) }) {
		t.forget()
		t.on, t.to = on, to
	}
	t.mu.Lock()
	items, sessions := t.HostSide.items, t.HostSide.sessions
	t.mu.Unlock()
	if items != nil && items != t.items {
		if err := t.tellItems(ctx, items); err != nil {
			return err
		}
		t.items = items
	}
	if sessions != nil && sessions != t.here {
		if err := t.tellHere(ctx, *sessions); err != nil {
			return err
		}
		t.here = sessions
	}
	return nil
}

// tellItems puts the items that are new there, then the list, and then empties those that have ended.
func (t *teller) tellItems(ctx context.Context, items *wire.Items) error {
	hello := t.host.Reply(ctx, &wire.Request{Hello: &wire.Hello{}})
	s := state{Items: *items}
	if hello.Hello != nil {
		s.Welcome = *hello.Hello
		s.Welcome.Run = "" // a deck may read this while another one runs here
	}
	s.Items.Open = nil
	open := map[string]bool{}
	for _, it := range items.Open {
		key := wire.KeyOf(it.Asked)
		if !t.told[key] {
			if err := t.putSealed(ctx, "i."+t.Name+"."+key, json.RawMessage(it.Asked), t.to...); err != nil {
				return err
			}
			t.told[key] = true
		}
		open[key] = true
		it.Asked, it.Draft, it.LentBy = nil, nil, "" // a draft stays on its machine
		s.Items.Open, s.Keys = append(s.Items.Open, it), append(s.Keys, key)
	}
	if err := t.putSealed(ctx, "v."+t.Name, s, t.to...); err != nil {
		return err
	}
	for key := range t.told {
		if !open[key] {
			if err := t.put(ctx, "i."+t.Name+"."+key, nil); err != nil {
				return err
			}
			delete(t.told, key)
		}
	}
	return nil
}

// tellHere says that the host is there, and which sessions it has: as many as there is room for.
func (t *teller) tellHere(ctx context.Context, s wire.Sessions) error {
	for {
		b, err := json.Marshal(s)
		if err != nil {
			return err
		}
		if len(b) < mostHere*3/4 || len(s.Sessions) == 0 {
			return t.putSealed(ctx, "p."+t.Name, json.RawMessage(b), t.to...)
		}
		s.Sessions = s.Sessions[:len(s.Sessions)/2]
	}
}

// putSealed stores what those in to can read.
func (h *HostSide) putSealed(ctx context.Context, subject string, v any, to ...Member) error {
	b, err := h.keys.seal(subject, v, to...)
	if err != nil {
		return err
	}
	return h.put(ctx, subject, b)
}

// answers gives the host what decks have left, whenever something has come and when the connection is there again.
func (h *HostSide) answers(ctx context.Context) {
	for w := range h.looks(ctx, "a."+h.Name) {
		w.retry = h.takeAnswers(ctx) != nil
	}
}

// takeAnswers gives the host all answers that are there, in the order in which the hub has stored them, and removes
// them. If that fails, they are dealt with once more: the host knows them again.
func (h *HostSide) takeAnswers(ctx context.Context) error {
	from := uint64(1)
	for {
		s, err := h.next(ctx, answersOf(h.Name), "a."+h.Name+".>", from)
		if err == nil && s != nil {
			err = h.answer(ctx, s)
		}
		switch {
		case err != nil:
			return err
		case s != nil:
			from = s.Sequence + 1
		case from > 1:
			return h.purge(ctx, answersOf(h.Name), from)
		default:
			return nil
		}
	}
}

// answer gives the host one answer and tells the deck what became of it.
func (h *HostSide) answer(ctx context.Context, s *nats.RawStreamMsg) error {
	parts := strings.Split(s.Subject, ".") // a, this host, the deck, the item
	var deck *Member
	if len(parts) == 4 {
		deck = h.members().find(Deck, parts[2])
	}
	var a wire.Answer
	if deck == nil || h.keys.open(s.Subject, s.Data, deck.Sign, &a) != nil || !deck.Sign.Equal(a.Key) || a.Item != parts[3] {
		h.drop()
		return nil
	}
	r := h.host.Reply(ctx, &wire.Request{Answer: &a})
	return h.putSealed(ctx, "o."+h.Name+"."+deck.Name+"."+a.Item, outcome{Of: digest(a.Sign), Outcome: *r.Answer}, *deck)
}
