package card

import (
	"context"
	"fmt"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/card/child"
)

const startingEvery = 5 * time.Second // between notes to the agent that waits

// reach finds the child that serves f, and starts it if need be. check says whether the
// request can be answered at all; it is asked again whenever something has changed.
// told hears how long the start takes. Without an error the slot is held until the
// caller leaves it: its child is not ended for want of requests, and is started again
// when it ends by itself.
func (c *Card) reach(ctx context.Context, f From, told *child.Steps, check func(*moment) error) (*slot, *link, error) {
	w := &waiter{card: c, from: f, began: time.Now(), told: told}
	defer w.end()
	for {
		now := c.now.Load()
		if err := check(now); err != nil {
			return nil, nil, err
		}
		l, err := w.look(ctx)
		switch {
		case err != nil:
			return nil, nil, err
		case l != nil:
			s := w.slot
			w.slot = nil // the caller leaves it
			return s, l, nil
		case w.wakes:
			changed, err := c.wake(ctx, w.slot)
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
	slot  *slot // that it holds
	told  *child.Steps
	began time.Time
	heard bool // of a start: how it ends is its answer
	wakes bool // the child is to be started

	patience *time.Timer
	still    *time.Ticker
}

// look finds the slot, and the child if it is there. An error is why there is none, when
// that is final.
func (w *waiter) look(ctx context.Context) (*link, error) {
	c := w.card
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := ctx.Err(); err != nil { // the agent may be gone, and nothing must be started for it
		return nil, err
	}
	if s := c.slotFor(w.from); s != w.slot {
		if w.slot != nil {
			w.slot.held--
		}
		w.slot, w.heard = s, false
		s.held++
	}
	w.wakes = false
	switch s := w.slot; s.link {
	case LinkReady:
		select {
		case <-s.child.Done(): // it is just ending
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

// wait waits for a change since now.
func (w *waiter) wait(ctx context.Context, now *moment) error {
	o := &w.card.opts
	if w.patience == nil {
		w.patience, w.still = time.NewTimer(w.card.patience()), time.NewTicker(startingEvery)
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

// wake starts the program for a request, unless it runs, is being started, or has
// failed too often. It reports whether that changed anything. The error is that there
// is no room for one more.
func (c *Card) wake(ctx context.Context, s *slot) (changed bool, err error) {
	c.update(func() {
		switch {
		case c.mode != On || c.life.Err() != nil || ctx.Err() != nil || c.slots[s.key] != s:
		case s.child != nil || s.link == Connecting || s.link == Lost:
		case s.attempts >= maxFailures:
			s.link = LinkFailed
			changed = true
		case !c.room():
			err = &refusal{c.opts.crowded(maxChildren)}
		default:
			c.connect(s)
			changed = true
		}
	})
	return changed, err
}

// maxChildren is how many children a card may have. A client that makes a connection for
// every call would start as many programs.
const maxChildren = 32

// room tells whether one more child may be started. The one that was not used for the
// longest time makes room.
func (c *Card) room() bool {
	running := 0
	var oldest *slot
	for _, s := range c.all() {
		if s.child == nil && s.link != Connecting {
			continue
		}
		running++
		if s.child != nil && !s.busy() && !c.subscribed(s) && (oldest == nil || s.used.Before(oldest.used)) {
			oldest = s
		}
	}
	if running < maxChildren {
		return true
	}
	if oldest == nil {
		return false
	}
	c.log.Note(oldest.name + ": ended, to make room for another agent's")
	c.drop(oldest)
	return true
}
