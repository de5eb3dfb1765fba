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
func (p *Card) Toggle() {
	p.update(func() {
		if p.mode == Off {
			p.switchOn()
		} else {
			p.switchOff()
		}
	})
}

// On switches on. It returns at once; the tools come when the child is ready.
func (p *Card) On() { p.update(p.switchOn) }

// Off switches off. Calls that reached the child go on.
func (p *Card) Off() { p.update(p.switchOff) }

// Reconnect ends the child and starts it anew. While on, the tools stay until
// it is clear what the new child offers.
func (p *Card) Reconnect() {
	p.update(func() {
		if p.life.Err() != nil {
			return
		}
		p.attempts, p.lostAt, p.failedAt = 0, time.Time{}, time.Time{}
		p.lastError, p.lastErrorAt = "", time.Time{}
		p.reconnecting = true
		p.connect()
	})
}

// Dismiss takes the sign of the last failure away.
func (p *Card) Dismiss() { p.update(func() { p.failedAt = time.Time{} }) }

// Settle waits until the mode is on or off, no attempt to connect is under way,
// and agents were told.
func (p *Card) Settle(ctx context.Context) error {
	for {
		p.mu.Lock()
		now := p.now.Load()
		settled := p.mode != TurningOn && p.link != Connecting && p.link != Lost
		p.mu.Unlock()
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

func (p *Card) switchOn() {
	if p.mode != Off || p.life.Err() != nil {
		return
	}
	p.failedAt, p.attempts, p.lostAt = time.Time{}, 0, time.Time{}
	if p.link == LinkReady || p.opts.OnDemand && p.offer != nil {
		p.mode, p.listed = On, p.offer
		if p.link == LinkFailed {
			p.link = NoLink
		}
		return
	}
	p.mode = TurningOn
	if p.link != Connecting {
		p.connect()
	}
}

func (p *Card) switchOff() {
	if p.mode == Off {
		return
	}
	p.mode, p.listed, p.lostAt = Off, nil, time.Time{}
	p.refusal = p.opts.Texts.Off
	p.queue.Clear(&refusal{p.refusal})
	if p.link != LinkReady {
		p.closeChild()
	}
	p.lingerFrom(time.Now())
}

// fail switches off because of text, or, when off, only notes it.
func (p *Card) fail(text string) {
	if p.mode == On {
		p.refusal = p.opts.Texts.Failed
		p.queue.Clear(&refusal{p.refusal})
	}
	if p.mode != Off {
		p.failedAt = time.Now()
		at := p.failedAt
		p.after(failureShown, func() {
			if p.failedAt.Equal(at) {
				p.failedAt = time.Time{}
			}
		})
	}
	p.mode, p.listed, p.link, p.lostAt = Off, nil, LinkFailed, time.Time{}
	p.remember(text)
	p.spawn("warning", func() { p.warn(text) })
}

func (p *Card) remember(text string) {
	text = plain.Line(text)
	p.lastError, p.lastErrorAt = text, time.Now()
	p.log.Note(text)
}

// lingerFrom keeps the child for a while after the mode went off.
func (p *Card) lingerFrom(at time.Time) {
	p.offAt = at
	var check func()
	check = func() {
		switch {
		case p.mode != Off || !p.offAt.Equal(at) || p.child == nil:
		case p.child.Busy.Load() > 0:
			p.after(busyAgain, check)
		default:
			p.closeChild()
		}
	}
	p.after(p.opts.Limits.Keep, check)
}

// closeChild ends the child, or the attempt to start one, in the background.
func (p *Card) closeChild() {
	p.epoch++
	if p.cancel != nil {
		p.cancel()
		p.cancel = nil
	}
	if old := p.child; old != nil {
		p.child = nil
		p.spawn("end", old.End)
	}
	if p.link != LinkFailed {
		p.link = NoLink
	}
}

// connect replaces the child by a new one, in the background.
func (p *Card) connect() {
	old := p.child
	p.child = nil
	p.epoch++
	if p.cancel != nil {
		p.cancel()
	}
	epoch := p.epoch
	ctx, cancel := context.WithCancel(p.life)
	p.cancel, p.link = cancel, Connecting
	p.spawn("connect", func() {
		defer cancel()
		if old != nil {
			old.End()
		}
		a := p.attempt(ctx)
		kept := false
		p.update(func() { kept = p.attached(epoch, a) })
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

func (p *Card) attempt(ctx context.Context) (a attempt) {
	a.found, a.err = p.opts.Hooks.Find()
	if a.err != nil {
		return a
	}
	child, list, err := p.openLink(ctx, a.found)
	if err != nil {
		a.err = fmt.Errorf("%s failed to start: %w", p.opts.server(), err)
		if a.found.Open != nil {
			a.err = fmt.Errorf("%s cannot be reached: %w", p.opts.server(), err)
		}
		return a
	}
	a.child = child
	p.inspect(&a, list)
	if a.err != nil {
		child.End()
		a.child = nil
		return a
	}
	return a
}

// inspect makes a catalogue of the child's list.
func (p *Card) inspect(a *attempt, list []json.RawMessage) {
	tools, notes := catalogue.Read(list)
	if len(tools) == 0 {
		a.err = errors.New(p.opts.server() + " offered no tools")
		return
	}
	a.listing = catalogue.Listing{Tools: tools, Notes: notes, Instructions: a.child.Instructions, Version: a.child.Version, Program: a.found.Program}
	a.verdict, a.err = p.pins.Check(a.listing)
	if a.err == nil {
		a.offer = catalogue.New(a.listing, a.verdict, p.opts.Catalogue)
	}
}

// attached takes the outcome of an attempt. It reports whether the child is
// kept.
func (p *Card) attached(epoch int, a attempt) bool {
	if epoch != p.epoch || p.life.Err() != nil {
		return false
	}
	p.found, p.cancel = a.found, nil
	asked := p.reconnecting
	p.reconnecting = false
	switch {
	case a.err != nil && p.opts.OnDemand && p.mode == On:
		p.attempts++
		p.link = LinkFailed
		p.remember(a.err.Error())
		return false
	case a.err != nil:
		p.listing, p.offer, p.verdict = catalogue.Listing{}, nil, catalogue.Verdict{}
		if p.mode == On && !asked {
			p.lose(a.err.Error())
		} else {
			p.fail(a.err.Error())
		}
		return false
	}
	p.child, p.link, p.lostAt = a.child, LinkReady, time.Time{}
	p.adopt(a)
	p.opts.Hooks.Ready()
	p.log.Note(fmt.Sprintf("ready: %d tools, %s %s, protocol %s", len(a.offer.Tools), a.child.Server, a.child.Version, a.child.Protocol))
	if n := len(p.verdict.Held); n > 0 {
		text := fmt.Sprintf("%d definitions of %s's server are new or changed and are held. Look at them and accept them %s.", n, p.opts.Title, p.opts.Texts.Accept)
		if n == 1 {
			text = fmt.Sprintf("A definition of %s's server is new or changed and is held. Look at it and accept it %s.", p.opts.Title, p.opts.Texts.Accept)
		}
		p.spawn("warning", func() { p.warn(text) })
	}
	switch p.mode {
	case On, TurningOn:
		p.mode, p.listed = On, p.offer
	case Off:
		p.lingerFrom(time.Now())
	}
	a.child.OnChange(func() { p.spawn("list", func() { p.relist(a.child) }) })
	p.spawn("child watch", func() {
		<-a.child.Gone()
		p.update(func() { p.childGone(a.child) })
	})
	return true
}

func (p *Card) adopt(a attempt) {
	p.listing, p.verdict, p.offer = a.listing, a.verdict, a.offer
}

// childGone notes that the child ended by itself.
func (p *Card) childGone(child *link) {
	if p.child != child {
		return
	}
	p.child = nil
	p.epoch++
	text := p.opts.Title + " connection lost: " + child.Cause()
	if p.mode == Off {
		p.link = NoLink
		p.remember(text)
		return
	}
	if time.Since(child.Ready) >= stableAfter {
		p.attempts = 0
	}
	if p.opts.OnDemand {
		p.attempts++
		p.link = NoLink
		p.remember(text)
		return
	}
	p.lose(text)
}

// maxFailures is how often in a row a program that is started on demand may fail or
// end soon, until the user asks for it.
const maxFailures = 5

// wake starts the program for a call, unless it runs, is being started, or has failed
// too often.
func (p *Card) wake() {
	p.update(func() {
		if p.mode != On || p.life.Err() != nil || p.child != nil || p.link == Connecting {
			return
		}
		if p.attempts < maxFailures {
			p.connect()
		} else {
			p.link = LinkFailed
		}
	})
}

// recall offers what was accepted, when there is no program to ask.
func (p *Card) recall() {
	if !p.opts.OnDemand {
		return
	}
	l, v, err := p.pins.Recall()
	if err != nil {
		p.log.Note(err.Error())
	}
	if len(l.Tools) == 0 {
		return
	}
	offer := catalogue.New(l, v, p.opts.Catalogue)
	p.update(func() { p.listing, p.verdict, p.offer = l, v, offer })
}

// lose plans the next attempt, or gives up.
func (p *Card) lose(text string) {
	wait, ok := backoff(p.attempts)
	if !ok {
		p.fail(p.opts.Title + " failed: " + text + ". Press r to reconnect.")
		return
	}
	p.remember(text)
	p.attempts++
	p.link = Lost
	if p.lostAt.IsZero() {
		p.lostAt = time.Now()
		at := p.lostAt
		p.after(p.opts.Limits.Withdraw, func() {
			if p.lostAt.Equal(at) && p.mode == On {
				p.listed = nil
				p.queue.Clear(&refusal{p.opts.Texts.Lost})
			}
		})
	}
	p.epoch++
	epoch := p.epoch
	p.after(wait, func() {
		if p.epoch == epoch && p.mode == On {
			p.restarts++
			p.connect()
		}
	})
}

// relist reads the tools again after the child said that they changed.
func (p *Card) relist(child *link) {
	p.mu.Lock()
	life := p.life
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(life, p.opts.Limits.Start)
	defer cancel()
	list, err := child.ListTools(ctx)
	if err != nil {
		p.log.Note("list tools again: " + err.Error())
		return
	}
	a := attempt{child: child}
	p.mu.Lock()
	a.found = p.found
	p.mu.Unlock()
	p.inspect(&a, list)
	if a.err != nil {
		p.log.Note("list tools again: " + a.err.Error())
		return
	}
	p.update(func() {
		if p.child == child {
			p.adopt(a)
			p.relisted()
		}
	})
}

// relisted offers what is in the catalogue now, if anything is offered.
func (p *Card) relisted() {
	if p.listed != nil {
		p.listed = p.offer
	}
}

// Accept offers held tools as they were shown: one whose definition changed
// again meanwhile stays held. It returns how many are no longer held.
func (p *Card) Accept(shown []catalogue.Held) (int, error) {
	if len(shown) == 0 {
		return 0, nil
	}
	if err := p.pins.Accept(shown); err != nil {
		return 0, err
	}
	p.mu.Lock()
	l, held := p.listing, p.verdict.Held
	p.mu.Unlock()
	if len(l.Tools) == 0 {
		return len(shown), nil // without a child, they count from its next start
	}
	v, err := p.pins.Check(l)
	if err == nil && len(v.Held) == 0 && len(v.Gone) > 0 {
		err = p.pins.Forget(v.Gone)
		v.Gone = nil
	}
	if err != nil {
		return 0, err
	}
	p.update(func() {
		if len(p.listing.Tools) == 0 || &p.listing.Tools[0] != &l.Tools[0] {
			return // another child since
		}
		p.verdict = v
		p.offer = catalogue.New(p.listing, v, p.opts.Catalogue)
		p.relisted()
	})
	return len(held) - len(v.Held), nil
}
