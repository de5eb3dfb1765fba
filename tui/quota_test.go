package tui

import (
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
)

func TestAQuotaThatEndsBeforeItResetsIsAWarning(t *testing.T) {
	th := theme.New(theme.Options{Dark: true})
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.Local)
	of := func(used float64, in, ago time.Duration) snapshot.Quota {
		return snapshot.Quota{Agent: "codex", Window: 5 * time.Hour, Used: used, Resets: now.Add(in), At: now.Add(-ago)}
	}
	for _, tt := range []struct {
		name string
		q    snapshot.Quota
		want string
	}{
		{"in time", of(62, time.Hour, 0), th.Muted.Render("codex 5 h 62% · resets 13:00")},
		{"too fast", of(62, 3*time.Hour, 0), th.Warn.Render("codex 5 h 62% · resets 15:00")},
		{"too little to tell", of(12, 299*time.Minute, 0), th.Muted.Render("codex 5 h 12% · resets 16:59")},
		{"all", of(100, time.Minute, 0), th.Warn.Render("codex 5 h 100% · resets 12:01")},
		{"old", of(62, 3*time.Hour, 15*time.Minute), th.Faint.Render("codex 5 h 62% · resets 15:00 (15 m ago)")},
		{"of a length that is not known", snapshot.Quota{Agent: "codex", Used: 62.7, At: now}, th.Muted.Render("codex 62%")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := QuotaText(&Frame{Theme: th, Now: now}, &tt.q, tt.q.Agent); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestOfAnAccountTheQuotaThatEndsFirstIsShown(t *testing.T) {
	th := theme.New(theme.Options{Dark: true})
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.Local)
	q := func(account string, hours time.Duration, used float64) snapshot.Quota {
		return snapshot.Quota{Agent: "codex", Account: account, Window: hours * time.Hour, Used: used, Resets: now.Add(hours * time.Hour / 2), At: now}
	}
	got := quotas(&Frame{Theme: th, Now: now}, []snapshot.Quota{q("", 5, 45), q("", 168, 49), q("work", 5, 60), q("work", 168, 55)})
	if len(got) != 2 || got[0] != th.Muted.Render("codex 7 d 49% · resets Wed 00:00") || got[1] != th.Warn.Render("codex work 5 h 60% · resets 14:30") {
		t.Errorf("got %q", got)
	}
}
