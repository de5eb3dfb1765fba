package roster_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/prompts/roster"
)

func TestSessionsThatWaitLongestComeFirst(t *testing.T) {
	var r roster.Roster
	hints, stop := r.Hints()
	defer stop()
	at := time.Now()
	for id, s := range map[string]deck.Session{
		"ended":  {State: deck.Ended, Since: at},
		"idle":   {State: deck.Idle, Since: at},
		"works":  {State: deck.Working, Since: at},
		"later":  {State: deck.WaitsForAnswer, Since: at.Add(time.Second)},
		"waits":  {State: deck.WaitsForPermission, Since: at},
		"doomed": {State: deck.Working, Since: at},
	} {
		s.Agent, s.ID = "claude", id
		r.Report(s)
	}
	r.Gone("claude", "doomed")
	var got []string
	for _, s := range r.Sessions() {
		got = append(got, s.ID)
	}
	if s := strings.Join(got, " "); s != "waits later works idle ended" {
		t.Errorf("got %q", s)
	}
	<-hints
	r.Report(deck.Session{Agent: "claude", ID: "idle", State: deck.Idle, Since: at})
	r.Gone("claude", "none")
	if len(hints) != 0 {
		t.Error("a hint although nothing changed")
	}
}
