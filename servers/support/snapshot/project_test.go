package snapshot

import (
	"slices"
	"testing"
	"time"
)

func TestSessionsOfOneAgentInOneProjectHaveNumbers(t *testing.T) {
	at := time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC)
	first := Session{Agent: "claude", ID: "b", Folder: "/src/shop", Started: at}
	second := Session{Agent: "claude", ID: "a", Folder: "/src/shop", Started: at.Add(time.Minute)}
	other := Session{Agent: "codex", ID: "c", Folder: "/src/shop"}
	for _, tt := range []struct {
		name string
		all  []Session
		want []string
	}{
		{"one", []Session{first}, []string{"shop"}},
		{"of two agents", []Session{first, other}, []string{"shop", "shop"}},
		{"two of one", []Session{first, second, other}, []string{"shop#1", "shop#2", "shop"}},
		{"two in another order", []Session{second, first}, []string{"shop#2", "shop#1"}},
		{"by their ID if both began at once", []Session{{ID: "y", Folder: "/a"}, {ID: "x", Folder: "/a"}}, []string{"a#2", "a#1"}},
		{"without a folder", []Session{{Agent: "claude"}, {Agent: "claude"}}, []string{"", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Projects(tt.all); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
