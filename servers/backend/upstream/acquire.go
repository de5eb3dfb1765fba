package upstream

import (
	"context"
	"fmt"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
)

const startingEvery = 5 * time.Second // between notes to the waiting agent

// waiter is a request that waits for a child, and then works with it.
type waiter struct {
	card    *Card
	from    From
	told    *child.Steps // told how long the start takes; nil if nobody is
	arrived time.Time

	slot     *slot  // held by the request: its child is not ended for being idle, and not given up if it is lost before the request has it
	child    *link  // nil until there is one
	worksFor string // what it was started to work with
	heard    bool   // the request saw the child start, and returns the error if that fails
	wakes    bool   // start the child if necessary

	patience *time.Timer
	still    *time.Ticker
}

// reach finds the child that serves the request and starts it if necessary. check returns an
// error if the request cannot be answered at all; it is called again after each change. The
// caller must call release afterwards, also after an error.
func (w *waiter) reach(ctx context.Context, check func(*Published) error) error {
	defer w.stop()
	for w.child, w.heard = nil, false; ; {
		now := w.card.Published()
		if err := check(now); err != nil {
			return err
		}
		if err := w.look(ctx); err != nil || w.child != nil {
			return err
		}
		if w.wakes {
			changed, err := w.wake(ctx)
			if err != nil {
				return err
			}
			if changed {
				continue
			}
		}
		if err := w.wait(ctx, now); err != nil {
			return err
		}
	}
}

// stop ends the clocks of the wait.
func (w *waiter) stop() {
	if w.patience != nil {
		w.patience.Stop()
		w.still.Stop()
		w.patience = nil
	}
}

// release ends what reach began.
func (w *waiter) release() {
	if w.slot != nil {
		w.card.mu.Lock()
		w.slot.held--
		w.slot.used = time.Now()
		w.card.mu.Unlock()
	}
}

// look finds the slot and its child, if there is one. An error is final: it says why there
// is no child.
func (w *waiter) look(ctx context.Context) error {
	c := w.card
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := ctx.Err(); err != nil { // the agent may be gone: start nothing for it
		return err
	}
	f := w.from
	if now, known := c.wanted[f.Agent]; known {
		f.Root = now.Root // the agent may have moved after it made the request, or while the card was off
	}
	s, taken := c.slotFor(f)
	c.moved(f)
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
			w.child, w.worksFor = s.child, s.found.For
		}
	case Connecting, Lost:
		w.heard = true
	case LinkFailed:
		if w.heard && c.opts.OnDemand {
			return &refusal{c.opts.notStarted(s.fault)}
		}
		w.wakes, w.heard = c.opts.OnDemand, true
	default:
		w.wakes = c.opts.OnDemand
	}
	return nil
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
				w.told.Note(fmt.Sprintf("starting %s (%d s)", o.Title, int(time.Since(w.arrived).Seconds())))
			}
		case <-w.patience.C:
			return &refusal{o.lost("")}
		case <-ctx.Done():
			return ctx.Err()
		}
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
