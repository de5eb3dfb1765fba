package upstream

import (
	"context"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
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

	held int       // requests that wait for the child, or that it works on
	used time.Time // the last request
}

// isFor reports whether a slot serves an agent.
func (s *slot) isFor(agent string) bool {
	return s.key == "" || s.key == "agent "+agent || s.agents[agent]
}

// owner returns the agent that has the child to itself; "" if there is none.
func (s *slot) owner() string {
	if s.key != "agent "+s.from.Agent {
		return ""
	}
	return s.from.Agent
}

// tellRoot tells the child of an agent in which project the agent works, if that has changed
// since the child was started.
func (s *slot) tellRoot(o *Options) {
	l, root := s.child, s.from.Root
	if l == nil || s.owner() == "" || *l.root.Load() == root {
		return
	}
	l.root.Store(&root)
	if l.Era() == child.Legacy && !o.NoRoots {
		l.Tell("notifications/roots/list_changed", nil)
	}
}

// serves reports whether the main slot serves agents, rather than only listing tools.
func (o *Options) serves() bool {
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
	return s.held > 0 || s.child.person.asked()
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

// SessionEnded ends what was started for a single agent after its connection has closed.
func (c *Card) SessionEnded(agent string) {
	c.update(func() {
		delete(c.wanted, agent)
		for _, s := range c.all() {
			delete(s.agents, agent)
			if s.owner() == agent && agent != "" {
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
	c.work.spawn("connect", func() {
		defer cancel()
		if old != nil {
			old.End()
		}
		a := attempt{card: c}
		a.run(ctx, s, from)
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
		s.attempts = 0 // it ends in good order
		c.faults.recovered()
		end := old.End
		if c.hurried {
			end = old.Quit
		}
		c.work.spawn("end", end)
	}
	if s.link != LinkFailed {
		s.link = NoLink
	}
}
