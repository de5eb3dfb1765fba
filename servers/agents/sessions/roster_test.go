package sessions_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

func TestSessionsThatWaitLongestComeFirst(t *testing.T) {
	var r sessions.Roster
	hints, stop := r.Hints()
	defer stop()
	at := time.Now()
	for id, s := range map[string]snapshot.Session{
		"ended":  {State: snapshot.Ended, Since: at},
		"idle":   {State: snapshot.Idle, Since: at},
		"works":  {State: snapshot.Working, Since: at},
		"later":  {State: snapshot.WaitsForAnswer, Since: at.Add(time.Second)},
		"waits":  {State: snapshot.WaitsForPermission, Since: at},
		"doomed": {State: snapshot.Working, Since: at},
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
	r.Report(snapshot.Session{Agent: "claude", ID: "idle", State: snapshot.Idle, Since: at})
	r.Gone("claude", "none")
	if len(hints) != 0 {
		t.Error("a hint although nothing changed")
	}
}

// A row is a conversation: a session that ends without one, such as one that goes on under
// another ID, has none.
func TestASessionThatEndedWithoutAPromptHasNoRow(t *testing.T) {
	var r sessions.Roster
	for id, s := range map[string]snapshot.Session{
		"moved":  {State: snapshot.Ended, Handle: "shop-de"},
		"asked":  {State: snapshot.Ended, Record: &snapshot.Record{Prompt: "Build it"}},
		"called": {State: snapshot.Ended, Title: "Release", Named: true},
		"new":    {State: snapshot.Idle},
	} {
		s.Agent, s.ID, s.Since = "claude", id, time.Now()
		r.Report(s)
	}
	var rows []string
	for _, s := range r.Sessions() {
		if s.Hidden == "" {
			rows = append(rows, s.ID)
		}
	}
	if slices.Sort(rows); !slices.Equal(rows, []string{"asked", "called", "new"}) {
		t.Errorf("rows of %q", rows)
	}
}
