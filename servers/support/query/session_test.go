package query

import (
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

func TestQueriesForSessions(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	s := snapshot.Session{
		Agent: "claude", ID: "3f6c", State: snapshot.WaitsForPermission, Since: now.Add(-3 * time.Minute), WaitingFor: "Bash make all",
		Folder: "/src/shop", Title: "Mend the till", Model: "sonnet", LastTool: "Bash",
	}
	for query, want := range map[string]bool{
		"": true, "shop": true, "till SHOP": true, "docs": false, "make": true, "3f6": true,
		"agent:claude": true, "agent:cl": true, "agent:cl*": true, "agent:codex": false,
		"status:waiting": true, "status:w": true, "status:perm": true, "status:answer": false, "status:working": false, "status:": true,
		"tool:Bash": true, "tool:B*": true, "tool:Edit": false, "server:ask": false,
		"since:5m": true, "since:1m": false, "until:11:58": true, "until:11:50": false, ">2m": true, ">5m": false, "<5m": true, "<2m": false,
		"agent:claude status:waiting shop": true,
	} {
		q, err := ParseSessions(query, now)
		if err != nil {
			t.Fatal(err)
		}
		if got := q.LetsSession(&s, now); got != want {
			t.Errorf("%q: %v, want %v", query, got, want)
		}
	}
	if _, err := ParseSessions("status:error", now); err == nil || err.Error() != "status:error: use waiting, permission, answer, done, working, background, idle, ended or unknown" {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsTypedIsCompleted(t *testing.T) {
	values := func(field string) []string {
		return map[string][]string{"agent": {"claude", "codex", "codex"}, "status": SessionStatuses()}[field]
	}
	for typed, want := range map[string]string{
		"": "", "ag": "agent:", "shop s": "status: since:", "agent:": "agent:claude agent:codex", "agent:co": "agent:codex", "agent:CO": "agent:codex",
		"agent:codex": "", "agent:x": "", "zzz": "", "nothing:x": "", "agent:claude status:wo": "status:working", "agent:claude ": "",
	} {
		word, to := Complete(typed, SessionFields(), values)
		if got := strings.Join(to, " "); got != want || !strings.HasSuffix(typed, word) {
			t.Errorf("%q: %q, want %q in the place of %q", typed, got, want, word)
		}
	}
}
