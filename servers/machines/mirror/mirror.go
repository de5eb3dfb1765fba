// Package mirror shows in this deck what waits on other machines, and takes the user's answers
// there.
//
// The seam is the deck's queue: a mirror opens there what is open on its host, as the adapter of an
// agent's program on this machine does, and hands on what the user makes of it. So there is one
// kind of item, and the screen does not know where a deck is. The host decides: what it tells of an
// item is what became of it. While the link is down all stays as it is; an answer that was given
// meanwhile is sent when it is back. Sessions come into the list of this machine's own ([Set]).
package mirror

import (
	"context"
	"crypto/ed25519"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Options are what a [Mirror] works with.
type Options struct {
	Name string // of the machine, on the screen
	Host string // what it calls itself; another one is not taken for it
	Key  ed25519.PrivateKey
	// Dial starts a stream to the machine. Closing it ends what carries it.
	Dial    func(context.Context) (io.ReadWriteCloser, error)
	Decks   []string // fingerprints of the decks that the user knows to answer there
	Queue   Queue
	Changed func() // is told when the state or the sessions differ
	Called  func() // is told when the calls differ; may be nil
	Version string // of the program
	// Awake says of a link that outlives the machine's sleep whether the machine is awake, and since
	// when; nil: the link tells.
	Awake func() (awake bool, since time.Time)
}

// Queue is where items are shown and answered; *ask.Queue is one.
type Queue interface {
	Open(ask.Request) (*ask.Call, error)
	Resume(key, owner string, peer ask.Peer) (*ask.Call, error)
	Hints() (<-chan struct{}, func())
}

// State is how it is with a machine.
type State struct {
	Name    string    `json:"name"`
	Linked  bool      `json:"linked"`
	Since   time.Time `json:"since"`             // of Linked, or of its opposite
	Why     string    `json:"why,omitempty"`     // not linked
	Program string    `json:"program,omitempty"` // version of mcpdeck there
	Answers bool      `json:"answers"`           // it takes this deck's answers
	Items   int       `json:"items"`             // that are shown here
	Unknown []string  `json:"unknown,omitempty"` // decks that may answer there, too, of which the user has not been told
}

// The pauses between two tries to link, which double from the first to the most.
const (
	firstPause = 500 * time.Millisecond
	mostPause  = 30 * time.Second
	// steady is how long a link must have lasted for the pauses to begin anew.
	steady = 10 * time.Second
	// heldPause is how long an item waits that the queue has no room for.
	heldPause = 2 * time.Second
	// itemsPause and sessionsPause are between two lists.
	itemsPause    = 50 * time.Millisecond
	sessionsPause = time.Second
	// mostSessions is how many of one machine are shown.
	mostSessions = 256
	// mostShown is how many items of one machine are shown at once, so that it does not take all the places of the
	// queue: that is for everything that asks here.
	mostShown = 50
	// mostRefused is how often an item comes back on one link whose answer was refused.
	mostRefused = 2
)

// Mirror shows one machine.
type Mirror struct {
	opt Options
	key ed25519.PublicKey

	answered chan struct{} // of one slot: there is something to send
	again    chan struct{} // of one slot: the last list of items has some that are not shown
	look     chan struct{} // of one slot: whether somebody watches the calls has changed

	mu       sync.Mutex
	state    State
	decks    []wire.Deck       // that may answer there
	entries  map[string]*entry // by key
	last     *wire.Items
	link     *link // nil: the machine is away
	sessions []snapshot.Session
	spent    float64
	calls    calls
}

// entry is an item of the host.
type entry struct {
	key     string
	asked   wire.Asked
	call    *ask.Call // nil: it is not shown
	send    *wire.Decision
	by      *link     // on which it is under way
	taken   bool      // the host has the user's answer
	refused int       // how often the host did not take it, on this link
	let     bool      // it was let go there
	draft   string    // that the host was sent last
	drafted time.Time // when
	told    wire.Item // of it what the queue was told last
}

// notYet is why a machine is not linked that no attempt was made to reach.
const notYet = "not linked yet"

// New returns a mirror that has not begun.
func New(o Options) *Mirror {
	public, _ := o.Key.Public().(ed25519.PublicKey) // it is always one
	return &Mirror{
		opt: o, key: public, answered: make(chan struct{}, 1), again: make(chan struct{}, 1), look: make(chan struct{}, 1), entries: map[string]*entry{},
		state: State{Name: o.Name, Since: time.Now(), Why: notYet},
	}
}

// State returns how it is with the machine.
func (m *Mirror) State() State {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.state
	if s.Linked && m.opt.Awake != nil {
		if awake, since := m.opt.Awake(); !awake {
			s.Linked, s.Since, s.Why = false, since, "nothing was heard of it since"
		}
	}
	for _, d := range m.decks {
		if !slices.Contains(m.opt.Decks, d.Fingerprint) && d.Fingerprint != wire.Fingerprint(m.key) {
			s.Unknown = append(s.Unknown, sanitize.Line(d.String()))
		}
	}
	s.Items = m.shown()
	return s
}

// Run keeps a link to the machine until ctx ends.
func (m *Mirror) Run(ctx context.Context) {
	pause := firstPause
	for ctx.Err() == nil {
		began := time.Now()
		err := m.follow(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) >= steady {
			pause = firstPause
		}
		m.away(err)
		select {
		case <-time.After(pause + rand.N(pause/4)): // many machines do not come at once
		case <-ctx.Done():
		}
		pause = min(2*pause, mostPause)
	}
}

// Leave takes what is shown of the machine from the queue.
func (m *Mirror) Leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, e := range m.entries {
		if e.call != nil {
			e.call.Gone("its machine was removed")
		}
		delete(m.entries, key)
	}
}

func (m *Mirror) away(err error) {
	why := "the link has ended"
	if err != nil {
		why = err.Error()
	}
	m.mu.Lock()
	if m.state.Linked || m.state.Why == notYet {
		m.state.Since = time.Now()
	}
	m.state.Linked, m.state.Why, m.link = false, why, nil
	m.mu.Unlock()
	m.opt.Changed()
	m.called() // nobody knows what runs there
}

// follow links once and shows what the host has until the link is lost.
func (m *Mirror) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := m.opt.Dial(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	l, err := greet(ctx, s, m.key, m.opt.Version)
	if err != nil {
		return err
	}
	if l.welcome.Host != m.opt.Host {
		return errors.New("another machine answers there, or it has lost what it knew of this deck; run mcpdeck remote add again")
	}
	m.mu.Lock()
	m.state.Linked, m.state.Since, m.state.Why = true, time.Now(), ""
	m.state.Program, m.state.Answers = l.welcome.Program, l.welcome.Answers
	m.decks, m.link = l.welcome.Decks, l
	for _, e := range m.entries {
		e.refused = 0
	}
	m.mu.Unlock()
	m.opt.Changed()
	notify.Poke(m.answered) // what was answered while the link was down

	var all sync.WaitGroup
	for name, work := range map[string]func(context.Context, *link){"items": m.items, "sessions": m.listSessions, "calls": m.listCalls, "answers": m.send, "drafts": m.sendDrafts} {
		all.Add(1)
		recovery.Go(name+" of another machine", func() {
			defer all.Done()
			defer cancel()
			work(ctx, l)
		})
	}
	all.Wait()
	s.Close()
	<-l.lost
	return l.why(nil)
}

// rest waits, and reports whether the link is still of use.
func rest(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// items shows what waits.
func (m *Mirror) items(ctx context.Context, l *link) {
	got := make(chan *wire.Items)
	recovery.Go("items of another machine", func() {
		defer close(got)
		var known wire.Since
		for {
			r, err := l.ask(ctx, wire.Request{Items: &known})
			if err != nil || r.Items == nil {
				return
			}
			known.Version = &r.Items.Version
			select {
			case got <- r.Items:
			case <-ctx.Done():
				return
			}
			if !rest(ctx, itemsPause) {
				return
			}
		}
	})
	var held <-chan time.Time
	for {
		select {
		case in, ok := <-got:
			if !ok {
				return
			}
			m.mu.Lock()
			m.last = in
			m.mu.Unlock()
		case <-held:
		case <-m.again:
		}
		if held = nil; m.take() {
			held = time.After(heldPause)
		}
	}
}

// listSessions keeps the list of sessions.
func (m *Mirror) listSessions(ctx context.Context, l *link) {
	var known wire.Since
	for {
		r, err := l.ask(ctx, wire.Request{Sessions: &known})
		if err != nil || r.Sessions == nil {
			return
		}
		known.Version = &r.Sessions.Version
		m.takeSessions(r.Sessions)
		if !rest(ctx, sessionsPause) {
			return
		}
	}
}

// skewed is by how much two machines' clocks may differ without being corrected: a message takes
// its time.
const skewed = 2 * time.Second

func (m *Mirror) takeSessions(in *wire.Sessions) {
	ahead := time.Since(in.Now)
	if ahead.Abs() < skewed {
		ahead = 0
	}
	at := func(t time.Time) time.Time {
		if t.IsZero() {
			return t
		}
		return t.Add(ahead)
	}
	all := in.Sessions[:min(len(in.Sessions), mostSessions)]
	for i := range all {
		s := &all[i]
		s.Machine, s.PID, s.Transcript = m.opt.Name, 0, ""
		s.Place = snapshot.Place{Tmux: s.Place.Tmux}
		s.Door.Warning, s.Next.Note = sanitize.Line(s.Door.Warning), sanitize.Line(s.Next.Note)
		s.Since, s.Started = at(s.Since), at(s.Started)
		if s.Connection != "" {
			s.Connection = m.peer(s.Connection)
		}
	}
	m.mu.Lock()
	m.sessions, m.spent = all, in.Spent
	m.mu.Unlock()
	m.opt.Changed()
}

// peer is what a connection of the host is called here.
func (m *Mirror) peer(key string) string { return m.opt.Name + " " + key }

// take shows the items of the last list that are new, and ends those that are not there any more. It returns true
// if there was no room for some.
func (m *Mirror) take() (held bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	in := m.last
	if in == nil {
		return false
	}
	open := map[string]bool{}
	for i := range in.Open {
		it := &in.Open[i]
		key := wire.KeyOf(it.Asked)
		open[key] = true
		e := m.entries[key]
		switch {
		case e != nil && (e.send != nil || e.taken): // its answer is on the way
		case it.Gone:
			if e != nil && e.call != nil {
				e.call.Leave(it.Why)
				e.call = nil
			}
		case e == nil || e.call == nil && e.refused < mostRefused:
			if errors.Is(m.open(it, key), errNoRoom) {
				held = true
			}
		case e.call != nil:
			m.lent(e, it)
			e.update(it)
		}
	}
	for key, e := range m.entries {
		if !open[key] && e.send == nil {
			m.end(e)
		}
	}
	return held
}

var errNoRoom = errors.New("the queue is full")

// open shows an item. What the user answered before this deck was started again is taken at once.
func (m *Mirror) open(it *wire.Item, key string) error {
	e := m.entries[key]
	first := e == nil
	if first {
		e = &entry{key: key}
		asked, err := it.Read()
		if err != nil {
			e.refused = mostRefused
			m.entries[key] = e
			return err
		}
		e.asked = asked
	}
	if m.shown() >= mostShown {
		return errNoRoom
	}
	r := m.request(e, it)
	var err error
	if first {
		e.call, err = m.opt.Queue.Resume(r.ResumeKey, r.Owner, r.Peer)
	}
	if !first || err != nil {
		e.call, err = m.opt.Queue.Open(r)
	}
	if err != nil {
		e.call = nil
		if wrong := new(ask.Error); errors.As(err, &wrong) && wrong.Code == ask.ErrBusy.Code {
			return errNoRoom
		}
		return err
	}
	m.entries[key] = e
	m.lent(e, it)
	e.told = *it
	call := e.call
	recovery.Go("item of another machine", func() { m.wait(e, call) })
	return nil
}

// shown is how many items wait in the queue. One that was answered takes no place there, even while it is not known
// what became of the answer.
func (m *Mirror) shown() (n int) {
	for _, e := range m.entries {
		if e.call != nil && e.send == nil && !e.taken {
			n++
		}
	}
	return n
}

// request is an item as this deck's queue has it.
func (m *Mirror) request(e *entry, it *wire.Item) ask.Request {
	a := &e.asked
	r := ask.Request{
		Questions: a.Questions, Title: a.Title, ResumeKey: e.key, Owner: "machine " + m.opt.Host, Waited: max(it.Age, 0), ClientDeadline: it.Left,
		From: ask.From{Client: a.Client, Agent: a.Agent, Session: a.Session, Cwd: a.Folder},
		Peer: ask.Peer{Host: m.opt.Name, Machine: a.Via, Cwd: a.Folder, Key: m.peer(it.Peer)},
	}
	if a.Seen {
		r.Peer.Program = a.Client
	}
	if a.Prompt != nil {
		p := *a.Prompt
		p.Door, p.Unconfirmed, p.Unwatched = it.Door, it.Unconfirmed, it.Unwatched
		r.Prompt = &p
	}
	return r
}

// update tells the queue what has changed of an item.
func (e *entry) update(it *wire.Item) {
	if it.Door == ask.InTerminal && !e.let {
		e.let = true
		e.let = e.call.LetGo()
	}
	if it.Unconfirmed && !e.told.Unconfirmed {
		e.call.Doubted()
	}
	if it.Unwatched != e.told.Unwatched {
		e.call.Watched(!it.Unwatched)
	}
	e.told = *it
}
