package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// backoff returns how long to wait before each attempt to restart the child.
func backoff(attempt int) (d time.Duration, ok bool) {
	waits := [...]time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}
	if attempt >= len(waits) {
		return 0, false
	}
	return waits[attempt], true
}

// Toggle turns the card on if it is off, and off if it is on or turning on.
func (c *Card) Toggle() {
	c.update(func() {
		c.trying = 0
		if c.mode == Off {
			c.switchOn()
		} else {
			c.switchOff()
		}
	})
}

// On turns the card on. It returns at once; the tools are offered when the child is ready.
func (c *Card) On() {
	c.update(func() {
		c.trying = 0
		c.switchOn()
	})
}

// Off turns the card off. Calls that have reached the child continue.
func (c *Card) Off() {
	c.update(func() {
		c.trying = 0
		c.switchOff()
	})
}

// Reconnect ends the child and starts a new one. While the card is on, the tools stay until
// it is known what the new child offers.
func (c *Card) Reconnect() {
	c.update(func() {
		if c.life.Err() != nil {
			return
		}
		for _, s := range c.all() {
			if s != c.main {
				c.drop(s)
			}
		}
		c.main.attempts, c.trying, c.lostAt, c.failedAt = 0, 0, time.Time{}, time.Time{}
		c.faults.last, c.faults.inRow = Fault{}, 0
		c.main.reconnect = true
		c.connect(c.main)
	})
}

// Dismiss clears the sign of the last failure.
func (c *Card) Dismiss() { c.update(func() { c.failedAt = time.Time{} }) }

// Settle waits until the card is on or off, no attempt to connect is in progress, and the
// callbacks were called.
func (c *Card) Settle(ctx context.Context) error {
	for {
		c.mu.Lock()
		now := c.now.Load()
		settled := c.mode != TurningOn && c.main.link != Connecting && c.main.link != Lost
		c.mu.Unlock()
		next := now.changed
		if settled {
			next = now.told
		}
		select {
		case <-next:
			if settled {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *Card) switchOn() {
	if c.mode != Off || c.life.Err() != nil {
		return
	}
	c.failedAt, c.lostAt = time.Time{}, time.Time{}
	c.main.attempts, c.faults.inRow = 0, 0
	if c.main.link == LinkReady || c.opts.OnDemand && c.offer != nil {
		c.mode, c.listed = On, c.offer
		if c.main.link == LinkFailed {
			c.main.link = NoLink
		}
		c.warm()
		return
	}
	c.mode = TurningOn
	if c.main.link != Connecting {
		c.connect(c.main)
	}
}

func (c *Card) switchOff() {
	if c.mode == Off {
		return
	}
	c.mode, c.listed, c.lostAt = Off, nil, time.Time{}
	c.refusal = c.opts.Texts.Off
	for _, s := range c.all() {
		s.queue.Clear(&refusal{c.refusal})
		if s.link != LinkReady {
			c.drop(s)
		}
	}
	c.lingerFrom(time.Now())
}

// fail turns the card off because of text or, if it is already off, only records text.
func (c *Card) fail(text string) {
	text = c.log.Clean(text)
	if c.mode == On {
		c.refusal = c.opts.Texts.Failed
		c.main.queue.Clear(&refusal{c.refusal})
	}
	if c.mode != Off {
		c.failedAt = time.Now()
		at := c.failedAt
		switch {
		case !c.opts.OnDemand:
			c.after(failureShown, func() {
				if c.failedAt.Equal(at) {
					c.failedAt = time.Time{}
				}
			})
		case c.trying > 0:
			c.after(min(retryFirst<<min(c.trying-1, 8), retrySeldom), func() {
				if c.trying > 0 && c.failedAt.Equal(at) {
					c.trying++
					c.switchOn()
				}
			})
		}
	}
	if c.opts.OnDemand {
		c.refusal = c.opts.needsUser(text)
	}
	c.mode, c.listed, c.main.link, c.lostAt = Off, nil, LinkFailed, time.Time{}
	c.faults.remember(text)
	if warn := c.events.Warn; c.trying <= 1 && warn != nil {
		c.work.spawn("warning", func() { warn(text) })
	}
}

// lingerFrom keeps the children for a while after the card was turned off.
func (c *Card) lingerFrom(at time.Time) {
	c.offAt = at
	var check func()
	check = func() {
		if c.mode != Off || !c.offAt.Equal(at) {
			return
		}
		again := false
		for _, s := range c.all() {
			switch {
			case s.child == nil:
			case s.child.Busy.Load() > 0:
				again = true
			default:
				c.drop(s)
			}
		}
		if again {
			c.after(busyAgain, check)
		}
	}
	c.after(c.opts.Limits.Keep, check)
}

// attached handles the outcome of an attempt. It reports whether the child is kept.
func (c *Card) attached(s *slot, epoch int, a attempt) bool {
	if epoch != s.epoch || c.life.Err() != nil {
		return false
	}
	s.found, s.cancel = a.found, nil
	asked := s.reconnect
	s.reconnect = false
	if a.err != nil { // it may be what the server wrote
		a.err = errors.New(c.log.Clean(a.err.Error()))
	}
	switch {
	case a.err != nil && c.opts.OnDemand && c.mode == On:
		s.stumble(a.err.Error())
		c.faults.inRow++
		s.link = LinkFailed
		c.faults.remember(a.err.Error())
		return false
	case a.err != nil:
		c.offer = nil
		if c.mode == On && !asked {
			c.lose(a.err.Error())
		} else {
			c.fail(a.err.Error())
		}
		return false
	}
	c.era, s.link, c.lostAt = a.child.Era(), LinkReady, time.Time{}
	c.adopt(a)
	c.opts.Hooks.Ready()
	s.log.Note(fmt.Sprintf("ready: %s, %s %s, protocol %s", humanize.Count(len(a.offer.Tools), "tool"), a.child.Server, a.child.Version, a.child.Protocol))
	c.warnOfHeld()
	if c.mode == TurningOn {
		c.mode, c.trying, s.attempts = On, 0, 0
		c.faults.recovered()
	}
	if c.mode == On {
		c.listed = c.offer
	}
	if c.settled(s) || c.mode == On && s == c.main && s.held == 0 && !c.opts.serves() && !c.opts.Warm {
		s.link = NoLink // another child serves, or this one was only to list the tools
		return false
	}
	s.child, s.used = a.child, time.Now()
	s.tellRoot(&c.opts)
	if c.mode == Off {
		c.lingerFrom(time.Now())
	}
	c.watchIdle(s, a.child, c.idle(s))
	c.after(stableAfter, func() {
		if s.child == a.child {
			s.attempts = 0
			c.faults.recovered()
		}
	})
	c.work.spawn("what agents want", func() { c.heed(s, a.child) })
	c.work.spawn("child watch", func() { c.watchChild(s, a.child) })
	return true
}

// warnOfHeld tells the user that there are held definitions to accept.
func (c *Card) warnOfHeld() {
	n, warn := len(c.offer.Verdict.Held), c.events.Warn
	if n == 0 || warn == nil {
		return
	}
	text := fmt.Sprintf("%s: %s new or changed, hidden until accepted. Review and accept %s.", c.opts.Title, humanize.Count(n, "definition"), c.opts.Texts.Accept)
	c.work.spawn("warning", func() { warn(text) })
}

// childGone handles the unexpected end of the child of a slot.
func (c *Card) childGone(s *slot, child *link) {
	if s.child != child {
		return
	}
	s.child = nil
	s.epoch++
	text := c.opts.Title + " connection lost: " + child.Why()
	if c.mode == Off {
		s.link = NoLink
		c.faults.remember(text)
		return
	}
	if time.Since(child.Ready) >= stableAfter {
		s.attempts = 0
		c.faults.recovered()
	}
	if c.opts.OnDemand {
		s.stumble(text)
		c.faults.inRow++
		s.link = NoLink
		c.faults.remember(text)
		if s.held > int(child.Busy.Load()) || c.subscribed(s) || c.opts.Warm && s == c.main {
			c.restart(s)
		}
		return
	}
	c.lose(text)
}

// maxFailures is how many times in a row an on-demand program may fail, or end early, before
// only the user can start it again.
const maxFailures = 5

// recall offers the accepted definitions while no program is running.
func (c *Card) recall() {
	if !c.opts.OnDemand {
		return
	}
	l, v, err := c.pins.Recall()
	if err != nil {
		c.log.Note(err.Error())
	}
	if l.Empty() {
		return
	}
	offer := catalogue.New(l, v, c.opts.Catalogue)
	era := cmp.Or(c.opts.Era, c.remembered())
	fault := LastFault(c.opts.Fault)
	c.update(func() {
		if c.faults.last.Text == "" {
			c.faults.last, c.faults.open = Fault{fault.Time, sanitize.Line(fault.Text)}, fault.Text != ""
		}
		c.offer, c.era = offer, era
	})
}

// remembered returns the server's most recent era, if known.
func (c *Card) remembered() child.Era {
	if !c.opts.OnDemand {
		return ""
	}
	era, err := c.pins.Era()
	if err != nil {
		c.log.Note(err.Error())
	}
	return child.Era(era)
}

// lose schedules the next attempt, or gives up.
func (c *Card) lose(text string) {
	s := c.main
	wait, ok := backoff(s.attempts)
	if !ok {
		c.fail(c.opts.Title + " failed: " + text + ". Press r to reconnect.")
		return
	}
	c.faults.remember(text)
	s.attempts++
	s.link = Lost
	if c.lostAt.IsZero() {
		c.lostAt = time.Now()
		at := c.lostAt
		c.after(c.opts.Limits.Withdraw, func() {
			if c.lostAt.Equal(at) && c.mode == On {
				c.listed = nil
				s.queue.Clear(&refusal{c.opts.lost("")})
			}
		})
	}
	s.epoch++
	epoch := s.epoch
	c.after(wait, func() {
		if s.epoch == epoch && c.mode == On {
			c.restarts++
			c.connect(s)
		}
	})
}
