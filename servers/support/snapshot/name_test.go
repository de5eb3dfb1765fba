package snapshot_test

import (
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

func TestSessionIsCalledByWhatSaysMost(t *testing.T) {
	asked := &snapshot.Record{Prompt: "\n  Mend the tests \nand push"}
	for _, tt := range []struct {
		name string
		s    snapshot.Session
		want string
	}{
		{"the user's name", snapshot.Session{Title: "Release", Named: true, Record: asked}, "Release"},
		{"the prompt before a made title", snapshot.Session{Title: "Test repair", Record: asked}, "Mend the tests"},
		{"a made title without a prompt", snapshot.Session{Title: "Test repair", Record: &snapshot.Record{}, LastTool: "Bash"}, "Test repair"},
		{"the tool", snapshot.Session{LastTool: "Bash", LastSubject: "make all\nmake test"}, "Bash make all"},
		{"a tool about nothing", snapshot.Session{LastTool: "TodoWrite"}, "TodoWrite"},
		{"never a folder, an ID or a handle", snapshot.Session{Folder: "/home/ana/shop", ID: "1abb6430", Handle: "shop-ba", Agent: "claude"}, "no prompt yet"},
		{"at work, with nothing recorded", snapshot.Session{State: snapshot.Working, Folder: "/home/ana/shop"}, "prompt unknown"},
		{"a name that is blank", snapshot.Session{Title: " \n", Named: true, Record: asked}, "Mend the tests"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.s.Name(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestTheWordOfASession(t *testing.T) {
	for want, s := range map[string]snapshot.Session{
		"allow?":    {State: snapshot.WaitsForPermission},
		"answer?":   {State: snapshot.WaitsForAnswer},
		"plan?":     {State: snapshot.WaitsForAnswer, Asks: "plan?"},
		"working":   {State: snapshot.Background, Asks: "plan?"},
		"done":      {State: snapshot.Idle, Unread: true},
		"idle":      {State: snapshot.Idle},
		"connected": {State: snapshot.StateUnknown, Connection: "a"},
		"unseen":    {State: snapshot.StateUnknown},
	} {
		if got := s.Word(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
