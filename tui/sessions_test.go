package tui

import (
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
)

func TestASessionOfUnknownStateThatIsConnectedSaysSo(t *testing.T) {
	f := &Frame{Theme: theme.New(theme.Options{Dark: true})}
	for connection, want := range map[string]string{"": "unseen", "a1": "connected"} {
		s := &snapshot.Session{Agent: "codex", State: snapshot.StateUnknown, Connection: connection}
		if _, _, word := SessionMark(f, s); word != want {
			t.Errorf("by connection %q it is %s", connection, word)
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
