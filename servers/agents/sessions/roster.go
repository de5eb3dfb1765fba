// Package sessions keeps the list of all agents' sessions on this machine: what each does,
// where, and at what cost.
package sessions

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/terminal"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/process/pid"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Roster is the list. Its methods are safe for concurrent use; the zero Roster is empty
// and ready. It knows what adapters report; while [Roster.Run] works, also what sessions
// cost, what waits in the queue, and who is connected.
type Roster struct {
	mu     sync.Mutex
	all    map[key]*row
	open   []open
	conns  []snapshot.Agent
	found  []process.Running // agents' programs that nobody reports
	keep   func() time.Duration
	spent  map[key]float64 // on that day, by sessions that may not be in the list any more
	day    time.Time
	quotas []quota
	poke   chan struct{} // tells Run that something differs; nil while it does not work
	hints  notify.Feed
}

type key struct{ agent, id string }

// row is what is known of one session.
type row struct {
	told   snapshot.Session // by its adapter
	counts usage.Found
	place  snapshot.Place
	born   string    // its process
	gone   time.Time // since when that is not there
	dead   bool      // and that for long
	seen   time.Time // when its state was first told
	look   bool      // its files have not been looked at since the last report
	turned bool      // nor since it began to do something else
	unread bool      // its last turn has ended, and the user has not looked since
	next   snapshot.Next
	known  bool // what was kept of it has been taken
	// When its files were last looked at, and what was counted kept.
	counted, saved time.Time
}

const (
	// keepEnded is how long a session that has ended stays in the list, if nothing else
	// is set.
	keepEnded = time.Hour
	// goneAfter is how long a process must not be there for its session to have ended.
	goneAfter = 10 * time.Second
)

// Report replaces what is known of the session with this agent and ID.
func (r *Roster) Report(s snapshot.Session) {
	r.mu.Lock()
	if r.all == nil {
		r.all = map[key]*row{}
	}
	k := key{s.Agent, s.ID}
	w, had := r.all[k]
	if !had {
		w = &row{}
		r.all[k] = w
	}
	changed := !had || w.told != s
	if !had || w.told.State != s.State {
		w.seen, w.turned = time.Now(), true
		w.turn(&s)
	}
	if !had || w.told.PID != s.PID {
		w.born, w.gone, w.dead = "", time.Time{}, false
		w.place = snapshot.Place{}
		if s.PID > 0 {
			w.born = pid.Born(s.PID)
			if c, _ := clients.Find(s.Agent); !c.Daemon {
				w.place = terminal.Of(s.PID)
			}
		}
	}
	w.told, w.look = s, w.look || changed
	r.mu.Unlock()
	if changed {
		r.hints.Send()
		r.Look()
	}
}

// SetNext notes which prompt is under way to a session.
func (r *Roster) SetNext(agent, id string, n snapshot.Next) {
	r.mu.Lock()
	w := r.all[key{agent, id}]
	changed := w != nil && w.next != n
	if changed {
		w.next = n
	}
	r.mu.Unlock()
	if changed {
		r.hints.Send()
		r.Look()
	}
}

// Look has Run look at everything soon: something may differ.
func (r *Roster) Look() {
	r.mu.Lock()
	poke := r.poke
	r.mu.Unlock()
	if poke != nil {
		notify.Poke(poke)
	}
}

// Gone removes a session that another one replaces.
func (r *Roster) Gone(agent, id string) {
	r.mu.Lock()
	_, had := r.all[key{agent, id}]
	delete(r.all, key{agent, id})
	r.mu.Unlock()
	if had {
		r.hints.Send()
	}
}

// Hints returns a channel of one slot that gets a value when the list has changed, and a
// function to unsubscribe.
func (r *Roster) Hints() (<-chan struct{}, func()) { return r.hints.Subscribe() }

// Sessions returns the list: those that wait for the user first, the longest waiting at
// the top, then those that are unread, at work, idle and ended, the latest first. Some have
// no row of their own ([snapshot.Session.Hidden]).
func (r *Roster) Sessions() []snapshot.Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	m := merge{at: map[key]int{}}
	for _, w := range r.all {
		if s := w.session(); s.State != snapshot.Ended || now.Sub(s.Since) < r.keeps() {
			m.out = append(m.out, s)
		}
	}
	slices.SortFunc(m.out, order) // also for which of several sessions a connection joins
	for i := range m.out {
		m.at[key{m.out[i].Agent, m.out[i].ID}] = i
	}
	m.park()
	m.ask(r.open)
	m.connect(r.conns)
	m.wait(r.open)
	m.unreported(r.found)
	slices.SortFunc(m.out, order)
	return m.out
}

// Spent returns what was spent today by sessions that are not in the list any more.
func (r *Roster) Spent() (usd float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.day != midnight(time.Now()) {
		return 0
	}
	for k, of := range r.spent {
		if r.all[k] == nil {
			usd += of
		}
	}
	return usd
}

// spend notes what a session spent today; it may leave the list.
func (r *Roster) spend(k key, usd float64) {
	if today := midnight(time.Now()); r.day != today {
		r.day, r.spent = today, map[key]float64{}
	}
	r.spent[k] = usd
}

func midnight(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, t.Location())
}

// keeps is how long a session that has ended stays in the list.
func (r *Roster) keeps() time.Duration {
	if r.keep == nil {
		return keepEnded
	}
	return r.keep()
}

// session is a row with what was counted.
func (w *row) session() snapshot.Session {
	s, f := w.told, &w.counts
	if s.Since.IsZero() && s.State != snapshot.StateUnknown {
		s.Since = w.seen
	}
	if w.dead && s.State != snapshot.Ended {
		s.State, s.Since, s.WaitingFor = snapshot.Ended, w.gone, ""
	}
	if s.Title == "" || f.Named && !s.Named {
		s.Title, s.Named = f.Title, f.Named
	}
	if s.Record == nil {
		s.Record = f.Record
	}
	s.Mode, s.Model = cmp.Or(s.Mode, f.Mode), cmp.Or(s.Model, f.Model)
	if s.LastTool == "" {
		s.LastTool, s.LastSubject = f.LastTool, f.LastSubject
	}
	if s.Usage == (snapshot.Usage{}) {
		s.Usage = f.Usage
	}
	if s.Cost == (snapshot.Cost{}) {
		s.Cost = f.Cost
	}
	s.Shared, s.Next = f.Shared, w.next
	switch {
	case s.State == snapshot.Ended:
		s.Subagents = 0
	case s.State != snapshot.Idle: // those that its adapter knows are among those that its files tell of
		s.Subagents = max(s.Subagents, f.Subagents)
	}
	if s.State == snapshot.Ended && s.Since.Before(midnight(time.Now())) {
		s.Cost.Today, s.Shared.Today = 0, 0 // its files are not looked at any more
	}
	if s.State == snapshot.Ended && s.Name() == snapshot.NoPrompt { // as one that went on under another ID
		s.Hidden = cmp.Or(s.Hidden, neverAsked)
	}
	s.Place, s.Unread = w.at(), w.isUnread(&s)
	s.Context.Used, s.Context.Window = cmp.Or(s.Context.Used, f.Context.Used), cmp.Or(s.Context.Window, f.Context.Window)
	return s
}

// at is where a session runs: what its adapter says, and else what the system does.
func (w *row) at() snapshot.Place {
	told, own := w.told.Place, w.place
	switch {
	case told.TmuxPane == "" && told.Other == "":
		told.TmuxSocket, told.TmuxPane, told.Other = own.TmuxSocket, own.TmuxPane, own.Other
	case told.TmuxPane == own.TmuxPane:
		told.TmuxSocket = cmp.Or(told.TmuxSocket, own.TmuxSocket)
	}
	told.Tmux, told.TTY = cmp.Or(told.Tmux, own.Tmux), cmp.Or(told.TTY, own.TTY)
	return told
}

// The order of sessions, by what they do.
const (
	waits = iota
	unread
	works
	background
	rests
	ended
)

// Sort puts sessions in the order of the list.
func Sort(all []snapshot.Session) { slices.SortStableFunc(all, order) }

func order(a, b snapshot.Session) int {
	at, since := rank(&a), a.Since.Compare(b.Since)
	if at == unread || at > background {
		since = -since
	}
	return cmp.Or(cmp.Compare(at, rank(&b)), since, cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.ID, b.ID))
}

func rank(s *snapshot.Session) int {
	switch {
	case s.State.Waits():
		return waits
	case s.Unread:
		return unread
	case s.State == snapshot.Working:
		return works
	case s.State == snapshot.Background:
		return background
	case s.State == snapshot.Ended:
		return ended
	}
	return rests
}
