package sessions

import (
	"cmp"
	"context"
	"log/slog"
	"reflect"
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/process/pid"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Options are where the list looks beside what adapters report. What is nil is not
// looked at.
type Options struct {
	Queue Queue
	Deck  Deck
	Usage *usage.Counter // used by Run alone
	// Keep returns how long a session that has ended stays in the list; nil: an hour.
	Keep func() time.Duration
	// Running returns the processes of this machine, among which those of programs are
	// looked for that nobody reports.
	Running func() []process.Running
	// Looked is called after every look at processes and files; it may be nil.
	Looked func()
	// Shown reports whether the user has the terminal of a session before their eyes; it may
	// be nil.
	Shown func(context.Context, snapshot.Session) bool
	// Name returns what people call the place of a session in tmux.
	Name func(context.Context, snapshot.Session) string
}

// Queue holds what waits for the user.
type Queue interface {
	Pending() *ask.Snapshot
	Hints() (<-chan struct{}, func())
}

// Deck knows who is connected.
type Deck interface {
	Snapshot() *snapshot.Snapshot
	Subscribe() (<-chan struct{}, func())
}

const (
	// lookEvery is how often files and processes of sessions at work are looked at, and
	// turnedEvery the same after a session began to do something else.
	lookEvery   = time.Second
	turnedEvery = lookEvery / 2
	// restEvery is the same while nothing is at work, and for programs that nobody reports.
	restEvery = 10 * time.Second
	// saveEvery is how often what was counted of a session at work is kept.
	saveEvery = 30 * time.Second
)

// Run looks at everything until ctx ends.
func (r *Roster) Run(ctx context.Context, o Options) {
	poke := make(chan struct{}, 1)
	r.mu.Lock()
	r.poke, r.keep = poke, o.Keep
	r.mu.Unlock()
	if o.Usage != nil {
		r.takeSpent(o.Usage)
	}
	var queue, conns, heard <-chan struct{}
	if o.Queue != nil {
		hints, stop := o.Queue.Hints()
		defer stop()
		queue = hints
		r.takeOpen(o.Queue)
	}
	if o.Deck != nil {
		hints, stop := o.Deck.Subscribe()
		defer stop()
		conns = hints
	}
	var rested, looked time.Time
	soon := true // the timer is about to fire
	timer, calm := time.NewTimer(0), time.NewTimer(0)
	defer timer.Stop()
	defer calm.Stop()
	for {
		select {
		case <-ctx.Done():
			r.save(o.Usage, time.Time{})
			return
		case <-queue:
			r.takeOpen(o.Queue)
			continue
		case <-heard: // of every call
			heard = nil
			calm.Reset(lookEvery / 5)
			continue
		case <-calm.C:
			heard = conns
			r.takeConns(o.Deck)
			continue
		case <-poke: // soon, but not for each of many reports
			if !soon {
				soon = true
				timer.Reset(max(lookEvery/5, turnedEvery-time.Since(looked)))
			}
			continue
		case <-timer.C:
		}
		now := time.Now()
		if soon = false; r.any() { // else the first session need not wait
			looked = now
		}
		rest := now.Sub(rested) >= restEvery
		if rest {
			rested = now
			r.takeRunning(o.Running)
			r.name(ctx, o.Name)
		}
		busy := r.check(now)
		r.reprice(o.Usage)
		due := r.count(o.Usage, now, rest)
		r.see(ctx, o.Shown, now, rest)
		r.save(o.Usage, now)
		if o.Looked != nil {
			o.Looked()
		}
		next := restEvery
		switch {
		case r.anyNew(now):
			next = turnedEvery
		case busy:
			next = lookEvery
		}
		if due > 0 {
			next = min(next, due)
		}
		timer.Reset(next)
	}
}

// isNew reports whether a session has just begun to work and nothing of it is recorded yet, not
// even what was asked, or is being sent a prompt.
func (w *row) isNew(now time.Time) bool {
	return w.next.State == snapshot.NextSending || w.told.State == snapshot.Working && (w.counts.Record == nil || w.counts.Record.Prompt == "") && now.Sub(w.seen) < restEvery
}

// anyNew reports whether a session is: it is called by what was asked, so that is looked for
// more often.
func (r *Roster) anyNew(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.all {
		if w.isNew(now) {
			return true
		}
	}
	return false
}

func (r *Roster) any() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.all) > 0
}

func (r *Roster) takeSpent(c *usage.Counter) {
	c.Spent(time.Now(), func(agent, id string, usd float64) {
		r.mu.Lock()
		r.spend(key{agent, id}, usd)
		r.mu.Unlock()
	})
}

// reprice takes other prices, for which every session must be looked at again.
func (r *Roster) reprice(c *usage.Counter) {
	if c == nil || !c.Reprice() {
		return
	}
	r.takeSpent(c)
	r.mu.Lock()
	for _, w := range r.all {
		w.look = true
	}
	r.mu.Unlock()
}

func (r *Roster) takeOpen(q Queue) {
	items := openOf(q.Pending())
	r.mu.Lock()
	changed := !slices.Equal(items, r.open)
	r.open = items
	r.mu.Unlock()
	if changed {
		r.hints.Send()
	}
}

func (r *Roster) takeConns(d Deck) {
	if d == nil {
		return
	}
	var conns []snapshot.Agent
	for _, a := range d.Snapshot().Agents {
		if a.Gone.IsZero() && a.Transport != snapshot.ByCommand {
			a.Calls, a.Errors = 0, 0
			conns = append(conns, a)
		}
	}
	r.mu.Lock()
	changed := !reflect.DeepEqual(conns, r.conns)
	r.conns = conns
	r.mu.Unlock()
	if changed {
		r.hints.Send()
	}
}

func (r *Roster) takeRunning(running func() []process.Running) {
	if running == nil {
		return
	}
	var found []process.Running
	for _, p := range running() {
		if _, ok := agentBehind(p); ok {
			found = append(found, p)
		}
	}
	// A program that starts itself again is one.
	found = slices.DeleteFunc(found, func(p process.Running) bool {
		return slices.ContainsFunc(found, func(o process.Running) bool { return o.PID == p.Parent })
	})
	r.mu.Lock()
	changed := !slices.Equal(found, r.found)
	r.found = found
	r.mu.Unlock()
	if changed {
		r.hints.Send()
	}
}

// name asks how places in tmux are called that have no name yet.
func (r *Roster) name(ctx context.Context, of func(context.Context, snapshot.Session) string) {
	if of == nil {
		return
	}
	r.mu.Lock()
	nameless := map[key]snapshot.Session{}
	for k, w := range r.all {
		if s := w.session(); s.Place.TmuxPane != "" && s.Place.Tmux == "" && !w.dead {
			nameless[k] = s
		}
	}
	r.mu.Unlock()
	for k, s := range nameless {
		name := cmp.Or(of(ctx, s), s.Place.TmuxPane)
		r.mu.Lock()
		if w := r.all[k]; w != nil {
			w.place.Tmux = name
		}
		r.mu.Unlock()
		r.hints.Send()
	}
}

// check looks for processes that are gone, and forgets sessions that ended long ago. It
// tells whether a session is at work or about to end.
func (r *Roster) check(now time.Time) (busy bool) {
	changed := false
	r.mu.Lock()
	for k, w := range r.all {
		if w.told.State != snapshot.Ended && w.told.PID > 0 {
			switch alive := pid.Same(w.told.PID, w.born); {
			case alive:
				w.gone = time.Time{}
			case w.gone.IsZero():
				w.gone = now
			}
			dead := !w.gone.IsZero() && now.Sub(w.gone) >= goneAfter
			changed = changed || dead != w.dead
			w.dead = dead
		}
		switch s := w.session(); {
		case s.State != snapshot.Ended:
			busy = busy || s.State == snapshot.Working || s.State.Waits() || s.State == snapshot.Background || !w.gone.IsZero()
		case now.Sub(s.Since) >= r.keeps():
			r.spend(k, s.Cost.Today-s.Shared.Today)
			delete(r.all, k)
			changed = true
		}
	}
	r.mu.Unlock()
	if changed {
		r.hints.Send()
	}
	return busy
}

// count looks into the files of sessions that are at work or have just been reported; with
// all, of all that have not ended. It tells after how long those are due that were looked at too
// recently; 0: there are none.
func (r *Roster) count(c *usage.Counter, now time.Time, all bool) (next time.Duration) {
	if c == nil {
		return 0
	}
	due, next := r.toCount(now, all)
	c.Round()
	for _, s := range due {
		found, changed := c.Look(&s)
		if !changed {
			continue
		}
		r.mu.Lock()
		w := r.all[key{s.Agent, s.ID}]
		if w != nil {
			changed = w.counts != found
			w.counts = found
			if !w.known { // the first time in this run
				w.known, w.unread = true, w.unread || found.Unread && w.told.State == snapshot.Idle
			}
		}
		r.mu.Unlock()
		if changed {
			r.hints.Send()
		}
	}
	return next
}

func (r *Roster) toCount(now time.Time, all bool) (due []snapshot.Session, next time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.all {
		at := w.told.State == snapshot.Working || w.told.State == snapshot.Background || w.next.State == snapshot.NextSending
		every := lookEvery
		if w.turned || w.isNew(now) {
			every = turnedEvery
		}
		switch left := every - now.Sub(w.counted); {
		case !w.look && !at && (!all || w.told.State == snapshot.Ended):
		case left <= 0:
			w.look, w.turned, w.counted = false, false, now
			due = append(due, w.told)
		case w.look && (next == 0 || left < next):
			next = left
		}
	}
	return due, next
}

// save keeps what was counted of sessions that are not at work, and of the others now and
// then; of all at the zero time. It forgets those that have left the list.
func (r *Roster) save(c *usage.Counter, now time.Time) {
	if c == nil {
		return
	}
	var all, due []key
	unread := map[key]bool{}
	r.mu.Lock()
	for k, w := range r.all {
		all = append(all, k)
		unread[k] = w.unread
		if now.IsZero() || w.told.State != snapshot.Working || now.Sub(w.saved) >= saveEvery {
			w.saved = now
			due = append(due, k)
		}
	}
	r.mu.Unlock()
	c.Drop(func(agent, id string) bool { return !slices.Contains(all, key{agent, id}) })
	for _, k := range due {
		c.Unread(k.agent, k.id, unread[k])
		if err := c.Save(k.agent, k.id); err != nil {
			slog.Debug("keep what was counted", "session", k.id, "error", err)
		}
	}
}
