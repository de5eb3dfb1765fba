package usage

import "github.com/mcpdeck/mcpdeck/servers/support/snapshot"

// Turn is what a line of a sub-agent says of whether it is at work.
type Turn int

// What a line says of a sub-agent's turn.
const (
	SameTurn Turn = iota // nothing
	InTurn               // it is
	TurnOver             // this is its last message
)

// turned notes what a line says. Those of a large file come out of order.
func (t *tail) turned(l *Line) {
	if l.Turn != SameTurn && !l.When.Before(t.Last) {
		t.Last, t.Over = l.When, l.Turn == TurnOver
	}
}

// working counts the sub-agents at work in a session as it is now. Not every sub-agent
// says that it has ended: some do with their process, and none is at work in an idle
// session.
func (s *session) working(now *snapshot.Session) (n int) {
	for _, t := range s.Files {
		switch {
		case t.Last.IsZero() || t.Over || t.Last.Before(now.Started):
		case now.State == snapshot.Ended, now.State == snapshot.Idle && t.Last.Before(now.Since):
			t.Over, s.dirty = true, true
		default:
			n++
		}
	}
	return n
}
