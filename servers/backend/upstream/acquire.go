package upstream

import (
	"context"
	"fmt"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
)

const startingEvery = 5 * time.Second // between notes to the waiting agent

// reach finds the child that serves f and starts it if necessary. check returns an error if
// the request cannot be answered at all; it is called again after each change. told reports
// how long the start takes. If err is nil, the caller holds the slot until it calls leave:
// the child is not ended for being idle, and is restarted if it ends unexpectedly.
func (c *Card) reach(ctx context.Context, f From, told *child.Steps, check func(*Published) error) (*slot, *link, error) {
	w := &waiter{card: c, from: f, began: time.Now(), told: told}
	defer w.end()
	for {
		now := c.Published()
		if err := check(now); err != nil {
			return nil, nil, err
		}
		l, err := w.look(ctx)
		switch {
		case err != nil:
			return nil, nil, err
		case l != nil:
			s := w.slot
			w.slot = nil // released by the caller
			return s, l, nil
		case w.wakes:
			changed, err := w.wake(ctx)
			if err != nil {
				return nil, nil, err
			}
			if changed {
				continue
			}
		}
		if err := w.wait(ctx, now); err != nil {
			return nil, nil, err
		}
	}
}

// leave ends what [Card.reach] began.
func (c *Card) leave(s *slot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.held--
	s.used = time.Now()
}

// waiter is a request that waits for a child.
type waiter struct {
	card  *Card
	from  From
	slot  *slot // held by the request
	told  *child.Steps
	began time.Time
	heard bool // it saw the child start, and returns the error if that fails
	wakes bool // start the child if necessary

	patience *time.Timer
	still    *time.Ticker
}

// look finds the slot and its child, if there is one. An error is final: it says why there
// is no child.
func (w *waiter) look(ctx context.Context) (*link, error) {
	c := w.card
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := ctx.Err(); err != nil { // the agent may be gone: start nothing for it
		return nil, err
	}
	s, taken := c.slotFor(w.from)
	if taken {
		c.warm()
	}
	if s != w.slot {
		if w.slot != nil {
			w.slot.held--
		}
		w.slot, w.heard = s, false
		s.held++
	}
	w.wakes = false
	switch s.link {
	case LinkReady:
		select {
		case <-s.child.Done(): // the child is ending
		default:
			return s.child, nil
		}
	case Connecting, Lost:
		w.heard = true
	case LinkFailed:
		if w.heard && c.opts.OnDemand {
			return nil, &refusal{c.opts.notStarted(s.fault)}
		}
		w.wakes, w.heard = c.opts.OnDemand, true
	default:
		w.wakes = c.opts.OnDemand
	}
	return nil, nil
}

// wait waits until now is out of date.
func (w *waiter) wait(ctx context.Context, now *Published) error {
	o := &w.card.opts
	if w.patience == nil {
		w.patience, w.still = time.NewTimer(w.card.opts.patience()), time.NewTicker(startingEvery)
		if o.OnDemand {
			w.told.Note("starting " + o.Title)
		}
	}
	for {
		select {
		case <-now.changed:
			return nil
		case <-w.still.C:
			if o.OnDemand {
				w.told.Note(fmt.Sprintf("starting %s (%d s)", o.Title, int(time.Since(w.began).Seconds())))
			}
		case <-w.patience.C:
			return &refusal{o.lost("")}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (w *waiter) end() {
	if w.patience != nil {
		w.patience.Stop()
		w.still.Stop()
	}
	if w.slot != nil {
		w.card.leave(w.slot)
	}
}

// wake starts the program for a request, unless it is running, is being started, or has
// failed too often. It reports whether that changed anything. It returns an error if there
// is no room for another child.
func (w *waiter) wake(ctx context.Context) (changed bool, err error) {
	c, s := w.card, w.slot
	c.update(func() {
		if c.mode != On || c.life.Err() != nil || ctx.Err() != nil || c.slots[s.key] != s || s.child != nil || s.link == Connecting || s.link == Lost {
			return
		}
		changed = true
		if s.attempts >= maxFailures {
			s.link = LinkFailed
			return
		}
		spare, full := c.full(c.subscribed)
		switch {
		case full && spare == nil:
			changed, err = false, &refusal{c.opts.crowded(maxChildren)}
			return
		case full:
			spare.log.Note("ended, to make room for another agent's")
			c.drop(spare)
		}
		c.connect(s)
	})
	return changed, err
}
