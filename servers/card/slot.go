package card

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/card/child"
)

// From is on whose behalf a server is started and asked. The zero From is the deck
// itself.
type From struct {
	Agent string // id of the agent's connection
	Root  string // its project, absolute; "": none
	// Answers is what requests of a server the agent answers.
	Answers Answers
}

// Share is which agents have a child in common.
type Share string

// The ways to share. Agents notice no other with ShareAuto: a server of the older era
// may keep something from one request to the next, so each agent has a child of its
// own; those of the newer era do not, and there is one for each project.
const (
	ShareDeck    Share = "deck" // all of them; the default
	ShareProject Share = "project"
	ShareSession Share = "session" // none
	ShareAuto    Share = "auto"
)

// idleLimit is how long a child that belongs to no single agent is kept without a
// request.
const idleLimit = 5 * time.Minute

// slot is the place of a child: whom it is for, and the child while it runs. All of it
// but the queue is guarded by the card's mu.
type slot struct {
	key    string // "" of the card's main one
	from   From   // on whose behalf it is started
	name   string // in the log
	queue  *child.Queue
	agents map[string]bool // connected ones that it has served, by their ids

	link      Link
	child     *link
	found     Found
	epoch     int // of the child; events of an older one are void
	cancel    context.CancelFunc
	attempts  int       // since a child last lived long enough
	stumbled  time.Time // the last of them failed
	fault     string    // why it did
	reconnect bool      // asked for by a user: no second attempt

	held int       // requests that wait for the child, and what else it is not ended for
	used time.Time // the last of them
}

func (c *Card) newSlot(key string, f From) *slot {
	c.made++
	s := &slot{key: key, from: f, name: c.opts.Name, link: NoLink, agents: map[string]bool{}}
	if c.made > 1 {
		s.name = fmt.Sprintf("%s %d", c.opts.Name, c.made)
	}
	s.queue = child.NewQueue(c.opts.Limits.InFlight, func(waiting int) error { return &refusal{c.opts.busy(waiting)} })
	return s
}

// key is the key of the slot that serves f now.
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

// slotFor is the slot that serves f.
func (c *Card) slotFor(f From) *slot {
	key := c.key(f)
	s := c.slots[key]
	switch {
	case s != nil:
	case c.opts.Warm && c.main.link == LinkReady && f.Root == c.opts.Root && !c.opts.passed(f).any(): // it was told of none
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
		s.from.Answers = f.Answers // the first to start it may not have known
	}
	return s
}

// all are the slots, the main one first.
func (c *Card) all() []*slot {
	var out []*slot
	for _, key := range slices.Sorted(maps.Keys(c.slots)) {
		out = append(out, c.slots[key])
	}
	return out
}

// serves tells whether the main slot is that of agents, and not only there to list.
func (c *Card) serves() bool {
	return !c.opts.OnDemand || c.opts.Share == ShareDeck
}

// drop ends the child of a slot, and forgets the slot unless it is the main one.
func (c *Card) drop(s *slot) {
	c.closeChild(s)
	if s != c.main && c.slots[s.key] == s {
		delete(c.slots, s.key)
	}
}

// busy tells whether the child of a slot must not be ended for want of requests.
func (s *slot) busy() bool {
	return s.held > 0 || s.child.Busy.Load() > 0 || s.child.person.asked()
}

// subscribed tells whether an agent that a slot serves wants to be told of resources.
func (c *Card) subscribed(s *slot) bool {
	for agent, w := range c.wanted {
		if len(w.Resources) > 0 && c.isFor(s, agent) {
			return true
		}
	}
	return false
}

// idle is how long a slot's child is kept without a request; 0: it is kept.
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

// watchIdle ends a child after d, if it has been idle for so long then.
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
			c.log.Note(s.name + ": ended, it was idle")
			c.drop(s)
		}
	})
}

// AgentGone ends what was started for one agent alone, after its connection has ended.
func (c *Card) AgentGone(agent string) {
	c.mu.Lock()
	delete(c.wanted, agent)
	c.mu.Unlock()
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

// stumble counts an attempt that failed, or a child that ended too soon.
func (s *slot) stumble(why string) {
	if !s.stumbled.IsZero() && time.Since(s.stumbled) >= stableAfter {
		s.attempts = 0
	}
	s.attempts++
	s.stumbled, s.fault = time.Now(), why
}

// settled finds the slot of a child whose era is known since it was started for f; it
// reports whether another has that place.
func (c *Card) settled(s *slot) (taken bool) {
	key := c.key(s.from)
	if s == c.main || key == s.key {
		return false
	}
	delete(c.slots, s.key)
	if c.slots[key] != nil {
		return true
	}
	s.key = key
	c.slots[key] = s
	return false
}

// restart starts a lost child again for those that wait for it.
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
	child, list, err := c.openLink(ctx, s.name, from, a.found)
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
	}
	return a
}

// connect replaces the child of a slot by a new one, in the background.
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
