package query

import (
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

func TestQueries(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	call := snapshot.Call{
		AgentName: "claude-code", Server: "pencil", Tool: "pencil_batch_get", Status: snapshot.ToolError,
		Started: now.Add(-time.Hour), Duration: 700 * time.Millisecond, Args: `{"ids":["hero"]}`, Result: "no such node",
	}
	tests := []struct {
		query string
		want  bool
	}{
		{"", true},
		{"hero", true},
		{"hero NODE", true},
		{"hero zebra", false},
		{"status:error", true},
		{"status:err", true},
		{"status:", true},
		{"status:ok", false},
		{"tool:pencil_*", true},
		{"tool:*_get", true},
		{"tool:pencil_*_get", true},
		{"tool:pencil", false},
		{"tool:*design", false},
		{"server:pencil", true},
		{"server:ask", false},
		{"agent:claude", true},
		{"agent:claude*", true},
		{"agent:*code", true},
		{"agent:code*", false},
		{"agent:codex", false},
		{"since:2h", true},
		{"since:10m", false},
		{"since:11:00", true},
		{"until:10:30", false},
		{">500ms", true},
		{">1s", false},
		{"<1s", true},
		{"<500ms", false},
		{">", true},
		{"status:error agent:claude hero", true},
		{"ids:hero", false}, // no field: a word
		{`"ids":`, true},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			q, err := Parse(tt.query, now)
			if err != nil {
				t.Fatal(err)
			}
			if got := q.Lets(&call); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	for _, bad := range []string{"status:fine", "since:soon", ">fast"} {
		if _, err := Parse(bad, now); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("tool:a* >1s status:e x")
	f.Fuzz(func(t *testing.T, s string) {
		q, err := Parse(s, time.Unix(0, 0))
		if err == nil {
			q.Lets(&snapshot.Call{Tool: s})
		}
	})
}
