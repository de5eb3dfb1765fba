// Package roster keeps the list of all agents' sessions on this machine: what each does,
// where, and at what cost.
package roster

import (
	"cmp"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/arrange"
	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/hint"
)

// Roster is the list. Its methods are safe for concurrent use; the zero Roster is empty
// and ready.
type Roster struct {
	mu    sync.Mutex
	all   map[key]deck.Session
	hints hint.Feed
}

type key struct{ agent, id string }

// Report replaces what is known of the session with this agent and ID.
func (r *Roster) Report(s deck.Session) {
	r.mu.Lock()
	if r.all == nil {
		r.all = map[key]deck.Session{}
	}
	k := key{s.Agent, s.ID}
	old, had := r.all[k]
	r.all[k] = s
	r.mu.Unlock()
	if !had || old != s {
		r.hints.Send()
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
// the top, then those at work, idle and ended.
func (r *Roster) Sessions() []deck.Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]deck.Session, 0, len(r.all))
	for _, s := range r.all {
		out = append(out, s)
	}
	arrange.By(out, func(a, b deck.Session) int {
		return cmp.Or(cmp.Compare(rank(a.State), rank(b.State)), a.Since.Compare(b.Since), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.ID, b.ID))
	})
	return out
}

func rank(s deck.SessionState) int {
	switch s {
	case deck.WaitsForPermission, deck.WaitsForAnswer:
		return 0
	case deck.Working:
		return 1
	case deck.Background:
		return 2
	case deck.Idle, deck.StateUnknown:
		return 3
	case deck.Ended:
		return 4
	}
	return 3
}
