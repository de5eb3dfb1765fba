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
		{"tool:pencil_*x*_get", false},
		{"tool:x*_*_get", false},
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

func TestAMomentIsReadInTheManyWaysPeopleWriteIt(t *testing.T) {
	zone := time.FixedZone("UTC+2", 2*60*60)
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, zone)
	day := func(d, h, m, s int) time.Time { return time.Date(2026, 11, d, h, m, s, 0, zone) }
	for text, want := range map[string]time.Time{
		"": {}, "0d": now, "3d": day(19, 12, 0, 0), "90m": day(22, 10, 30, 0), "2h": day(22, 10, 0, 0), "0s": now,
		"9:05": day(22, 9, 5, 0), "23:59:07": day(22, 23, 59, 7), "2026-11-01": day(1, 0, 0, 0), "2026-11-01 08:15": day(1, 8, 15, 0),
		"2026-11-01T08:15": day(1, 8, 15, 0), "2026-11-01 08:15:30": day(1, 8, 15, 30), "2026-11-01T06:15:00Z": day(1, 8, 15, 0),
	} {
		if got, err := Moment(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, bad := range []string{"d", "-1d", "1.5d", "03d", "-2h", "25:00", "2026-13-01", "yesterday"} {
		if got, err := Moment(bad, now); err == nil {
			t.Errorf("%q is %v", bad, got)
		}
	}
}

func TestAStatusMayBeShort(t *testing.T) {
	for text, want := range map[string]string{"status:ref": "refused", "status:OK": "ok", "status:": "", "hero": ""} {
		if q, err := Parse(text, time.Time{}); err != nil || q.FullStatus() != want {
			t.Errorf("%s: %q, %v, want %q", text, q.FullStatus(), err, want)
		}
	}
}
