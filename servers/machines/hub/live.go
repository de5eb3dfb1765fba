package hub

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// Some requests are for a host that is awake, and the hub keeps nothing of them: prompts to its
// sessions, that the user is at an item or hands it over, and what it tells of its calls. They are the hub's own requests, which it passes on.

// live is such a request.
type live struct {
	Request *wire.Request `json:"request,omitempty"` // nil: asks for Fresh
	Fresh   string        `json:"fresh,omitempty"`   // of a prompt: what the host has given out for it
}

// alive is what a host says to it.
type alive struct {
	Reply *wire.Reply `json:"reply,omitempty"` // nil: there is nothing new
	Fresh string      `json:"fresh,omitempty"`
}

const (
	// liveWait is how long a host waits for what is new, liveWithin how long a deck does for the host.
	liveWait   = 15 * time.Second
	liveWithin = 20 * time.Second
	// mostLive is how many requests a host has under way.
	mostLive = 64
	// freshFor is how long a prompt may be on its way. The hub could send it on at any time else, and again.
	freshFor = 30 * time.Second
)

func liveOf(host, deck string) string { return "q." + host + "." + deck }

// replyTo is the place for which the reply to a message is sealed, so it is of no use for another.
func replyTo(subject string, message []byte) string { return subject + "." + digest(message) }

// takeLive takes a request of a deck, if there is a place.
func (h *HostSide) takeLive(m *nats.Msg) {
	select {
	case h.places <- struct{}{}:
		recovery.Go("request over a hub", func() {
			defer func() { <-h.places }()
			h.replyLive(m)
		})
	default: // the deck asks again
	}
}

func (h *HostSide) replyLive(m *nats.Msg) {
	ctx, cancel := context.WithTimeout(h.life, liveWait)
	defer cancel()
	for _, deck := range h.decks.all() {
		if liveOf(h.Name, deck.Name) != m.Subject {
			continue
		}
		var q live
		if h.keys.open(m.Subject, m.Data, deck.Sign, &q) != nil {
			break
		}
		reply := func(a alive) ([]byte, error) { return h.keys.seal(replyTo(m.Subject, m.Data), a, deck) }
		b, err := reply(h.told(ctx, deck.Name, &q))
		if len(b) > mostMessage*3/4 {
			b, err = reply(alive{Reply: &wire.Reply{Error: "it is too large for a hub"}})
		}
		if err == nil {
			_ = m.Respond(b) // the deck asks again
		}
		return
	}
	h.drop()
}

// told is what this host says to a request of a deck that may answer.
func (h *HostSide) told(ctx context.Context, deck string, q *live) alive {
	switch r := q.Request; {
	case r == nil:
		return alive{Fresh: h.freshen(deck)}
	case r.Prompt != nil && !h.isFresh(deck, q.Fresh):
		return alive{Reply: &wire.Reply{Prompt: &wire.Outcome{Why: "it came too late, and was not sent"}}}
	case r.Draft == nil && r.Hand == nil && r.Prompt == nil && r.Calls == nil && r.Log == nil && r.Body == nil && r.Picture == nil:
		return alive{Reply: &wire.Reply{Error: wire.Unsupported}} // else the hub could repeat what the user has said
	}
	reply := h.host.Reply(ctx, q.Request)
	if q.Request.Calls != nil && reply.Calls == nil && reply.Error == "" {
		return alive{}
	}
	return alive{Reply: &reply}
}

// fresh is what one prompt of a deck needs to be taken.
type fresh struct {
	is    string
	until time.Time
}

func (h *HostSide) freshen(deck string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fresh[deck] = fresh{rand.Text(), time.Now().Add(freshFor)}
	return h.fresh[deck].is
}

func (h *HostSide) isFresh(deck, is string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	f, given := h.fresh[deck]
	delete(h.fresh, deck)
	return given && f.is == is && time.Now().Before(f.until)
}

// live has the host itself reply. A request for calls waits until there are some.
func (f *farHost) live(ctx context.Context, req *wire.Request) wire.Reply {
	q := live{Request: req}
	if req.Prompt != nil {
		f.prompting.Lock() // the host gives out one of these at a time
		defer f.prompting.Unlock()
		r, err := f.askLive(ctx, &live{})
		if err != nil {
			return wire.Reply{Prompt: &wire.Outcome{Why: "nothing was sent: " + err.Error()}}
		}
		q.Fresh = r.Fresh
	}
	for {
		r, err := f.askLive(ctx, &q)
		switch {
		case err == nil && r.Reply != nil:
			return *r.Reply
		case req.Calls == nil && err == nil:
			return wire.Reply{Error: "it says nothing"}
		case req.Calls == nil:
			return wire.Reply{Error: err.Error()}
		case err == nil:
			continue
		}
		if sleep(ctx, 5*time.Second); ctx.Err() != nil {
			return wire.Reply{}
		}
	}
}

func (f *farHost) askLive(ctx context.Context, q *live) (r alive, err error) {
	subject := liveOf(f.is.Name, f.Name)
	b, err := f.keys.seal(subject, q, f.is)
	if err != nil {
		return r, err
	}
	m, err := f.exchange(ctx, liveWithin, subject, b)
	if errors.Is(err, nats.ErrNoResponders) {
		return r, errors.New("it is away, or its mcpdeck is too old for this")
	}
	if err != nil {
		return r, err
	}
	if err := f.keys.open(replyTo(subject, b), m.Data, f.is.Sign, &r); err != nil {
		f.drop()
		return r, fmt.Errorf("read a reply: %w", err)
	}
	return r, nil
}

// isLive reports whether a subject is of a live request.
func isLive(subject string) bool { return strings.HasPrefix(subject, "q.") }
