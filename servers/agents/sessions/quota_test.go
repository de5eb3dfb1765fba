package sessions

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

func TestTheUserIsToldOnceBeforeAQuotaEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r Roster
		began := time.Now()
		resets := began.Add(5 * time.Hour)
		at := func(passed time.Duration, used float64) string {
			t.Helper()
			time.Sleep(time.Until(began.Add(passed))) // in virtual time
			return r.Quota(snapshot.Quota{Agent: "codex", Window: 5 * time.Hour, Used: used, Resets: resets, At: time.Now()})
		}
		clock := func(t time.Time) string { return t.Local().Format("15:04") }
		for _, tt := range []struct {
			passed time.Duration
			used   float64
			want   string
		}{
			{time.Minute, 3, ""}, // too little to tell
			{time.Hour, 40, ""},  // ends in an hour and a half
			{2 * time.Hour, 83, "codex: 5 h 83%, resets " + clock(resets) + "; at this pace it ends at " + clock(began.Add(144*time.Minute+34*time.Second))},
			{2*time.Hour + time.Minute, 91, ""}, // told already
			{6 * time.Hour, 10, ""},
		} {
			if got := at(tt.passed, tt.used); got != tt.want {
				t.Errorf("after %v: %q, want %q", tt.passed, got, tt.want)
			}
		}
		resets = began.Add(10 * time.Hour)
		if got := at(9*time.Hour, 90); got != "codex: 5 h 90%, resets "+clock(resets) {
			t.Errorf("the next one: %q", got)
		}
	})
}

func TestWhatWasResetSinceIsNotKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r Roster
		used := func(account string, window time.Duration) {
			r.Quota(snapshot.Quota{Agent: "codex", Account: account, Window: window, Used: 10, Resets: time.Now().Add(window), At: time.Now()})
		}
		used("", 5*time.Hour)
		used("work", 5*time.Hour)
		used("", 7*24*time.Hour)
		used("", 5*time.Hour) // again
		count := func(want int) {
			t.Helper()
			if got := r.Quotas(); len(got) != want {
				t.Errorf("got %v, want %d", got, want)
			}
		}
		count(3)
		time.Sleep(6 * time.Hour) // in virtual time
		count(1)
		time.Sleep(24 * time.Hour) // in virtual time
		count(0)
	})
}

func TestAListIsWatchedWhileSomebodyListens(t *testing.T) {
	var r Roster
	_, stop := r.Hints()
	if !r.Watched() {
		t.Error("nobody watches")
	}
	if stop(); r.Watched() {
		t.Error("somebody watches still")
	}
}
