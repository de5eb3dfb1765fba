// Package admission decides which calls may run: it bounds their number and memory,
// lets agents take turns, keeps a short queue, and tells calls that find it full
// when to retry.
package admission

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// Class is how much a call takes while it runs.
type Class uint8

// The classes. The zero one is for answers from memory or a small file.
const (
	Small Class = iota
	// Medium reads and builds tens of megabytes.
	Medium
	// Large draws or compares what can be hundreds of megabytes.
	Large
	// Waits is for calls that wait for the user or for another program and do next
	// to nothing themselves: they take no slot, however many there are.
	Waits
)

// Limits bound the work of a deck. The zero value of each field has a default.
type Limits struct {
	// Slots is how many Medium and Large calls run at once: one a processor, 3 to 8.
	// One agent gets all but one of them.
	Slots int
	// Memory is what those may take together, in bytes: 768 MiB. One agent gets two
	// thirds of it.
	Memory int64
	// Light is how many Small calls run at once: 32. One agent gets three quarters.
	Light int
	// Queue is how many calls may wait in all, AgentQueue how many of one agent: 128
	// and 32.
	Queue, AgentQueue int
	// Held is how many bytes of requests may be in memory at once, AgentHeld how many
	// of one agent: 256 and 96 MiB.
	Held, AgentHeld int64
	// Rest is called once no Medium or Large call has run for some seconds, after they
	// have: it may give memory back. nil: nothing is.
	Rest func()
}

func (l Limits) filled() Limits {
	or := func(to *int, v int) {
		if *to <= 0 {
			*to = v
		}
	}
	or64 := func(to *int64, v int64) {
		if *to <= 0 {
			*to = v
		}
	}
	or(&l.Slots, min(max(runtime.GOMAXPROCS(0), 3), 8))
	or(&l.Light, 32)
	or(&l.Queue, 128)
	or(&l.AgentQueue, 32)
	or64(&l.Memory, 768<<20)
	or64(&l.Held, 256<<20)
	or64(&l.AgentHeld, 96<<20)
	return l
}

// Need is what a call of the class is taken to need, in bytes.
func (c Class) Need() int64 {
	switch c {
	case Small:
		return 8 << 20
	case Medium:
		return 96 << 20
	case Large:
		return 256 << 20
	default:
		return 0
	}
}

// Busy says that a call is not taken now.
type Busy struct {
	Waiting int  // calls that wait already
	Own     bool // they are of the same agent
	Retry   time.Duration
}

func (b *Busy) Error() string {
	whose := ""
	if b.Own {
		whose = " of this agent"
	}
	return fmt.Sprintf("mcpdeck is busy, with %s%s already waiting. The call was not run; retry in about %s, with fewer calls at once", humanize.Count(b.Waiting, "call"), whose, humanize.Words(b.Retry))
}

// Scheduler admits calls. Make one with New.
type Scheduler struct {
	limits Limits
	light  lane
	heavy  lane

	mu   sync.Mutex // guards what follows
	held int64
	of   map[string]int64
}

// New makes a scheduler that nothing has been admitted to.
func New(l Limits) *Scheduler {
	l = l.filled()
	d := &Scheduler{limits: l, of: map[string]int64{}}
	d.light = lane{slots: l.Light, each: max(l.Light*3/4, 1), memory: int64(l.Light) * Small.Need(), queue: l.Queue, own: l.AgentQueue}
	d.heavy = lane{slots: l.Slots, each: max(l.Slots-1, 1), memory: l.Memory, queue: l.Queue, own: l.AgentQueue}
	d.light.eachMemory, d.heavy.eachMemory = d.light.memory, l.Memory*2/3
	if l.Rest != nil {
		d.heavy.rest = func() {
			defer recovery.Recover("rest")
			if running, waiting := d.heavy.load(); running+waiting == 0 {
				l.Rest()
			}
		}
	}
	return d
}

// Slot is what an admitted call has until it leaves. A nil one is of a call that
// needs none.
type Slot struct {
	lane   *lane
	ticket *ticket
}

// Enter waits until the call of an agent may run. The error is a *Busy, or that of
// ctx.
func (d *Scheduler) Enter(ctx context.Context, agent string, c Class) (*Slot, error) {
	l := &d.heavy
	switch c {
	case Waits:
		return nil, nil
	case Small:
		l = &d.light
	default:
	}
	t := &ticket{agent: agent, need: c.Need(), ready: make(chan struct{})}
	if err := l.enter(ctx, t, false); err != nil {
		return nil, err
	}
	return &Slot{lane: l, ticket: t}, nil
}

// Leave gives the slot to the next. It may be called more than once.
func (p *Slot) Leave() {
	if p != nil {
		p.lane.leave(p.ticket)
	}
}

// Grow makes the slot one of a call that needs so many bytes, where that is more than what
// its class is taken to need; it may have to wait for them, ahead of the calls that have not
// begun. The error is that of ctx.
func (p *Slot) Grow(ctx context.Context, need int64) error {
	if p == nil || need <= p.ticket.need {
		return nil
	}
	p.Leave()
	return p.again(ctx, need)
}

// Yield gives the slot away while the call waits for something outside. back gets
// one again, ahead of the calls that have not begun; its error is that of ctx.
func (p *Slot) Yield() (back func(ctx context.Context) error) {
	if p == nil {
		return func(context.Context) error { return nil }
	}
	p.Leave()
	return func(ctx context.Context) error { return p.again(ctx, p.ticket.need) }
}

// again takes a slot for a call that has begun and has none.
func (p *Slot) again(ctx context.Context, need int64) error {
	t := &ticket{agent: p.ticket.agent, need: need, ready: make(chan struct{})}
	if err := p.lane.enter(ctx, t, true); err != nil {
		return err
	}
	p.ticket = t
	return nil
}

// Hold counts bytes of a request that an agent makes the deck keep; false when there
// is no room for them. release must be called once when they are gone.
func (d *Scheduler) Hold(agent string, n int64) (release func(), ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.held+n > d.limits.Held || d.of[agent]+n > d.limits.AgentHeld {
		return nil, false
	}
	d.held += n
	d.of[agent] += n
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.held -= n
		if d.of[agent] -= n; d.of[agent] <= 0 {
			delete(d.of, agent)
		}
	}, true
}

// Load is how many calls run and how many wait.
func (d *Scheduler) Load() (running, waiting int) {
	for _, l := range [...]*lane{&d.light, &d.heavy} {
		r, w := l.load()
		running, waiting = running+r, waiting+w
	}
	return running, waiting
}

func (l *lane) load() (running, waiting int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.running.calls, l.waiting
}

// use is what calls take.
type use struct {
	calls  int
	memory int64
}

// fits tells whether one call more is within the bounds. One that is larger than all
// there is runs alone.
func (u use) fits(need int64, calls int, memory int64) bool {
	return u.calls < calls && (u.memory+need <= memory || u.calls == 0)
}

// lane is a number of slots with their queue.
type lane struct {
	slots, each        int // in all, and for one agent
	memory, eachMemory int64
	queue, own         int

	mu      sync.Mutex // guards what follows
	running use
	waiting int
	lines   []*line // of agents with calls that run or wait; whose turn is next first
	taken   time.Duration
	rest    func()      // some time after the last call; may be nil
	resting *time.Timer // calls it
}

// restAfter is how long nothing has run when a lane rests.
const restAfter = 5 * time.Second

// line is what runs and waits of one agent.
type line struct {
	agent   string
	running use
	tickets []*ticket
}

type ticket struct {
	agent string
	need  int64
	ready chan struct{} // closed when it may run
	begun time.Time     // zero before, and once it has left
}

func (l *lane) enter(ctx context.Context, t *ticket, again bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	mine := l.line(t.agent)
	if again {
		mine.tickets = append([]*ticket{t}, mine.tickets...)
	} else {
		mine.tickets = append(mine.tickets, t)
	}
	l.waiting++
	l.admit()
	if !again && t.begun.IsZero() {
		if busy := l.full(mine); busy != nil {
			l.drop(t)
			l.mu.Unlock()
			return busy
		}
	}
	l.mu.Unlock()
	select {
	case <-t.ready:
		if ctx.Err() == nil {
			return nil
		}
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.begun.IsZero() {
		l.drop(t)
	} else {
		l.end(t)
	}
	return ctx.Err()
}

// full tells whether a queue is longer than it may be.
func (l *lane) full(mine *line) *Busy {
	own, all := len(mine.tickets)-1, l.waiting-1 // without the one that has just come
	if own < l.own && all < l.queue {
		return nil
	}
	b := &Busy{Waiting: all, Own: own >= l.own}
	if b.Own {
		b.Waiting = own
	}
	const least, most = time.Second, time.Minute
	wait := l.taken * time.Duration(b.Waiting) / time.Duration(l.slots)
	b.Retry = min(max(wait.Round(time.Second), least), most)
	return b
}

// line finds that of an agent; the caller holds mu.
func (l *lane) line(agent string) *line {
	for _, one := range l.lines {
		if one.agent == agent {
			return one
		}
	}
	one := &line{agent: agent}
	l.lines = append(l.lines, one)
	return one
}

// admit lets in whom there is room for, an agent after the other. The first whose
// turn it is and who does not fit makes all others wait, so that nobody waits for
// ever; an agent that has its share already is passed over. The caller holds mu.
func (l *lane) admit() {
	for l.waiting > 0 {
		at := slices.IndexFunc(l.lines, func(one *line) bool {
			return len(one.tickets) > 0 && one.running.fits(one.tickets[0].need, l.each, l.eachMemory)
		})
		if at < 0 || !l.running.fits(l.lines[at].tickets[0].need, l.slots, l.memory) {
			return
		}
		one := l.lines[at]
		t := one.tickets[0]
		one.tickets = one.tickets[1:]
		l.waiting--
		for _, u := range [...]*use{&l.running, &one.running} {
			u.calls++
			u.memory += t.need
		}
		l.lines = append(slices.Delete(l.lines, at, at+1), one)
		t.begun = time.Now()
		close(t.ready)
	}
}

func (l *lane) leave(t *ticket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !t.begun.IsZero() {
		l.end(t)
	}
}

// end frees the slot of a call; the caller holds mu.
func (l *lane) end(t *ticket) {
	l.taken = (7*l.taken + time.Since(t.begun)) / 8
	t.begun = time.Time{}
	one := l.line(t.agent)
	for _, u := range [...]*use{&l.running, &one.running} {
		u.calls--
		u.memory -= t.need
	}
	l.forget(one)
	l.admit()
	if l.rest == nil || l.running.calls > 0 {
		return
	}
	if l.resting == nil {
		l.resting = time.AfterFunc(restAfter, l.rest)
		return
	}
	l.resting.Reset(restAfter)
}

// drop takes one that waits out of the queue; the caller holds mu.
func (l *lane) drop(t *ticket) {
	one := l.line(t.agent)
	one.tickets = slices.DeleteFunc(one.tickets, func(o *ticket) bool { return o == t })
	l.waiting--
	l.forget(one)
	l.admit() // the others may have waited for this one
}

func (l *lane) forget(one *line) {
	if one.running.calls == 0 && len(one.tickets) == 0 {
		l.lines = slices.DeleteFunc(l.lines, func(o *line) bool { return o == one })
	}
}
