package mirror

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Local is the list of sessions of this machine.
type Local interface {
	Sessions() []snapshot.Session
	Spent() float64
	Quotas() []snapshot.Quota
	Hints() (<-chan struct{}, func())
	MarkRead(agent, id string)
}

// Set is this machine's list of sessions with those of the machines that are mirrored. Its methods
// are safe for concurrent use. Without machines it is the list itself.
type Set struct {
	Local
	Changed func([]State) // is told when a machine's state differs; may be nil

	mu   sync.Mutex
	all  []*running
	feed notify.Feed

	telling sync.Mutex
	untold  atomic.Bool // somebody waits for telling, and tells of all changes until then

	watching int         // how many look at the calls
	called   notify.Feed // the calls differ
	pictures album
}

type running struct {
	*Mirror
	stop context.CancelCauseFunc
}

// errRemoved ends a mirror whose machine is in the list no more.
var errRemoved = errors.New("its machine was removed")

// Follow mirrors the machines of a list instead of those it has mirrored before.
func (s *Set) Follow(ctx context.Context, list []Options) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = slices.DeleteFunc(s.all, func(r *running) bool {
		i := slices.IndexFunc(list, func(o Options) bool { return o.Name == r.opt.Name && o.Host == r.opt.Host })
		if i >= 0 {
			r.mu.Lock()
			r.opt.Decks = list[i].Decks
			r.mu.Unlock()
			return false
		}
		r.stop(errRemoved)
		return true
	})
	for _, o := range list {
		if slices.ContainsFunc(s.all, func(r *running) bool { return r.opt.Name == o.Name }) {
			continue
		}
		o.Changed, o.Called = s.Tell, s.called.Send
		ctx, stop := context.WithCancelCause(ctx)
		r := &running{New(o), stop}
		s.all = append(s.all, r)
		r.watch(s.watching > 0)
		recovery.Go("mirror", func() {
			r.Run(ctx)
			if errors.Is(context.Cause(ctx), errRemoved) {
				r.leave()
			}
		})
	}
	s.feed.Send()
	s.called.Send() // of a machine that was removed
}

// Tell tells how it is with the machines. Of any number of changes that come while it does, it tells once.
func (s *Set) Tell() {
	s.feed.Send()
	if s.Changed == nil || s.untold.Swap(true) {
		return
	}
	s.telling.Lock()
	defer s.telling.Unlock()
	s.untold.Store(false)
	s.Changed(s.States())
}

func (s *Set) mirrors() []*running {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.all)
}

// States returns how it is with each machine.
func (s *Set) States() []State {
	var out []State
	for _, r := range s.mirrors() {
		out = append(out, r.State())
	}
	return out
}

// Sessions returns those of all machines, in the order of one.
func (s *Set) Sessions() []snapshot.Session {
	out := s.Local.Sessions()
	for _, r := range s.mirrors() {
		r.mu.Lock()
		out = append(out, r.sessions...)
		r.mu.Unlock()
	}
	sessions.Sort(out)
	return out
}

// MarkRead notes that the user has seen what a session said at the end of its last turn.
func (s *Set) MarkRead(agent, id string) {
	s.Local.MarkRead(agent, id)
	for _, r := range s.mirrors() {
		if r.markRead(agent, id) {
			s.feed.Send()
		}
	}
}

// named is the mirror of a machine.
func (s *Set) named(machine string) (*Mirror, error) {
	for _, r := range s.mirrors() {
		if r.opt.Name == machine {
			return r.Mirror, nil
		}
	}
	return nil, errors.New("the machine " + machine + " was removed")
}

// Prompt is [Mirror.Prompt] of a machine.
func (s *Set) Prompt(machine string, p wire.Prompt) (string, error) {
	m, err := s.named(machine)
	if err != nil {
		return "", err
	}
	return m.Prompt(p)
}

// Spent returns what was spent today by sessions that are not in the list any more.
func (s *Set) Spent() float64 {
	usd := s.Local.Spent()
	for _, r := range s.mirrors() {
		r.mu.Lock()
		usd += r.spent
		r.mu.Unlock()
	}
	return usd
}

// Hints returns a channel of one slot that gets a value when the list has changed, and a function
// to unsubscribe.
func (s *Set) Hints() (<-chan struct{}, func()) {
	own, stop := s.Local.Hints()
	others, end := s.feed.Subscribe()
	both, over := make(chan struct{}, 1), make(chan struct{})
	recovery.Go("hints of sessions", func() {
		for {
			select {
			case <-own:
			case <-others:
			case <-over:
				return
			}
			notify.Poke(both)
		}
	})
	return both, sync.OnceFunc(func() { close(over); stop(); end() })
}

// Away are the machines that have not been linked for a while.
func (s *Set) Away() (out []snapshot.Away) {
	for _, o := range s.States() {
		if away, is := o.away(); is {
			out = append(out, away)
		}
	}
	return out
}

// lostFor is how long a machine is not linked before the user is told: the deck there may have been opened or ended, and be
// back at once.
const lostFor = 10 * time.Second

// away returns how the user is told that the machine is not linked, if it is time for that.
func (s *State) away() (a snapshot.Away, is bool) {
	why, _, _ := strings.Cut(s.Why, "\n")
	return snapshot.Away{Machine: s.Name, Since: s.Since, Why: sanitize.Line(why)}, !s.Linked && s.Why != notYet && time.Since(s.Since) >= lostFor
}

// Problems says of the machines that are away what becomes of what waits there, and where another deck may answer, a
// sentence each. Why a machine is away is not news each time that it differs: [Set.Away] has it.
func Problems(all []State) (out []string) {
	for _, s := range all {
		for _, d := range s.Unknown {
			out = append(out, "the deck "+d+" may answer on "+s.Name+", too, which you have not been told; if it is yours, run mcpdeck remote add again, else mcpdeck remote revoke there")
		}
		if away, is := s.away(); is {
			out = append(out, away.String()+"; what waits there stays")
		}
	}
	return out
}
