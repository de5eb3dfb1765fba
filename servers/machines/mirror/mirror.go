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
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
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
	Queue   *ask.Queue
	Changed func() // is told when the state or the sessions differ
	Called  func() // is told when the calls differ; may be nil
	Version string // of the program
	// Awake says of a link that outlives the machine's sleep whether the machine is awake, and since
	// when; nil: the link tells.
	Awake func() (awake bool, since time.Time)
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

	again   chan struct{} // of one slot: what is shown may differ from the last list of items
	look    chan struct{} // of one slot: whether somebody watches the calls has changed
	watched atomic.Bool

	mu       sync.Mutex
	linked   sync.Cond // link or over has changed
	over     bool      // no link will be made any more
	state    State
	decks    []wire.Deck       // that may answer there
	entries  map[string]*entry // by key
	last     *wire.Items
	link     *link         // nil: the machine is away
	lost     *time.Timer   // tells of that after a while; nil if it was never linked, nor tried
	ahead    time.Duration // by how much this machine's clock is ahead
	sessions []snapshot.Session
	read     map[[2]string]time.Time // by agent and ID of a session: the end of which turn the user has seen here
	spent    float64
	calls    calls
}

// entry is an item of the host.
type entry struct {
	key     string
	asked   wire.Asked
	bad     bool      // it cannot be shown
	opened  bool      // it was shown before
	call    *ask.Call // nil: it is not shown
	decided bool      // here, and the host is to know
	taken   bool      // the host has the user's answer
	refused int       // how often the host did not take it, on this link
	let     bool      // it was let go there
	told    wire.Item // of it what the queue was told last

	draft   []byte    // that the host was sent last; of the goroutine that sends drafts, as the next
	drafted time.Time // when
}

// waits reports whether the item waits in the queue. One that was answered takes no place there, even while it is not known
// what became of the answer.
func (e *entry) waits() bool { return e.call != nil && !e.decided && !e.taken }

// notYet is why a machine is not linked that no attempt was made to reach.
const notYet = "connecting, which may take 20 s"

// New returns a mirror that has not begun.
func New(o Options) *Mirror {
	public, _ := o.Key.Public().(ed25519.PublicKey) // it is always one
	if o.Called == nil {
		o.Called = func() {}
	}
	m := &Mirror{
		opt: o, key: public, again: make(chan struct{}, 1), look: make(chan struct{}, 1), entries: map[string]*entry{}, read: map[[2]string]time.Time{},
		state: State{Name: o.Name, Since: time.Now(), Why: notYet},
	}
	m.linked.L = &m.mu
	return m
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
		if !slices.Contains(m.opt.Decks, d.Fingerprint) && !m.own(d.Fingerprint) {
			s.Unknown = append(s.Unknown, sanitize.Line(d.String()))
		}
	}
	s.Items = m.shown()
	return s
}

// Run keeps a link to the machine until ctx ends.
func (m *Mirror) Run(ctx context.Context) {
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.over = true
		m.found()
		m.linked.Broadcast()
	}()
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
		_ = process.Pause(ctx, pause+rand.N(pause/4)) // many machines do not come at once
		pause = min(2*pause, mostPause)
	}
}

// leave takes what is shown of the machine from the queue.
func (m *Mirror) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, e := range m.entries {
		if e.call != nil {
			e.call.Gone(errRemoved.Error())
		}
		delete(m.entries, key)
	}
}

// next waits for a link other than one that is of no use; nil once there will be none.
func (m *Mirror) next(old *link) *link {
	m.mu.Lock()
	defer m.mu.Unlock()
	for !m.over && (m.link == nil || m.link == old) {
		m.linked.Wait()
	}
	if m.over {
		return nil
	}
	return m.link
}

// found ends the wait of away.
func (m *Mirror) found() {
	if m.lost != nil {
		m.lost.Stop()
	}
}

func (m *Mirror) away(err error) {
	m.mu.Lock()
	if m.state.Linked || m.state.Why == notYet {
		m.state.Since = time.Now()
		m.lost = time.AfterFunc(lostFor, func() {
			defer recovery.Recover("machine that is away")
			m.opt.Changed()
		})
	}
	m.state.Linked, m.state.Why, m.link = false, err.Error(), nil
	m.mu.Unlock()
	m.opt.Changed()
	m.opt.Called() // nobody knows what runs there
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
	context.AfterFunc(ctx, l.close)
	context.AfterFunc(l.lost, cancel)
	m.mu.Lock()
	m.found()
	m.state.Linked, m.state.Since, m.state.Why = true, time.Now(), ""
	m.state.Program, m.state.Answers = l.welcome.Program, l.welcome.Answers
	m.decks, m.link = l.welcome.Decks, l
	for _, e := range m.entries {
		e.refused = 0
	}
	m.linked.Broadcast()
	m.mu.Unlock()
	m.opt.Changed()

	var all sync.WaitGroup
	for name, work := range map[string]func(context.Context, *link){"items": m.listItems, "places": m.show, "sessions": m.listSessions, "calls": m.listCalls, "drafts": m.sendDrafts} {
		all.Add(1)
		recovery.Go(name+" of another machine", func() {
			defer all.Done()
			defer cancel()
			work(ctx, l)
		})
	}
	all.Wait()
	<-l.lost.Done()
	return context.Cause(l.lost)
}

// listItems keeps the list of what waits.
func (m *Mirror) listItems(ctx context.Context, l *link) {
	l.each(ctx, itemsPause, func(known *wire.Since) wire.Request { return wire.Request{Items: known} }, func(r *wire.Reply) *uint64 {
		if r.Items == nil {
			return nil
		}
		m.mu.Lock()
		m.last = r.Items
		m.mu.Unlock()
		notify.Poke(m.again)
		return &r.Items.Version
	})
}

// show shows what waits.
func (m *Mirror) show(ctx context.Context, _ *link) {
	var held <-chan time.Time
	for {
		select {
		case <-m.again:
		case <-held:
		case <-ctx.Done():
			return
		}
		if held = nil; m.take() {
			held = time.After(heldPause)
		}
	}
}

// listSessions keeps the list of sessions.
func (m *Mirror) listSessions(ctx context.Context, l *link) {
	l.each(ctx, sessionsPause, func(known *wire.Since) wire.Request { return wire.Request{Sessions: known} }, func(r *wire.Reply) *uint64 {
		if r.Sessions == nil {
			return nil
		}
		m.takeSessions(r.Sessions)
		return &r.Sessions.Version
	})
}

// skewed is by how much two machines' clocks may differ without being corrected: a message takes
// its time.
const skewed = 2 * time.Second

// heard corrects by how much this machine's clock is ahead, after the host has said what time it is. It stays as it is for
// less than [skewed]: else what began there would begin anew with each list.
func (m *Mirror) heard(now time.Time) {
	if ahead := time.Since(now); (ahead - m.ahead).Abs() >= skewed {
		m.ahead = ahead
	}
}

// here is a time of the host by this machine's clock.
func (m *Mirror) here(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(m.ahead)
}

func (m *Mirror) takeSessions(in *wire.Sessions) {
	m.mu.Lock()
	m.heard(in.Now)
	m.sessions, m.spent = in.Sessions[:min(len(in.Sessions), mostSessions)], in.Spent
	for i := range m.sessions {
		s := &m.sessions[i]
		s.Machine, s.PID, s.Transcript = m.opt.Name, 0, ""
		s.Place = snapshot.Place{Tmux: s.Place.Tmux}
		s.Door.Warning, s.Next.Note = sanitize.Line(s.Door.Warning), sanitize.Line(s.Next.Note)
		s.Since, s.Started = m.here(s.Since), m.here(s.Started)
		s.Unread = s.Unread && !s.Since.Equal(m.read[[2]string{s.Agent, s.ID}])
		if s.Connection != "" {
			s.Connection = m.peer(s.Connection)
		}
	}
	m.mu.Unlock()
	m.opt.Changed()
}

// markRead notes that the user has seen what a session said at the end of its last turn, and reports whether there was
// something to see.
func (m *Mirror) markRead(agent, id string) (unread bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.sessions {
		if s := &m.sessions[i]; s.Agent == agent && s.ID == id && s.Unread {
			s.Unread, unread = false, true
			m.read[[2]string{agent, id}] = s.Since
		}
	}
	return unread
}

// peer is what a connection of the host is called here.
func (m *Mirror) peer(key string) string { return m.opt.Name + " " + key }

// take shows the items of the last list that are new, and ends those that are not there any more. It returns true
// if there was no room for some.
func (m *Mirror) take() (held bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last == nil {
		return false
	}
	open := map[string]bool{}
	for i := range m.last.Open {
		it := &m.last.Open[i]
		key := wire.KeyOf(it.Asked)
		open[key] = true
		e := m.entries[key]
		if e == nil {
			asked, err := it.Read()
			e = &entry{key: key, asked: asked, bad: err != nil}
			m.entries[key] = e
		}
		switch {
		case e.bad, e.decided, e.taken:
		case it.Gone && e.call != nil:
			e.call.Leave(it.Why)
			e.call = nil
		case it.Gone:
		case e.call != nil:
			m.update(e, it)
		case e.refused < mostRefused:
			held = !m.open(e, it) || held
		}
	}
	for key, e := range m.entries {
		if !open[key] && !e.decided {
			m.end(e)
		}
	}
	return held
}

// open shows an item, unless there is no room for it. What the user answered before this deck was started again is taken at
// once.
func (m *Mirror) open(e *entry, it *wire.Item) bool {
	if m.shown() >= mostShown {
		return false
	}
	r := m.request(e, it)
	var call *ask.Call
	err := error(ask.ErrUnknownKey)
	if !e.opened {
		call, err = m.opt.Queue.Resume(r.ResumeKey, r.Owner, r.Peer)
	}
	if err != nil {
		call, err = m.opt.Queue.Open(r)
	}
	if err != nil {
		return false
	}
	e.opened, e.call, e.told = true, call, wire.Item{}
	m.update(e, it)
	recovery.Go("item of another machine", func() { m.wait(e, call) })
	return true
}

// shown is how many items wait in the queue.
func (m *Mirror) shown() (n int) {
	for _, e := range m.entries {
		if e.waits() {
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
func (m *Mirror) update(e *entry, it *wire.Item) {
	if it.Door == ask.InTerminal && !e.let {
		e.let = e.call.LetGo()
	}
	if it.Unconfirmed && !e.told.Unconfirmed {
		e.call.Doubted()
	}
	if it.Unwatched != e.told.Unwatched {
		e.call.Watched(!it.Unwatched)
	}
	e.call.Away(it.Absent)
	m.lent(e, it)
	e.told = *it
}
