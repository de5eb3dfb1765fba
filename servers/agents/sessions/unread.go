package sessions

import (
	"context"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// MarkRead notes that the user has seen what a session said at the end of its last turn.
func (r *Roster) MarkRead(agent, id string) {
	r.mu.Lock()
	w := r.all[key{agent, id}]
	read := w != nil && w.unread
	if read {
		w.unread = false
	}
	r.mu.Unlock()
	if read {
		r.hints.Send()
	}
}

// turn notes what another state means for whether the user has seen the last turn: a new one
// began because the user has sent something, or the last one has ended.
func (w *row) turn(now *snapshot.Session) {
	was := w.told.State
	switch now.State {
	case snapshot.Working:
		w.unread = false
	case snapshot.Idle, snapshot.Background:
		w.unread = w.unread || was == snapshot.Working || was.Waits()
	case snapshot.Ended, snapshot.WaitsForPermission, snapshot.WaitsForAnswer, snapshot.Waiting, snapshot.StateUnknown:
	}
}

// isUnread reports whether a session, as it is now, has something that the user has not seen.
func (w *row) isUnread(s *snapshot.Session) bool {
	return w.unread && s.State == snapshot.Idle && (s.Record == nil || s.Record.Said != "")
}

// see marks what the user has before their eyes: sessions in the active pane of a tmux client.
// With all, it looks at all that are unread, else at those whose turn has just ended.
func (r *Roster) see(ctx context.Context, shown func(context.Context, snapshot.Session) bool, now time.Time, all bool) {
	if shown == nil {
		return
	}
	var unread []snapshot.Session
	r.mu.Lock()
	for _, w := range r.all {
		if s := w.session(); s.Unread && s.Place.TmuxPane != "" && (all || now.Sub(w.seen) < restEvery) {
			unread = append(unread, s)
		}
	}
	r.mu.Unlock()
	for _, s := range unread {
		if shown(ctx, s) {
			r.MarkRead(s.Agent, s.ID)
		}
	}
}
