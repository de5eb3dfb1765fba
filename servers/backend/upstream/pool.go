package upstream

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// pool are the places for children.
type pool struct {
	opts  *Options
	log   *child.Log
	main  *slot            // serves all agents, or only lists the tools; one of slots
	slots map[string]*slot // by key
	made  int              // number of slots ever made
	era   child.Era        // the server's most recent era; "" if unknown
}

func newPool(o *Options, log *child.Log) pool {
	p := pool{opts: o, log: log, era: o.Era, slots: map[string]*slot{}}
	p.main = p.newSlot("", From{})
	return p
}

// newSlot makes a slot, in place of any that had the key.
func (p *pool) newSlot(key string, f From) *slot {
	p.made++
	s := &slot{key: key, from: f, name: p.opts.Name, link: NoLink, agents: map[string]bool{}}
	if p.made > 1 {
		s.name = fmt.Sprintf("%s %d", p.opts.Name, p.made)
	}
	s.log = p.log.Child(s.name)
	s.queue = child.NewQueue(p.opts.Limits.InFlight, func(waiting int) error { return &refusal{p.opts.busy(waiting)} })
	p.slots[key] = s
	return s
}

// key returns the key of the slot that currently serves f.
func (p *pool) key(f From) string {
	share := p.opts.Share
	switch {
	case !p.opts.OnDemand || f.Agent == "":
		return ""
	case share == ShareSession, share == ShareAuto && p.era != child.Modern:
		return "agent " + f.Agent
	case share == ShareProject, share == ShareAuto:
		return "root " + f.Root
	}
	return ""
}

// slotFor returns the slot that serves f. taken reports whether that was the main slot,
// which another has become.
func (p *pool) slotFor(f From) (s *slot, taken bool) {
	key := p.key(f)
	s = p.slots[key]
	switch {
	case s != nil:
	case p.opts.Warm && p.main.link == LinkReady && f.Root == p.opts.Root && !p.opts.passed(f).any(): // the child was told of no capabilities
		s, taken = p.main, true
		s.key, s.from = key, f
		p.slots[key] = s
		p.main = p.newSlot("", From{})
	default:
		s = p.newSlot(key, f)
	}
	if f.Agent != "" {
		s.agents[f.Agent] = true
	}
	if f.Answers.any() && f.Agent == s.from.Agent {
		s.from.Answers = f.Answers // whoever started it first may not have known
	}
	return s, taken
}

// all returns the slots, the main one first.
func (p *pool) all() []*slot {
	var out []*slot
	for _, key := range slices.Sorted(maps.Keys(p.slots)) {
		out = append(out, p.slots[key])
	}
	return out
}

// slotOf returns the slot of a child; nil if it has none, or not yet.
func (p *pool) slotOf(l *link) *slot {
	for _, s := range p.slots {
		if s.child == l {
			return s
		}
	}
	return nil
}

// moved tells the child of an agent that its project has changed.
func (p *pool) moved(f From) {
	if s := p.slots["agent "+f.Agent]; s != nil && s.from.Root != f.Root {
		s.from.Root = f.Root
		s.tellRoot(p.opts)
	}
}

// settled finds the slot for a child started for f now that its era is known. It reports
// whether another child has that slot.
func (p *pool) settled(s *slot) (taken bool) {
	key := p.key(s.from)
	if s == p.main || key == s.key {
		return false
	}
	delete(p.slots, s.key)
	if p.slots[key] != nil {
		s.log.Gone()
		return true
	}
	s.key = key
	p.slots[key] = s
	return false
}

// idle returns how long a slot's child is kept without a request; 0 means indefinitely.
func (p *pool) idle(s *slot) time.Duration {
	switch {
	case !p.opts.OnDemand:
		return 0
	case p.opts.Limits.Idle > 0:
		return p.opts.Limits.Idle
	case p.opts.Warm, s.owner() != "":
		return 0
	}
	return idleLimit
}

// maxChildren is the maximum number of children of a card. Without it, a client that opens
// a connection for every call would start as many programs.
const maxChildren = 32

// full reports whether no other child can be started. spare is then the one that has been
// unused for the longest time, of those that are not kept; nil if there is none.
func (p *pool) full(kept func(*slot) bool) (spare *slot, full bool) {
	running := 0
	for _, s := range p.all() {
		if s.child == nil && s.link != Connecting {
			continue
		}
		running++
		if s.child != nil && !s.busy() && !kept(s) && (spare == nil || s.used.Before(spare.used)) {
			spare = s
		}
	}
	return spare, running >= maxChildren
}

// sum adds what concerns the children to a status.
func (p *pool) sum(s *Status) {
	s.Link = p.main.link
	found := p.main.found
	agents, strays, gaveUp := map[string]bool{}, 0, false
	for _, at := range p.all() {
		s.Waiting += at.queue.Waiting()
		if found.Program == "" && found.Open == nil {
			found = at.found
		}
		if at.link == Lost || at.link == LinkFailed {
			s.Failing++
		}
		gaveUp = gaveUp || at.attempts >= maxFailures && (at.link == LinkFailed || at.link == NoLink)
		s.Link = sooner(s.Link, at.link)
		conn := at.child
		if conn == nil {
			continue
		}
		if len(s.Children) == 0 {
			s.PID, s.Since, s.Server, s.Version, s.Protocol = conn.PID, conn.Ready, sanitize.Line(conn.Server), sanitize.Line(conn.Version), conn.Protocol
		}
		f := snapshot.Child{Name: at.name, PID: conn.PID, Since: conn.Ready, Root: sanitize.Line(at.from.Root), Agents: slices.Sorted(maps.Keys(at.agents)), Running: int(conn.Busy.Load())}
		s.Children = append(s.Children, f)
		s.Running += f.Running
		strays += conn.Strays()
		maps.Copy(agents, at.agents)
	}
	s.For, s.Source, s.Program, s.Searched = found.For, found.Source, found.Program, slices.Clone(found.Searched)
	s.Agents, s.GaveUp = len(agents), gaveUp && len(s.Children) == 0
	if p.opts.OnDemand && strays > maxStrays {
		s.stray = fmt.Sprintf("its output has %s that are not MCP messages", humanize.Count(strays, "line"))
	}
}
