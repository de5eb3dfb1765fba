package ask

import (
	"cmp"
	"crypto/rand"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
)

// Limits of the queue.
const (
	maxOpen       = 100            // requests waiting for an answer
	maxPerPeer    = 20             // of these, of one process
	keepParked    = 24 * time.Hour // an answer nobody has fetched
	keepAbandoned = 30 * time.Minute
	// How long an absent asker counts as waiting.
	backAfterRestart = 65 * time.Second // askers retry for a minute
	backAfterPending = 10 * time.Minute // the agent was told to call ask_wait at once
	keepDrafts       = 7 * 24 * time.Hour
	keepNotes        = 24 * time.Hour
	freshParked      = 15 * time.Minute // auto-delivery of a parked answer
	urgent           = time.Minute      // a deadline that is this close comes first
	minTimeout       = time.Minute
	maxTimeout       = 24 * time.Hour
	graceAfterKey    = time.Minute // a timeout waits this long after the last key
	historyLength    = 200
	defaultSnooze    = 10 * time.Minute
	maxAbandoned     = 100
	defaultHoldFor   = 2 * time.Second
)

// Options configures a [Queue].
type Options struct {
	// Timeout, if not 0, replaces the timeout that the asker requests.
	Timeout time.Duration
	// Hold is how long an answer can be undone after sending; 0: 2 s, negative: not at all.
	Hold time.Duration
	// AllowHold is how long a permission that was given can be undone; 0: not at all.
	AllowHold time.Duration
	// Snooze is the default duration for which a request is snoozed; 0: 10 min.
	Snooze time.Duration
	// DeadlineFirst orders requests whose client gives up within a minute first, and those
	// whose agent's terminal shows nothing.
	DeadlineFirst bool
	// AutoDeliverParked sends a parked answer that is at most 15 minutes old at once when
	// the same agent asks the same question again.
	AutoDeliverParked bool

	StateFile   string // drafts, parked answers, waiting requests; "" keeps them in memory
	HistoryFile string // "" keeps the history in memory
	// Past is what rules are learned from; nil: the history. It is kept where there is a file of the history.
	Past *Past
	// Redact is what the history leaves out of prompts of agents' programs.
	Redact redact.Rules
	Log    *slog.Logger
}

// Queue holds the requests that wait for the user. Its methods are safe for concurrent
// use and never block on a screen, a client or a disk.
type Queue struct {
	opt   Options
	log   *slog.Logger
	store *store

	mu       sync.Mutex
	items    []*item // by arrival
	parked   []parked
	drafts   []savedDraft
	history  history
	nextID   int
	snoozes  int // counts up, to order snoozed requests
	onScreen int // id of the request being looked at, 0 for none
	closed   bool
	version  uint64
	snap     *Snapshot // of version; nil when it must be made
	timer    *time.Timer
	hints    notify.Feed
	notices  []string
	decks    []string // to which requests of this machine may be handed
}

// State is the state of an open request.
type State string

// The states of an open request.
const (
	Queued  State = "queued"
	Shown   State = "shown" // has been on screen
	Snoozed State = "snoozed"
	Sending State = "sending" // sent by the user, held back so that it can be undone
)

// Absence is the reason why nobody is waiting for the answer to an open request.
type Absence string

// The reasons why nobody is waiting. Askers are expected back after HandedOver and
// Restarted.
const (
	Present    Absence = ""
	HandedOver Absence = "handed over" // the call ended in time; the agent fetches the answer with ask_wait
	Gone       Absence = "gone"        // the asker hung up or withdrew
	Restarted  Absence = "restarted"   // the deck was restarted; the asker may come back
)

// ownedKey is a key under which an earlier attempt at a request may be resumed.
type ownedKey struct {
	Key   string `json:"key"`
	Owner string `json:"owner"`
}

type item struct {
	id       int
	keys     []ownedKey
	req      Request
	print    string
	state    State
	absent   Absence
	why      string  // the reason of the absence, from the asker or ours
	away     Absence // of an asker on another machine that is expected back there
	note     string  // about earlier attempts, shown in the header
	arrived  time.Time
	left     time.Time // when absent began
	deadline time.Time // our timeout; zero: none
	client   time.Time // when the asker's client gives up; zero: unknown
	lastKey  time.Time
	draft    Draft
	lentBy   string               // where the draft was entered, if not here: "on build1"
	changed  bool                 // the draft has come from there since the screen gave one
	at       map[string]time.Time // who is at it on other machines, and until when; zero: until that is taken back
	anyway   bool                 // the user was told of all of these
	handed   *Handed
	handing  bool     // the machine that asks was not told of that yet
	decks    []string // of another machine's: to which it may be handed
	sendAt   time.Time
	snooze   time.Time
	snoozeNo int
	calls    []*Call // those that wait; none while absent
	asks     string  // digest of the questions
	peerLeft bool    // the connection or the process that asked has ended
	loaded   bool    // loaded from an earlier run, whose connections are closed
	unsent   bool    // the deck ended while the answer was held back
	parkedAt time.Time
	rule     *ByRule // that has answered
}

// New returns a queue with the state that the last run saved in opt's files.
func New(opt Options) *Queue {
	q := &Queue{opt: opt, log: opt.Log, nextID: 1}
	if q.log == nil {
		q.log = slog.New(slog.DiscardHandler)
	}
	q.store = newStore(&opt, q.log, q.saved)
	q.history = history{redact: opt.Redact, store: q.store}
	q.load()
	return q
}

// Configure replaces the options that may change while the queue is in use: its times, its
// order, and what it sends by itself.
func (q *Queue) Configure(opt Options) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.opt.Timeout, q.opt.Hold, q.opt.AllowHold, q.opt.Snooze = opt.Timeout, opt.Hold, opt.AllowHold, opt.Snooze
	q.opt.DeadlineFirst, q.opt.AutoDeliverParked = opt.DeadlineFirst, opt.AutoDeliverParked
	q.changed(false)
}

// Open adds a request to the queue. The caller then waits for [Call.Done] or calls
// [Call.Leave]. The error is an [*Error].
func (q *Queue) Open(req Request) (*Call, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	req.Timeout = q.opt.timeout(req.Timeout)
	if q.closed {
		return nil, ErrShutdown
	}
	print := req.Fingerprint()
	if it := q.known(&req, print); it != nil {
		q.attach(it, req)
		return q.wait(it, req), nil
	}
	if err := q.full(&req); err != nil {
		return nil, err
	}
	prune(q)
	it := q.add(req, print)
	call := q.wait(it, req) // recall may answer it at once
	q.recall(it)
	if p := req.permission(); p != nil && p.Refused != nil {
		q.history.refused(it)
	}
	q.changed(true)
	return call, nil
}

// Resume waits again for a request that the same owner opened with this key. The owner
// is now behind peer; the zero Peer keeps the one known. If the request was answered
// meanwhile, the call is done at once. The error is an [*Error].
func (q *Queue) Resume(key, owner string, peer Peer) (*Call, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return nil, ErrShutdown
	}
	match := func(r *Request, older []ownedKey) bool {
		return key != "" && (r.ResumeKey == key && r.Owner == owner || slices.Contains(older, ownedKey{key, owner}))
	}
	for _, it := range q.items {
		if match(&it.req, it.keys) {
			req := it.req
			req.ResumeKey, req.Owner = key, owner
			if peer != (Peer{}) {
				req.Peer = peer
			}
			q.attach(it, req)
			return q.wait(it, req), nil
		}
	}
	prune(q)
	for i, p := range q.parked {
		if match(&p.Request, p.Keys) {
			if p.Request.here() { // once
				q.parked = slices.Delete(q.parked, i, i+1)
				q.changed(true)
			}
			c := &Call{q: q, id: p.ID, done: make(chan struct{}), released: make(chan struct{})}
			r := p.Reply
			r.Questions = p.Request.Questions
			c.finish(r, nil)
			return c, nil
		}
	}
	return nil, ErrUnknownKey
}

// timeout is how long a request waits that is to wait so long.
func (o *Options) timeout(want time.Duration) time.Duration {
	if o.Timeout > 0 {
		want = o.Timeout
	}
	if want <= 0 {
		return 0
	}
	return min(max(want, minTimeout), maxTimeout)
}

// full returns which limit another request from a peer would exceed.
func (q *Queue) full(req *Request) error {
	open, same := 0, 0
	key := req.peerKey()
	for _, it := range q.items {
		if it.absent == Gone {
			continue
		}
		open++
		if key != "" && it.req.peerKey() == key {
			same++
		}
	}
	switch {
	case same >= maxPerPeer:
		return ErrBusyPeer
	case open >= maxOpen:
		return ErrBusy
	}
	return nil
}

func (q *Queue) add(req Request, print string) *item {
	now := time.Now()
	it := &item{id: q.nextID, req: req, print: print, state: Queued, arrived: now.Add(-req.Waited), draft: NewDraft(req.Questions), asks: req.asks()}
	q.nextID++
	it.setTimes(req, now)
	q.items = append(q.items, it)
	return it
}

func (it *item) setTimes(req Request, now time.Time) {
	it.deadline, it.client = time.Time{}, time.Time{}
	if req.Timeout > 0 {
		it.deadline = now.Add(req.Timeout)
	}
	if req.ClientDeadline > 0 {
		it.client = now.Add(req.ClientDeadline)
	}
}

// prune drops expired answers and drafts.
func prune(q *Queue) {
	now := time.Now()
	q.parked = slices.DeleteFunc(q.parked, func(p parked) bool { return now.Sub(p.At) > keepParked })
	q.drafts = slices.DeleteFunc(q.drafts, func(d savedDraft) bool {
		return now.Sub(d.At) > keepDrafts || d.Note && now.Sub(d.At) > keepNotes
	})
}

func (q *Queue) find(id int) *item {
	for _, it := range q.items {
		if it.id == id {
			return it
		}
	}
	return nil
}

func (q *Queue) remove(it *item) {
	q.items = slices.DeleteFunc(q.items, func(o *item) bool { return o == it })
	if q.onScreen == it.id {
		q.onScreen = 0
	}
}

// urgent reports whether its client gives up within a minute, or the agent's terminal
// shows nothing for as long as it waits here.
func (it *item) urgent() bool {
	if p := it.req.Prompt; p != nil && p.Door == Held {
		return true
	}
	return !it.client.IsZero() && time.Until(it.client) < urgent
}

// ordered returns the items in display order: waiting ones by arrival, then snoozed
// ones, then those that nobody is waiting for.
func (q *Queue) ordered() []*item {
	rank := func(it *item) int {
		switch {
		case it.absent == Gone:
			return 3
		case it.state == Snoozed:
			return 2
		case q.opt.DeadlineFirst && it.urgent():
			return 0
		}
		return 1
	}
	out := slices.Clone(q.items)
	slices.SortStableFunc(out, func(a, b *item) int {
		ra, rb := rank(a), rank(b)
		if ra == 2 && rb == 2 {
			return cmp.Compare(a.snoozeNo, b.snoozeNo)
		}
		return cmp.Compare(ra, rb)
	})
	return out
}

// Hints returns a channel with a buffer of one that receives a value when
// [Queue.Pending] has changed, and a function to unsubscribe.
func (q *Queue) Hints() (<-chan struct{}, func()) { return q.hints.Subscribe() }

// Save writes the state file again, in case it was deleted.
func (q *Queue) Save() { q.store.save() }

// changed starts a new version. save marks the state file as out of date.
func (q *Queue) changed(save bool) {
	q.version++
	q.snap = nil
	q.hints.Send()
	if save {
		q.store.save()
	}
	q.wake()
}

// wake sets the timer for the next timed event.
func (q *Queue) wake() {
	var next time.Time
	sooner := func(at time.Time) {
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	for _, it := range q.items {
		sooner(it.next())
		for _, until := range it.at {
			sooner(until)
		}
	}
	for _, u := range q.history.unseen {
		sooner(u.at)
	}
	if q.timer != nil {
		q.timer.Stop()
	}
	if next.IsZero() || q.closed {
		return
	}
	q.timer = time.AfterFunc(max(time.Until(next), 0), func() {
		defer recovery.Recover("ask timer")
		q.tick()
	})
}

// NewKey returns a random resume key.
func NewKey() string { return rand.Text() }
