package tui

import (
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
)

func TestASessionOfUnknownStateThatIsConnectedShowsWhatItCalls(t *testing.T) {
	f := &Frame{Theme: theme.New(theme.Options{Dark: true})}
	s := &snapshot.Session{Agent: "codex", State: snapshot.StateUnknown, Note: "its hooks report only permissions", LastTool: "ask"}
	for _, tt := range []struct{ connection, word, subject string }{
		{"", "unseen", "its hooks report only permissions"},
		{"a1", "connected", "ask"},
	} {
		s.Connection = tt.connection
		if _, _, word := SessionMark(f, s); word != tt.word || SessionSubject(s) != tt.subject {
			t.Errorf("by connection %q it is %s: %s", tt.connection, word, SessionSubject(s))
		}
	}
}

func TestASessionThatHasNoRowCountsOnlyAsMoney(t *testing.T) {
	all := []snapshot.Session{
		{ID: "shown", State: snapshot.Idle, Cost: snapshot.Cost{Today: 1, Known: true}},
		{ID: "spare", Hidden: "a spare process", Cost: snapshot.Cost{Today: 0.5, Known: true}, Shared: snapshot.Shared{Today: 0.25}},
	}
	m := visible(all, 2)
	if len(m.Sessions) != 1 || m.Sessions[0].ID != "shown" || m.spentToday() != "$3.25" {
		t.Errorf("got %+v, %s", m.Sessions, m.spentToday())
	}
}
