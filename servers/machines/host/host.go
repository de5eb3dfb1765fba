// Package host serves what a deck holds to the decks of other machines.
//
// It stands between the deck's queue and list of sessions, which it reads as a screen does, and
// [wire]. It answers an item for a user only if a deck that this machine has learned of signed that.
package host

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Options are what a [Host] serves.
type Options struct {
	Queue    *ask.Queue
	Sessions Sessions
	Prompts  Prompts // nil: sessions take none
	Calls    Calls   // nil: none are told of
	Decks    Decks
	Version  string // of the program
}

// Sessions is the list of agents' sessions on this machine.
type Sessions interface {
	Sessions() []snapshot.Session
	Spent() float64
	Hints() (<-chan struct{}, func())
}

// Prompts sends to sessions what the user types; *reply.Outbox is one.
type Prompts interface {
	Send(agent, id, text string) error
	TakeBack(agent, id string) string
}

// Decks are those that may answer.
type Decks interface {
	// Host is what this machine calls itself in what decks sign.
	Host() (string, error)
	All() []wire.Deck
	// Find returns the one with a key.
	Find(ed25519.PublicKey) (wire.Deck, bool)
}

// Host serves any number of decks. Its methods are safe for concurrent use.
type Host struct {
	opt Options
	run string // see wire.Welcome

	mu    sync.Mutex
	given map[string][]byte // by item: the signature of the answer or prompt that was taken
	order []string          // the items in given, oldest first

	links atomic.Int64
}

// New returns a host.
func New(o Options) *Host { return &Host{opt: o, run: rand.Text(), given: map[string][]byte{}} }

// Links is how many decks are linked.
func (h *Host) Links() int { return int(h.links.Load()) }

const (
	// keptGiven is how many answers are known again.
	keptGiven = 256
	// keptEnded is how many items are told of that have ended.
	keptEnded = 64
)

// Serve serves one deck until the stream or ctx ends.
func (h *Host) Serve(ctx context.Context, r io.Reader, w io.Writer) error {
	h.links.Add(1)
	defer h.links.Add(-1)
	frames := wire.NewFrames(r, w)
	if err := h.greet(frames); err != nil {
		return err
	}
	return frames.Serve(ctx, h.Reply)
}

func (h *Host) greet(frames *wire.Frames) error {
	var req wire.Request
	conn, err := frames.Read(&req)
	if err != nil {
		return err
	}
	var reply wire.Reply
	switch {
	case req.Hello == nil:
		reply.Error = "the first request must be a hello"
	case !slices.Contains(req.Hello.Versions, wire.Version):
		reply.Error = fmt.Sprintf("mcpdeck %s there and %s here speak different protocols; update the older one", h.opt.Version, req.Hello.Program)
	default:
		reply = h.welcome(req.Hello.Key)
	}
	if err = frames.Write(conn, reply, true); reply.Error != "" {
		err = fmt.Errorf("refuse a deck: %s", reply.Error)
	}
	return err
}

func (h *Host) welcome(key ed25519.PublicKey) wire.Reply {
	name, err := h.opt.Decks.Host()
	if err != nil {
		return wire.Reply{Error: err.Error()}
	}
	_, answers := h.opt.Decks.Find(key)
	return wire.Reply{Hello: &wire.Welcome{Version: wire.Version, Program: h.opt.Version, Host: name, Run: h.run, Answers: answers, Decks: h.opt.Decks.All()}}
}

// Reply answers a request. One for what has another version waits for that, or for the end of ctx.
func (h *Host) Reply(ctx context.Context, req *wire.Request) (r wire.Reply) {
	switch {
	case req.Hello != nil:
		return h.welcome(req.Hello.Key)
	case req.Items != nil:
		r.Items = h.items(ctx, req.Items.Version)
	case req.Sessions != nil:
		r.Sessions = h.sessions(ctx, req.Sessions.Version)
	case req.Answer != nil:
		r.Answer = h.answer(req.Answer)
	case req.Draft != nil:
		r.Draft = h.draft(req.Draft)
	case req.Hand != nil:
		r.Hand = h.hand(req.Hand)
	case req.Prompt != nil && h.opt.Prompts != nil:
		r.Prompt = h.prompt(req.Prompt)
	case h.opt.Calls != nil:
		return h.callsReply(ctx, req)
	default:
		r.Error = wire.Unsupported
	}
	return r
}

// next returns what look finds, which it does again after each hint until there is something; nil after the end of ctx.
func next[T any](ctx context.Context, subscribe func() (<-chan struct{}, func()), look func() *T) *T {
	hints, stop := subscribe()
	defer stop()
	for {
		if found := look(); found != nil {
			return found
		}
		select {
		case <-hints:
		case <-ctx.Done():
			return nil
		}
	}
}

// items returns what waits once that has another version.
func (h *Host) items(ctx context.Context, known *uint64) *wire.Items {
	return next(ctx, h.opt.Queue.Hints, func() *wire.Items {
		s := h.opt.Queue.Pending()
		if known != nil && s.Version == *known {
			return nil
		}
		out := itemsOf(s)
		out.Decks = h.opt.Decks.All()
		return out
	})
}

// What is told of items at once, in bytes: a frame has no room for all that a queue can hold. The rest is told once
// older ones have ended.
const (
	mostAsked = 8 << 20
	mostDraft = 2 << 20
)

func itemsOf(s *ask.Snapshot) *wire.Items {
	out := &wire.Items{Version: s.Version}
	told, asked, drafts := map[int]wire.Item{}, 0, 0
	for _, it := range slices.SortedFunc(slices.Values(s.Items), func(a, b ask.Item) int { return cmp.Compare(a.ID, b.ID) }) {
		if it.Request.Peer.Host != "" { // it is another machine's
			continue
		}
		item, err := itemOf(&it)
		if err != nil {
			continue
		}
		if asked += len(item.Asked); asked > mostAsked {
			break // also those after it, else one that is told would have to make room
		}
		if drafts += len(item.Draft); drafts > mostDraft {
			item.Draft = nil
		}
		told[it.ID] = item
	}
	for i := range s.Items {
		if item, ok := told[s.Items[i].ID]; ok {
			out.Open = append(out.Open, item)
		}
	}
	for i := max(0, len(s.History)-keptEnded); i < len(s.History); i++ {
		r := &s.History[i]
		if r.Request.Peer.Host == "" {
			answered := r.Reply.Status != "" && r.Reply.Status != ask.TimedOut
			out.Ended = append(out.Ended, wire.Ended{ID: r.ID, Arrived: r.Arrived.UnixNano(), Delivery: r.Delivery, How: r.How, Answered: answered, By: r.Reply.By, Said: r.Said()})
		}
	}
	return out
}

func itemOf(it *ask.Item) (wire.Item, error) {
	r := &it.Request
	out := wire.Item{
		Peer: r.Peer.Key, Gone: it.Absent == ask.Gone, Why: it.Why, Age: time.Since(it.Arrived),
		Draft: wire.DraftJSON(it.Draft.At(ask.Draft{})), LentBy: it.LentBy, At: slices.Clone(it.At), Handed: it.Handed,
	}
	if it.Absent != ask.Gone {
		out.Absent = it.Absent
	}
	if it.LentBy == "" && it.Draft.Begun() {
		out.At = append(out.At, "")
	}
	if !it.Client.IsZero() {
		out.Left = max(time.Until(it.Client), time.Second)
	}
	a := wire.Asked{
		ID: it.ID, Arrived: it.Arrived.UnixNano(), Title: r.Title, Client: r.Client(), Agent: r.From.Agent, Session: r.From.Session,
		Folder: r.Cwd(), Via: r.Via(), Seen: r.Verified(), Questions: r.Questions,
	}
	if r.Prompt != nil {
		p := *r.Prompt
		out.Door, out.Unconfirmed, out.Unwatched = p.Door, p.Unconfirmed, p.Unwatched
		p.Door, p.Unconfirmed, p.Unwatched = "", false, false
		a.Prompt = &p
	}
	var err error
	out.Asked, err = json.Marshal(a)
	return out, err
}

// sessions returns the list once it has changed.
func (h *Host) sessions(ctx context.Context, known *uint64) *wire.Sessions {
	return next(ctx, h.opt.Sessions.Hints, func() *wire.Sessions {
		out := &wire.Sessions{Spent: h.opt.Sessions.Spent()}
		for _, s := range h.opt.Sessions.Sessions() {
			if s.Hidden == "" {
				out.Sessions = append(out.Sessions, s)
			}
		}
		sum := fnv.New64a()
		_ = json.NewEncoder(sum).Encode(out) // hash writers do not fail
		out.Version, out.Now = sum.Sum64(), time.Now()
		if known != nil && out.Version == *known {
			return nil
		}
		return out
	})
}

// opened returns what a deck has signed for this machine, and the user in that deck, if it may answer.
func opened[T any](h *Host, a *wire.Answer, open func(*wire.Answer, string) (T, error)) (v T, user ask.Afar, err error) {
	name, err := h.opt.Decks.Host()
	if err != nil {
		return v, user, err
	}
	deck, known := h.opt.Decks.Find(a.Key)
	if !known {
		return v, user, errors.New("this machine takes no answers of this deck; run mcpdeck remote add again")
	}
	v, err = open(a, name)
	return v, ask.Afar{Queue: h.opt.Queue, Deck: deck.String()}, err
}

// answer gives a deck's answer to the queue, if it may answer.
func (h *Host) answer(a *wire.Answer) *wire.Outcome {
	d, user, err := opened(h, a, (*wire.Answer).Open)
	if err != nil {
		return &wire.Outcome{Why: err.Error(), Open: true}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if sign, ok := h.given[a.Item]; ok {
		if string(sign) == string(a.Sign) { // sent again, because the link was lost
			return &wire.Outcome{Taken: true}
		}
		return &wire.Outcome{Other: true, Why: "answered by another deck"}
	}
	it := h.find(a.Item)
	switch {
	case it == nil:
		return &wire.Outcome{Other: true}
	case it.State == ask.Sending:
		return &wire.Outcome{Other: true, Why: "answered at its machine"}
	}
	switch {
	case d.Release:
		err = h.opt.Queue.Release(it.ID)
	case d.Decline:
		err = user.Decline(it.ID, d.Reason)
	default:
		err = user.Answer(it.ID, d.Results)
	}
	if err != nil {
		return &wire.Outcome{Why: err.Error(), Open: true}
	}
	if !d.Release {
		h.given[a.Item] = a.Sign
		if h.order = append(h.order, a.Item); len(h.order) > keptGiven {
			delete(h.given, h.order[0])
			h.order = h.order[1:]
		}
	}
	return &wire.Outcome{Taken: true}
}

// draft shows here what the user enters in a deck that may answer.
func (h *Host) draft(a *wire.Answer) *wire.Outcome {
	d, user, err := opened(h, a, (*wire.Answer).OpenDraft)
	it := h.find(a.Item)
	switch {
	case err != nil:
	case it == nil:
		err = ask.ErrGone
	default:
		user.Draft(it.ID, d)
	}
	return outcome(err)
}

// hand gives an item to a deck that may answer, or to this one, by the word of another one.
func (h *Host) hand(a *wire.Answer) *wire.Outcome {
	to, user, err := opened(h, a, (*wire.Answer).OpenHand)
	it := h.find(a.Item)
	switch {
	case err != nil:
	case it == nil:
		err = ask.ErrGone
	case !to.Here() && to != nil && !slices.ContainsFunc(h.opt.Decks.All(), func(d wire.Deck) bool { return d.String() == to.To }):
		err = errors.New("that deck may not answer there")
	default:
		err = user.Hand(it.ID, to)
	}
	return outcome(err)
}

// outcome says that something was done, or why not.
func outcome(err error) *wire.Outcome {
	if err != nil {
		return &wire.Outcome{Why: err.Error()}
	}
	return &wire.Outcome{Taken: true}
}

// prompt sends a prompt of a deck that may answer to its session, once.
func (h *Host) prompt(a *wire.Answer) *wire.Outcome {
	p, _, err := opened(h, a, (*wire.Answer).OpenPrompt)
	h.mu.Lock()
	defer h.mu.Unlock()
	_, again := h.given[a.Item]
	switch {
	case err != nil:
		return outcome(err)
	case again:
		return outcome(errors.New("it was sent before"))
	case !a.OfRun(h.run):
		return outcome(errors.New("its deck was started anew meanwhile: nothing was sent"))
	}
	h.given[a.Item] = a.Sign // for good: nothing else tells one that comes again
	if p.Back {
		return &wire.Outcome{Taken: true, Text: h.opt.Prompts.TakeBack(p.Agent, p.Session)}
	}
	return outcome(h.opt.Prompts.Send(p.Agent, p.Session, p.Text))
}

// find returns an open item by its key, nil if there is none.
func (h *Host) find(key string) *ask.Item {
	s := h.opt.Queue.Pending()
	for i := range s.Items {
		it := &s.Items[i]
		if item, err := itemOf(it); err == nil && it.Request.Peer.Host == "" && wire.KeyOf(item.Asked) == key {
			return it
		}
	}
	return nil
}
