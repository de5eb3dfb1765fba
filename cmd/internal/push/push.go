// Package push tells the user's phone what waits while nobody is at the deck.
package push

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

const (
	// backFor is how long after the deck's start an agent that asked before may take to ask
	// again, so that what was pushed is not withdrawn before.
	backFor    = 65 * time.Second
	sendWithin = 10 * time.Second // a request to a server, or a run of a command
	firstPause = time.Second
	maxPause   = 5 * time.Minute
	maxKept    = 1 << 20
)

// Note is one thing that waits for the user.
type Note struct {
	Key         string // the same after a restart
	Item        int    // its number in the deck
	Since       time.Time
	Title, Text string
}

// Event is what a push says. The JSON is what a webhook and a command get.
type Event struct {
	V     int       `json:"v"`
	Kind  string    `json:"event"`
	ID    string    `json:"id"` // of the push, the same in all its events
	Item  int       `json:"item,omitempty"`
	Since time.Time `json:"since,omitzero"`
	Title string    `json:"title,omitempty"`
	Text  string    `json:"text,omitempty"`
	Code  string    `json:"code,omitempty"` // answers this item from a shell
}

// The kinds of events.
const (
	Waiting   = "waiting"
	Reminder  = "reminder"
	Withdrawn = "withdrawn"
	Test      = "test"
)

// Sender sends events to where the user is told.
type Sender interface {
	Send(ctx context.Context, e Event) error
	// Secret reports why a code may not go this way; nil if it may.
	Secret(ctx context.Context) error
	// Secrets are what must not be shown.
	Secrets() []string
}

// Options say what is pushed where.
type Options struct {
	Sender Sender
	Path   string                // the file that keeps what was pushed
	Notes  func() []Note         // what waits now
	Hint   <-chan struct{}       // Notes may differ
	After  time.Duration         // how long something waits before it is pushed
	Away   time.Duration         // how long nothing shows that the user is there
	Again  time.Duration         // how long until a reminder; 0: there is none
	Code   func(item int) string // makes the code of an item; nil: none is sent
	Warn   func(texts ...string) // shows what is the matter now, in place of what was
}

// mark is what is known of a push. It is written before the push goes out, so that one that a
// crash interrupted counts as sent: it is lost rather than sent twice, until the reminder.
type mark struct {
	ID   string    `json:"id"`
	Item int       `json:"item"`
	At   time.Time `json:"at"`
}

// Pusher pushes what waits. Here may be called from any goroutine.
type Pusher struct {
	opt     Options
	here    atomic.Int64 // when the user was last seen, in ns
	started time.Time
	marks   map[string]mark
	seen    map[string]bool // keys of marks that have waited in this run
	failing string          // what is shown to be the matter; "" if nothing is
	secret  *error          // whether codes may be sent; nil while that is not known
	pause   time.Duration
	until   time.Time // when to try again
}

// New returns a Pusher that knows what the last run pushed. An error says that this cannot be
// read; the Pusher then begins anew.
func New(o Options) (*Pusher, error) {
	p := &Pusher{opt: o, started: time.Now(), seen: map[string]bool{}}
	b, err := file.Read(o.Path, maxKept)
	if err == nil {
		err = json.Unmarshal(b, &p.marks)
	}
	if p.marks == nil || err != nil {
		p.marks = map[string]mark{}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return p, fmt.Errorf("read which notifications were sent: %w; some may be sent again", err)
	}
	return p, nil
}

// Here notes a sign of the user at the deck at a time.
func (p *Pusher) Here(at time.Time) {
	if ns := at.UnixNano(); !at.IsZero() && ns > p.here.Load() {
		p.here.Store(ns)
	}
}

// Run pushes until ctx is over.
func (p *Pusher) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.opt.Hint:
		case <-timer.C:
		}
		if next := p.round(ctx); next > 0 {
			timer.Reset(next)
		}
	}
}

// round sends what is due, and returns when to look again; 0: when there is a hint.
func (p *Pusher) round(ctx context.Context) time.Duration {
	notes := p.opt.Notes()
	waits := map[string]bool{}
	for _, n := range notes {
		waits[n.Key] = true
		if _, ok := p.marks[n.Key]; ok {
			p.seen[n.Key] = true
		}
	}
	var next []time.Time // times at which to look again
	if wait := time.Until(p.until); wait > 0 {
		return wait
	}
	for key, m := range p.marks {
		if back := p.started.Add(backFor); !waits[key] && !p.seen[key] && time.Now().Before(back) {
			next = append(next, back)
		} else if !waits[key] && !p.withdraw(ctx, key, m) {
			return time.Until(p.until)
		}
	}
	for _, n := range notes {
		at := p.due(n)
		if !at.IsZero() && !at.After(time.Now()) {
			if !p.push(ctx, n) {
				return time.Until(p.until)
			}
			at = p.due(n)
		}
		if !at.IsZero() {
			next = append(next, at)
		}
	}
	if len(next) == 0 {
		return 0
	}
	return max(time.Until(slices.MinFunc(next, time.Time.Compare)), time.Millisecond)
}

// due is when a note is to be pushed, if nothing shows that the user is there; zero: never.
func (p *Pusher) due(n Note) time.Time {
	at := n.Since.Add(p.opt.After)
	if m, ok := p.marks[n.Key]; ok {
		if p.opt.Again <= 0 {
			return time.Time{}
		}
		at = m.At.Add(p.opt.Again)
	}
	if here := p.here.Load(); here > 0 {
		if away := time.Unix(0, here).Add(p.opt.Away); away.After(at) {
			return away
		}
	}
	return at
}

// push sends a note, for the first time or again.
func (p *Pusher) push(ctx context.Context, n Note) bool {
	before := maps.Clone(p.marks)
	old, again := p.marks[n.Key]
	m := mark{ID: old.ID, Item: n.Item, At: time.Now()}
	e := Event{V: 1, Kind: Reminder, Item: n.Item, Since: n.Since, Title: n.Title, Text: n.Text}
	if !again {
		e.Kind, m.ID = Waiting, strings.ToLower(rand.Text())
	}
	e.ID, e.Code = m.ID, p.code(ctx, n.Item)
	p.marks[n.Key] = m
	if err := p.keep(); err != nil { // it could be sent again and again
		p.marks = before
		return p.sent(err)
	}
	p.seen[n.Key] = true
	err := p.opt.Sender.Send(ctx, e)
	if err != nil && ctx.Err() != nil { // the deck ends; it may have gone out
		return false
	}
	if err != nil {
		p.marks = before
		err = errors.Join(err, p.keep())
	}
	return p.sent(err)
}

// withdraw takes back the push of what waits no longer.
func (p *Pusher) withdraw(ctx context.Context, key string, m mark) bool {
	err := p.opt.Sender.Send(ctx, Event{V: 1, Kind: Withdrawn, ID: m.ID, Item: m.Item})
	if refused := new(RefusedError); errors.As(err, &refused) && refused.lasting() {
		err = nil // its server keeps no messages, or has forgotten this one
	}
	if err == nil {
		delete(p.marks, key)
		delete(p.seen, key)
		err = p.keep()
	}
	return p.sent(err)
}

// sent notes how a push went and shows what is the matter, and returns whether the next may follow.
func (p *Pusher) sent(err error) bool {
	var texts []string
	if err != nil {
		p.pause = min(max(p.pause*2, firstPause), maxPause)
		if refused := new(RefusedError); errors.As(err, &refused) {
			p.pause = max(p.pause, min(refused.After, maxPause))
		}
		p.until = time.Now().Add(p.pause)
		texts = append(texts, "notifications are not reaching your phone: "+err.Error()+"; they are kept and retried")
	} else {
		p.pause = 0
	}
	if p.secret != nil && *p.secret != nil {
		texts = append(texts, "codes are not sent: "+(*p.secret).Error())
	}
	if now := strings.Join(texts, "\n"); now != p.failing {
		p.failing = now
		p.opt.Warn(texts...)
	}
	return err == nil
}

// code makes the code for an item, if one may be sent.
func (p *Pusher) code(ctx context.Context, item int) string {
	if p.opt.Code == nil {
		return ""
	}
	if p.secret == nil {
		err := p.opt.Sender.Secret(ctx)
		if temporary := new(UnknownError); errors.As(err, &temporary) {
			return "" // looked at again with the next one
		}
		p.secret = &err
	}
	if *p.secret != nil {
		return ""
	}
	return p.opt.Code(item)
}

func (p *Pusher) keep() error {
	b, err := json.Marshal(p.marks)
	if err == nil {
		err = file.Write(p.opt.Path, b, file.Options{})
	}
	if err != nil {
		return fmt.Errorf("keep which were sent: %w", err)
	}
	return nil
}
