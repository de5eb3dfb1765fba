package card

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/card/child"
)

// From is on whose behalf a server is started and asked. The zero From is the deck itself.
type From struct {
	Agent string // id of the agent's connection
	Root  string // the agent's project, absolute; "" if none
	// Answers are the kinds of server requests that the agent answers.
	Answers Answers
}

// Share is which agents share a child.
type Share string

// The ways to share. ShareAuto is invisible to agents: a server of the older era may keep
// state between requests, so each agent has its own child; one of the newer era does not, so
// there is one child per project.
const (
	ShareDeck    Share = "deck" // all agents; the default
	ShareProject Share = "project"
	ShareSession Share = "session" // none
	ShareAuto    Share = "auto"
)

// idleLimit is how long a child that does not belong to a single agent is kept without a
// request.
const idleLimit = 5 * time.Minute

// slot is a place for a child: whom it serves, and the child while it runs. Everything
// except queue is guarded by the card's mu.
type slot struct {
	key    string // "" for the main slot
	from   From   // on whose behalf the child is started
	name   string // for the user
	log    *child.Log
	queue  *child.Queue
	agents map[string]bool // connected agents it has served, by id

	link      Link
	child     *link
	found     Found
	epoch     int // of the child; events of earlier epochs are ignored
	cancel    context.CancelFunc
	attempts  int       // since a child last lived long enough
	stumbled  time.Time // when the latest attempt failed
	fault     string    // why it failed
	reconnect bool      // requested by the user: no second attempt

	held int       // requests waiting for the child, and other reasons not to end it
	used time.Time // the last request
}

func (c *Card) newSlot(key string, f From) *slot {
	c.made++
	s := &slot{key: key, from: f, name: c.opts.Name, link: NoLink, agents: map[string]bool{}}
	if c.made > 1 {
		s.name = fmt.Sprintf("%s %d", c.opts.Name, c.made)
	}
	s.log = c.log.Child(s.name)
	s.queue = child.NewQueue(c.opts.Limits.InFlight, func(waiting int) error { return &refusal{c.opts.busy(waiting)} })
	return s
}

// key returns the key of the slot that currently serves f.
func (c *Card) key(f From) string {
	agent, project := "agent "+f.Agent, "root "+f.Root
	switch {
	case !c.opts.OnDemand || f.Agent == "":
		return ""
	case c.opts.Share == ShareSession, c.opts.Share == ShareAuto && c.era != child.Modern:
		return agent
	case c.opts.Share == ShareProject, c.opts.Share == ShareAuto:
		return project
	}
	return ""
}

// slotFor returns the slot that serves f.
func (c *Card) slotFor(f From) *slot {
	key := c.key(f)
	s := c.slots[key]
	switch {
	case s != nil:
	case c.opts.Warm && c.main.link == LinkReady && f.Root == c.opts.Root && !c.opts.passed(f).any(): // the child was told of no capabilities
		s = c.main
		s.key, s.from = key, f
		c.slots[key] = s
		c.main = c.newSlot("", From{})
		c.slots[""] = c.main
		c.warm()
	default:
		s = c.newSlot(key, f)
		c.slots[key] = s
	}
	if f.Agent != "" {
		s.agents[f.Agent] = true
	}
	if f.Answers.any() && f.Agent == s.from.Agent {
		s.from.Answers = f.Answers // whoever started it first may not have known
	}
	return s
}

// all returns the slots, the main one first.
func (c *Card) all() []*slot {
	var out []*slot
	for _, key := range slices.Sorted(maps.Keys(c.slots)) {
		out = append(out, c.slots[key])
	}
	return out
}

// serves reports whether the main slot serves agents, rather than only listing tools.
func (o Options) serves() bool {
	return !o.OnDemand || o.Share == ShareDeck
}

// drop ends the child of a slot and, unless it is the main slot, removes the slot.
func (c *Card) drop(s *slot) {
	c.closeChild(s)
	if s != c.main && c.slots[s.key] == s {
		delete(c.slots, s.key)
		s.log.Gone()
	}
}

// busy reports whether the child of a slot must not be ended for being idle.
func (s *slot) busy() bool {
	return s.held > 0 || s.child.Busy.Load() > 0 || s.child.person.asked()
}

// subscribed reports whether an agent that a slot serves subscribes to resources.
func (c *Card) subscribed(s *slot) bool {
	for agent, w := range c.wanted {
		if len(w.Resources) > 0 && c.isFor(s, agent) {
			return true
		}
	}
	return false
}

// idle returns how long a slot's child is kept without a request; 0 means indefinitely.
func (c *Card) idle(s *slot) time.Duration {
	switch {
	case !c.opts.OnDemand:
		return 0
	case c.opts.Limits.Idle > 0:
		return c.opts.Limits.Idle
	case c.opts.Warm, s.key == "agent "+s.from.Agent:
		return 0
	}
	return idleLimit
}

// watchIdle waits for d, and then ends the child if it has been idle for that long.
func (c *Card) watchIdle(s *slot, l *link, d time.Duration) {
	if d == 0 {
		return
	}
	c.after(d, func() {
		limit := c.idle(s)
		left := limit - time.Since(s.used)
		switch {
		case s.child != l || limit == 0:
		case s.busy() || c.subscribed(s):
			c.watchIdle(s, l, busyAgain)
		case left > 0:
			c.watchIdle(s, l, left)
		default:
			s.log.Note("ended, it was idle")
			c.drop(s)
		}
	})
}

// AgentGone ends what was started for a single agent after its connection has closed.
func (c *Card) AgentGone(agent string) {
	c.mu.Lock()
	delete(c.wanted, agent)
	c.mu.Unlock()
	c.left(agent)
	if !c.opts.OnDemand {
		return
	}
	c.update(func() {
		for _, s := range c.all() {
			delete(s.agents, agent)
			if s.key == "agent "+agent {
				c.drop(s)
			}
		}
	})
}

// warm keeps a child running for the next agent.
func (c *Card) warm() {
	if c.opts.Warm && c.mode == On && c.main.child == nil && c.main.link != Connecting && c.main.attempts < maxFailures {
		c.connect(c.main)
	}
}

// stumble counts a failed attempt, or a child that ended too early.
func (s *slot) stumble(why string) {
	if !s.stumbled.IsZero() && time.Since(s.stumbled) >= stableAfter {
		s.attempts = 0
	}
	s.attempts++
	s.stumbled, s.fault = time.Now(), why
}

// settled finds the slot for a child started for f now that its era is known. It reports
// whether another child has that slot.
func (c *Card) settled(s *slot) (taken bool) {
	key := c.key(s.from)
	if s == c.main || key == s.key {
		return false
	}
	delete(c.slots, s.key)
	if c.slots[key] != nil {
		s.log.Gone()
		return true
	}
	s.key = key
	c.slots[key] = s
	return false
}

// restart restarts a lost child for the requests that wait for it.
func (c *Card) restart(s *slot) {
	wait, ok := backoff(s.attempts - 1)
	if !ok {
		s.link = LinkFailed
		return
	}
	s.link = Lost
	epoch := s.epoch
	c.after(wait, func() {
		if s.epoch == epoch && c.mode == On && s.link == Lost {
			c.restarts++
			c.connect(s)
		}
	})
}

// attempt starts a child.
func (c *Card) attempt(ctx context.Context, s *slot, from From) (a attempt) {
	a.found, a.err = c.opts.Hooks.Find(from)
	if a.err != nil {
		return a
	}
	opened, list, err := c.openLink(ctx, s, from, a.found)
	if err != nil {
		a.err = fmt.Errorf("%s failed to start: %w", c.opts.server(), err)
		if a.found.Open != nil {
			a.err = fmt.Errorf("%s cannot be %s: %w", c.opts.server(), barred(err), err)
		}
		return a
	}
	a.child = opened
	c.inspect(&a, list)
	if a.err != nil {
		opened.End()
		a.child = nil
	}
	return a
}

// connect replaces the child of a slot, in the background.
func (c *Card) connect(s *slot) {
	old := s.child
	s.child = nil
	s.epoch++
	if s.cancel != nil {
		s.cancel()
	}
	epoch, from := s.epoch, s.from
	ctx, cancel := context.WithCancel(c.life)
	s.cancel, s.link = cancel, Connecting
	c.spawn("connect", func() {
		defer cancel()
		if old != nil {
			old.End()
		}
		a := c.attempt(ctx, s, from)
		kept := false
		c.update(func() { kept = c.attached(s, epoch, a) })
		if !kept && a.child != nil {
			a.child.End()
		}
	})
}

// closeChild ends the child of a slot, or the attempt to start one, in the background.
func (c *Card) closeChild(s *slot) {
	s.epoch++
	if s.cancel != nil {
		s.cancel()
		s.cancel = nil
	}
	if old := s.child; old != nil {
		s.child = nil
		c.recovered(s) // it ends in good order
		end := old.End
		if c.hurried {
			end = old.Quit
		}
		c.spawn("end", end)
	}
	if s.link != LinkFailed {
		s.link = NoLink
	}
}
