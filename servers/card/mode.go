package card

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/card/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/plain"
)

// backoff is how long to wait before each attempt to start the child again.
func backoff(attempt int) (d time.Duration, ok bool) {
	waits := [...]time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}
	if attempt >= len(waits) {
		return 0, false
	}
	return waits[attempt], true
}

// Toggle switches on when off, off when on, and back to off while turning on.
func (c *Card) Toggle() {
	c.update(func() {
		if c.mode == Off {
			c.switchOn()
		} else {
			c.switchOff()
		}
	})
}

// On switches on. It returns at once; the tools come when the child is ready.
func (c *Card) On() { c.update(c.switchOn) }

// Off switches off. Calls that reached the child go on.
func (c *Card) Off() { c.update(c.switchOff) }

// Reconnect ends the child and starts it anew. While on, the tools stay until
// it is clear what the new child offers.
func (c *Card) Reconnect() {
	c.update(func() {
		if c.life.Err() != nil {
			return
		}
		c.attempts, c.lostAt, c.failedAt = 0, time.Time{}, time.Time{}
		c.lastError, c.lastErrorAt = "", time.Time{}
		c.reconnecting = true
		c.connect()
	})
}

// Dismiss takes the sign of the last failure away.
func (c *Card) Dismiss() { c.update(func() { c.failedAt = time.Time{} }) }

// Settle waits until the mode is on or off, no attempt to connect is under way,
// and agents were told.
func (c *Card) Settle(ctx context.Context) error {
	for {
		c.mu.Lock()
		now := c.now.Load()
		settled := c.mode != TurningOn && c.link != Connecting && c.link != Lost
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
	c.failedAt, c.attempts, c.lostAt = time.Time{}, 0, time.Time{}
	if c.link == LinkReady || c.opts.OnDemand && c.offer != nil {
		c.mode, c.listed = On, c.offer
		if c.link == LinkFailed {
			c.link = NoLink
		}
		return
	}
	c.mode = TurningOn
	if c.link != Connecting {
		c.connect()
	}
}

func (c *Card) switchOff() {
	if c.mode == Off {
		return
	}
	c.mode, c.listed, c.lostAt = Off, nil, time.Time{}
	c.refusal = c.opts.Texts.Off
	c.queue.Clear(&refusal{c.refusal})
	if c.link != LinkReady {
		c.closeChild()
	}
	c.lingerFrom(time.Now())
}

// fail switches off because of text, or, when off, only notes it.
func (c *Card) fail(text string) {
	if c.mode == On {
		c.refusal = c.opts.Texts.Failed
		c.queue.Clear(&refusal{c.refusal})
	}
	if c.mode != Off {
		c.failedAt = time.Now()
		at := c.failedAt
		c.after(failureShown, func() {
			if c.failedAt.Equal(at) {
				c.failedAt = time.Time{}
			}
		})
	}
	c.mode, c.listed, c.link, c.lostAt = Off, nil, LinkFailed, time.Time{}
	c.remember(text)
	c.spawn("warning", func() { c.warn(text) })
}

func (c *Card) remember(text string) {
	text = plain.Line(text)
	c.lastError, c.lastErrorAt = text, time.Now()
	c.log.Note(text)
}

// lingerFrom keeps the child for a while after the mode went off.
func (c *Card) lingerFrom(at time.Time) {
	c.offAt = at
	var check func()
	check = func() {
		switch {
		case c.mode != Off || !c.offAt.Equal(at) || c.child == nil:
		case c.child.Busy.Load() > 0:
			c.after(busyAgain, check)
		default:
			c.closeChild()
		}
	}
	c.after(c.opts.Limits.Keep, check)
}

// closeChild ends the child, or the attempt to start one, in the background.
func (c *Card) closeChild() {
	c.epoch++
	if c.cancel != nil {
		c.cancel()
		c.cancel = nil
	}
	if old := c.child; old != nil {
		c.child = nil
		c.spawn("end", old.End)
	}
	if c.link != LinkFailed {
		c.link = NoLink
	}
}

// connect replaces the child by a new one, in the background.
func (c *Card) connect() {
	old := c.child
	c.child = nil
	c.epoch++
	if c.cancel != nil {
		c.cancel()
	}
	epoch := c.epoch
	ctx, cancel := context.WithCancel(c.life)
	c.cancel, c.link = cancel, Connecting
	c.spawn("connect", func() {
		defer cancel()
		if old != nil {
			old.End()
		}
		a := c.attempt(ctx)
		kept := false
		c.update(func() { kept = c.attached(epoch, a) })
		if !kept && a.child != nil {
			a.child.End()
		}
	})
}

// attempt is what came of starting a child.
type attempt struct {
	child   *link
	listing catalogue.Listing
	verdict catalogue.Verdict
	offer   *catalogue.Catalogue
	found   Found
	err     error // a sentence for the user
}

func (c *Card) attempt(ctx context.Context) (a attempt) {
	a.found, a.err = c.opts.Hooks.Find()
	if a.err != nil {
		return a
	}
	child, list, err := c.openLink(ctx, a.found)
	if err != nil {
		a.err = fmt.Errorf("%s failed to start: %w", c.opts.server(), err)
		if a.found.Open != nil {
			a.err = fmt.Errorf("%s cannot be reached: %w", c.opts.server(), err)
		}
		return a
	}
	a.child = child
	c.inspect(&a, list)
	if a.err != nil {
		child.End()
		a.child = nil
		return a
	}
	return a
}

// inspect makes a catalogue of the child's list.
func (c *Card) inspect(a *attempt, list []json.RawMessage) {
	tools, notes := catalogue.Read(list)
	if len(tools) == 0 {
		a.err = errors.New(c.opts.server() + " offered no tools")
		return
	}
	a.listing = catalogue.Listing{Tools: tools, Notes: notes, Instructions: a.child.Instructions, Version: a.child.Version, Program: a.found.Program}
	a.verdict, a.err = c.pins.Check(a.listing)
	if a.err == nil {
		a.offer = catalogue.New(a.listing, a.verdict, c.opts.Catalogue)
	}
}

// attached takes the outcome of an attempt. It reports whether the child is
// kept.
func (c *Card) attached(epoch int, a attempt) bool {
	if epoch != c.epoch || c.life.Err() != nil {
		return false
	}
	c.found, c.cancel = a.found, nil
	asked := c.reconnecting
	c.reconnecting = false
	switch {
	case a.err != nil && c.opts.OnDemand && c.mode == On:
		c.attempts++
		c.link = LinkFailed
		c.remember(a.err.Error())
		return false
	case a.err != nil:
		c.listing, c.offer, c.verdict = catalogue.Listing{}, nil, catalogue.Verdict{}
		if c.mode == On && !asked {
			c.lose(a.err.Error())
		} else {
			c.fail(a.err.Error())
		}
		return false
	}
	c.child, c.link, c.lostAt = a.child, LinkReady, time.Time{}
	c.adopt(a)
	c.opts.Hooks.Ready()
	c.log.Note(fmt.Sprintf("ready: %d tools, %s %s, protocol %s", len(a.offer.Tools), a.child.Server, a.child.Version, a.child.Protocol))
	if n := len(c.verdict.Held); n > 0 {
		text := fmt.Sprintf("%d definitions of %s's server are new or changed and are held. Look at them and accept them %s.", n, c.opts.Title, c.opts.Texts.Accept)
		if n == 1 {
			text = fmt.Sprintf("A definition of %s's server is new or changed and is held. Look at it and accept it %s.", c.opts.Title, c.opts.Texts.Accept)
		}
		c.spawn("warning", func() { c.warn(text) })
	}
	switch c.mode {
	case On, TurningOn:
		c.mode, c.listed = On, c.offer
	case Off:
		c.lingerFrom(time.Now())
	}
	a.child.OnChange(c.relists(a.child))
	c.spawn("child watch", func() {
		<-a.child.Gone()
		c.update(func() { c.childGone(a.child) })
	})
	return true
}

func (c *Card) adopt(a attempt) {
	c.listing, c.verdict, c.offer = a.listing, a.verdict, a.offer
}

// childGone notes that the child ended by itself.
func (c *Card) childGone(child *link) {
	if c.child != child {
		return
	}
	c.child = nil
	c.epoch++
	text := c.opts.Title + " connection lost: " + child.Cause()
	if c.mode == Off {
		c.link = NoLink
		c.remember(text)
		return
	}
	if time.Since(child.Ready) >= stableAfter {
		c.attempts = 0
	}
	if c.opts.OnDemand {
		c.attempts++
		c.link = NoLink
		c.remember(text)
		return
	}
	c.lose(text)
}

// maxFailures is how often in a row a program that is started on demand may fail or
// end soon, until the user asks for it.
const maxFailures = 5

// wake starts the program for a call, unless it runs, is being started, or has failed
// too often.
func (c *Card) wake() {
	c.update(func() {
		if c.mode != On || c.life.Err() != nil || c.child != nil || c.link == Connecting {
			return
		}
		if c.attempts < maxFailures {
			c.connect()
		} else {
			c.link = LinkFailed
		}
	})
}

// recall offers what was accepted, when there is no program to ask.
func (c *Card) recall() {
	if !c.opts.OnDemand {
		return
	}
	l, v, err := c.pins.Recall()
	if err != nil {
		c.log.Note(err.Error())
	}
	if len(l.Tools) == 0 {
		return
	}
	offer := catalogue.New(l, v, c.opts.Catalogue)
	c.update(func() { c.listing, c.verdict, c.offer = l, v, offer })
}

// lose plans the next attempt, or gives up.
func (c *Card) lose(text string) {
	wait, ok := backoff(c.attempts)
	if !ok {
		c.fail(c.opts.Title + " failed: " + text + ". Press r to reconnect.")
		return
	}
	c.remember(text)
	c.attempts++
	c.link = Lost
	if c.lostAt.IsZero() {
		c.lostAt = time.Now()
		at := c.lostAt
		c.after(c.opts.Limits.Withdraw, func() {
			if c.lostAt.Equal(at) && c.mode == On {
				c.listed = nil
				c.queue.Clear(&refusal{c.opts.Texts.Lost})
			}
		})
	}
	c.epoch++
	epoch := c.epoch
	c.after(wait, func() {
		if c.epoch == epoch && c.mode == On {
			c.restarts++
			c.connect()
		}
	})
}

// relist reads the tools again after the child said that they changed.
func (c *Card) relist(child *link) {
	c.mu.Lock()
	life := c.life
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(life, c.opts.Limits.Start)
	defer cancel()
	list, err := child.ListTools(ctx)
	if err != nil {
		c.log.Note("list tools again: " + err.Error())
		return
	}
	a := attempt{child: child}
	c.mu.Lock()
	a.found = c.found
	c.mu.Unlock()
	c.inspect(&a, list)
	if a.err != nil {
		c.log.Note("list tools again: " + a.err.Error())
		return
	}
	c.update(func() {
		if c.child == child {
			c.adopt(a)
			c.relisted()
		}
	})
}

// relisted offers what is in the catalogue now, if anything is offered.
func (c *Card) relisted() {
	if c.listed != nil {
		c.listed = c.offer
	}
}

// Accept offers held tools as they were shown: one whose definition changed
// again meanwhile stays held. It returns how many are no longer held.
func (c *Card) Accept(shown []catalogue.Held) (int, error) {
	if len(shown) == 0 {
		return 0, nil
	}
	if err := c.pins.Accept(shown); err != nil {
		return 0, err
	}
	c.mu.Lock()
	l, held := c.listing, c.verdict.Held
	c.mu.Unlock()
	if len(l.Tools) == 0 {
		return len(shown), nil // without a child, they count from its next start
	}
	v, err := c.pins.Check(l)
	if err == nil && len(v.Held) == 0 && len(v.Gone) > 0 {
		err = c.pins.Forget(v.Gone)
		v.Gone = nil
	}
	if err != nil {
		return 0, err
	}
	c.update(func() {
		if len(c.listing.Tools) == 0 || &c.listing.Tools[0] != &l.Tools[0] {
			return // another child since
		}
		c.verdict = v
		c.offer = catalogue.New(c.listing, v, c.opts.Catalogue)
		c.relisted()
	})
	return len(held) - len(v.Held), nil
}
