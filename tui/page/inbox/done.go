package inbox

import (
	"cmp"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// longTurn is how long a turn must have taken for its end to be announced: after a shorter one
// the user is still there.
const longTurn = time.Minute

// turns are what agents work at, and whose end is to be announced.
type turns struct {
	of    map[string]turn // by the key of the session
	ended map[string]time.Duration
}

// turn is when a turn began, and when it ended: zero while it goes on.
type turn struct{ began, ended time.Time }

// doneMsg says that the turns that have ended are to be announced.
type doneMsg struct{}

// follow takes the sessions as they are now. A turn counts as done once the session has
// something to read, which may be recorded after its end.
func (t *turns) follow(all []snapshot.Session) tea.Cmd {
	of, first := make(map[string]turn, len(all)), len(t.ended) == 0
	for i := range all {
		s, k := &all[i], sessionKey(&all[i])
		at, known := t.of[k]
		switch {
		case s.State == snapshot.Working || s.State.Waits():
			if !known || !at.ended.IsZero() {
				at = turn{began: s.Since}
			}
		case !known || s.State != snapshot.Idle && s.State != snapshot.Background:
			continue
		default:
			at.ended = cmp.Or(at.ended, s.Since)
		}
		took := at.ended.Sub(at.began)
		switch {
		case !s.Unread:
			of[k] = at
		case took >= longTurn && first && len(t.ended) == 0:
			t.ended = map[string]time.Duration{k: took}
		case took >= longTurn:
			t.ended[k] = took
		}
	}
	if t.of = of; first && len(t.ended) > 0 {
		return after(batchFor, doneMsg{})
	}
	return nil
}

// done announces the turns that have ended and of which the user has not seen the end.
func (a *alerts) done(all []snapshot.Session, n Notify) tea.Cmd {
	ended := a.turns.ended
	a.turns.ended = nil
	if !n.Done || a.known && a.focused {
		return nil
	}
	var who []string
	var text string
	var last *snapshot.Session
	names := snapshot.Projects(all)
	for i := range all {
		s := &all[i]
		took, ok := ended[sessionKey(s)]
		if !ok || !s.Unread {
			continue
		}
		name := strings.TrimSuffix(sanitize.Line(s.Agent+" · "+names[i]), " · ")
		who, last = append(who, name), s
		if text = name + " finished after " + humanize.Took(took); !n.Private {
			text += ": " + sanitize.Line(s.Name())
		}
	}
	if len(who) == 0 {
		return nil
	}
	if len(who) > 1 {
		text = humanize.Count(len(who), "agent") + " finished: " + strings.Join(who, ", ")
	}
	text = sanitize.Cut(text, 120)
	return tea.Batch(n.escape(text), n.command(text, facts{kind: "done", session: last.ID, asker: last.Agent, cwd: last.Folder}))
}
