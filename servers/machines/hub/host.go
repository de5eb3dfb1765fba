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
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
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

	opt   HostOptions
	host  *host.Host
	look  chan struct{}  // of one slot: something has changed here
	kick  chan struct{}  // of one slot: all is to be put there anew
	learn chan struct{}  // of one slot: the list of decks is to be looked at again
	live  chan *nats.Msg // requests that have come

	mu       sync.Mutex
	asking   map[string]bool // by key: decks of which this machine is being told
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
	h := &HostSide{member: m, opt: o, asking: map[string]bool{}, look: make(chan struct{}, 1), kick: make(chan struct{}, 1), learn: make(chan struct{}, 1), live: make(chan *nats.Msg, mostLive), fresh: map[string]fresh{}}
	known := o.Host.Decks
	o.Host.Decks = onHub{Decks: known, of: m}
	h.host = host.New(o.Host)
	m.client, err = connect(&m.Membership, m.keys, h.heard, "a."+m.Name+".>", decksSubject, liveOf(m.Name, "*"))
	return h, err
}

// heard takes a request, or hints at what has come.
func (h *HostSide) heard(is *nats.Msg) {
	if !isLive(is.Subject) {
		h.member.heard(is)
		return
	}
	select {
	case h.live <- is:
	default: // the deck asks again
	}
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
	list := d.of.members()
	for _, m := range list.of(Deck) {
		if _, known := d.Decks.Find(m.Sign); known {
			all = append(all, m)
		}
	}
	return all
}

// decks are those for which this host seals.
func (h *HostSide) decks() []Member { return onHub{Decks: h.opt.Host.Decks, of: h.member}.all() }

// Kick has what waits sealed anew, since another deck may be there to read it.
func (h *HostSide) Kick() { notify.Poke(h.kick) }

// Refresh has this machine told again of each deck of the list.
func (h *HostSide) Refresh() { notify.Poke(h.learn) }

// Run works until ctx ends.
func (h *HostSide) Run(ctx context.Context) {
	defer h.close()
	var all sync.WaitGroup
	for name, work := range map[string]func(context.Context){
		"list of a hub": func(ctx context.Context) {
			h.keepList(ctx, func(was List) {
				h.forget(was)
				h.Refresh()
			})
		},
		"decks of a hub": func(ctx context.Context) {
			for ctx.Err() == nil {
				h.tellOfDecks(ctx)
				select {
				case <-h.learn:
				case <-ctx.Done():
				}
			}
		},
		"items for a hub": func(ctx context.Context) {
			follow(ctx, h, itemsPause, func(known *uint64) *wire.Request { return &wire.Request{Items: &wire.Since{Version: known}} }, func(r wire.Reply) (uint64, bool) {
				h.mu.Lock()
				defer h.mu.Unlock()
				if h.items = r.Items; r.Items == nil {
					return 0, false
				}
				return r.Items.Version, true
			})
		},
		"sessions for a hub": func(ctx context.Context) {
			follow(ctx, h, sessionsPause, func(known *uint64) *wire.Request { return &wire.Request{Sessions: &wire.Since{Version: known}} }, func(r wire.Reply) (uint64, bool) {
				h.mu.Lock()
				defer h.mu.Unlock()
				if h.sessions = r.Sessions; r.Sessions == nil {
					return 0, false
				}
				return r.Sessions.Version, true
			})
		},
		"what a hub is told": h.tell, "answers of a hub": h.answers, "requests over a hub": h.serveLive,
	} {
		all.Add(1)
		recovery.Go(name, func() {
			defer all.Done()
			work(ctx)
		})
	}
	all.Wait()
}

// tellOfDecks tells this machine of the decks of the list. What it makes of one may take as long as its user does.
func (h *HostSide) tellOfDecks(ctx context.Context) {
	list := h.members()
	for _, m := range list.of(Deck) {
		key := string(m.Sign)
		h.mu.Lock()
		asking := h.asking[key]
		h.asking[key] = true
		h.mu.Unlock()
		if asking {
			continue
		}
		recovery.Go("deck of a hub", func() {
			h.opt.Learn(ctx, &m)
			h.mu.Lock()
			delete(h.asking, key)
			h.mu.Unlock()
			h.Kick()
		})
	}
	h.Kick()
}

// forget has this machine forget the decks of an earlier list that are there no more.
func (h *HostSide) forget(was List) {
	list := h.members()
	for _, m := range was.of(Deck) {
		if !slices.ContainsFunc(list.of(Deck), func(o Member) bool { return o.Sign.Equal(m.Sign) }) {
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

// follow takes each version of something that the host has.
func follow(ctx context.Context, h *HostSide, pause time.Duration, ask func(*uint64) *wire.Request, take func(wire.Reply) (uint64, bool)) {
	var known *uint64
	for ctx.Err() == nil {
		version, ok := take(h.host.Reply(ctx, ask(known)))
		if !ok {
			return
		}
		known = &version
		notify.Poke(h.look)
		if sleep(ctx, pause) != nil {
			return
		}
	}
}

// tell puts on the hub what has changed.
func (h *HostSide) tell(ctx context.Context) {
	hints, stop := h.client.feed.Subscribe()
	defer stop()
	t := &teller{HostSide: h}
	anew := time.NewTicker(refresh)
	defer anew.Stop()
	here := time.NewTicker(hereEvery)
	defer here.Stop()
	var failed <-chan time.Time
	var last context.Context // of the connection by which it was told
	for {
		select {
		case <-hints:
		case <-h.look:
		case <-h.kick:
			t.forget()
		case <-anew.C:
			t.forget()
		case <-here.C:
			t.here = nil
		case <-failed:
		case <-ctx.Done():
			return
		}
		failed = nil
		_, on := h.isUp()
		if on != last {
			last = on
			t.forget()
		}
		if on.Err() == nil && t.tell(ctx) != nil {
			failed = time.After(time.Second)
		}
	}
}

// teller knows what it has put on the hub.
type teller struct {
	*HostSide

	put   map[string]bool // the items
	items *wire.Items
	here  *wire.Sessions
}

func (t *teller) forget() { t.put, t.items, t.here = map[string]bool{}, nil, nil }

func (t *teller) tell(ctx context.Context) error {
	to := t.decks()
	if len(to) == 0 { // nobody may read it
		return nil
	}
	t.mu.Lock()
	items, sessions := t.HostSide.items, t.HostSide.sessions
	t.mu.Unlock()
	if items != nil && items != t.items {
		if err := t.tellItems(ctx, items, to); err != nil {
			return err
		}
		t.items = items
	}
	if sessions != nil && sessions != t.here {
		if err := t.tellHere(ctx, *sessions, to); err != nil {
			return err
		}
		t.here = sessions
	}
	return nil
}

// tellItems puts the items that are new there, then the list, and then empties those that have ended.
func (t *teller) tellItems(ctx context.Context, items *wire.Items, to []Member) error {
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
		if !t.put[key] {
			if err := t.putSealed(ctx, "i."+t.Name+"."+key, json.RawMessage(it.Asked), to...); err != nil {
				return err
			}
			t.put[key] = true
		}
		open[key] = true
		it.Asked, it.Draft, it.LentBy = nil, nil, "" // a draft stays on its machine
		s.Items.Open, s.Keys = append(s.Items.Open, it), append(s.Keys, key)
	}
	if err := t.putSealed(ctx, "v."+t.Name, s, to...); err != nil {
		return err
	}
	for key := range t.put {
		if !open[key] {
			if err := t.client.put(ctx, "i."+t.Name+"."+key, nil); err != nil {
				return err
			}
			delete(t.put, key)
		}
	}
	return nil
}

// tellHere says that the host is there, and which sessions it has: as many as there is room for.
func (t *teller) tellHere(ctx context.Context, s wire.Sessions, to []Member) error {
	for {
		b, err := json.Marshal(s)
		if err != nil {
			return err
		}
		if len(b) < mostHere*3/4 || len(s.Sessions) == 0 {
			return t.putSealed(ctx, "p."+t.Name, json.RawMessage(b), to...)
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
	return h.client.put(ctx, subject, b)
}

// answers gives the host what decks have left, in the order in which the hub has stored it. It looks
// when something has come, when the connection is there again, and now and then; what it has dealt
// with it removes.
func (h *HostSide) answers(ctx context.Context) {
	hints, stop := h.feed("a." + h.Name).Subscribe()
	defer stop()
	for ctx.Err() == nil {
		up, _ := h.isUp()
		select {
		case <-up:
		case <-ctx.Done():
			return
		}
		_, link := h.isUp()
		on, end := context.WithCancel(ctx)
		unlink := context.AfterFunc(link, end)
		h.takeAnswers(on, hints)
		unlink()
		end()
		_ = sleep(ctx, 100*time.Millisecond)
	}
}

func (h *HostSide) takeAnswers(ctx context.Context, hints <-chan struct{}) {
	from, w := uint64(1), watch{hints: hints, soon: 3}
	for ctx.Err() == nil {
		s, err := h.next(ctx, answersOf(h.Name), "a."+h.Name+".>", from)
		switch {
		case err != nil:
			_ = sleep(ctx, time.Second)
			continue
		case s != nil:
			if !h.answer(ctx, s) {
				return
			}
			from = s.seq + 1
			continue
		case from > 1:
			_ = h.purge(ctx, answersOf(h.Name), from) // else it is dealt with once more
		}
		w.wait(ctx)
	}
}

// answer gives the host one answer and tells the deck what became of it.
func (h *HostSide) answer(ctx context.Context, s *stored) bool {
	parts := strings.Split(s.subject, ".") // a, this host, the deck, the item
	list := h.members()
	if len(parts) != 4 {
		h.drop()
		return true
	}
	deck, key := list.find(Deck, parts[2]), parts[3]
	if deck == nil {
		h.drop()
		return true
	}
	var a wire.Answer
	if h.keys.open(s.subject, s.data, deck.Sign, &a) != nil || !deck.Sign.Equal(a.Key) || a.Item != key {
		h.drop()
		return true
	}
	r := h.host.Reply(ctx, &wire.Request{Answer: &a})
	if r.Answer == nil {
		return false
	}
	o := outcome{Of: digest(a.Sign), Outcome: *r.Answer}
	return again(ctx, func() error {
		return h.putSealed(ctx, "o."+h.Name+"."+deck.Name+"."+key, o, *deck)
	})
}
