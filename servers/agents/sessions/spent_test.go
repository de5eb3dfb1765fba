package sessions_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// farFromMidnight passes the time until noon.
func farFromMidnight() {
	now := time.Now()
	y, m, d := now.Date()
	testwait.Pass(time.Date(y, m, d+1, 12, 0, 0, 0, time.Local).Sub(now))
}

func TestWhatASessionSpentTodayCountsAfterItHasLeftTheList(t *testing.T) {
	run(t, sessions.Options{}, func(r *sessions.Roster) {
		farFromMidnight()
		ended := snapshot.Session{Agent: "opencode", ID: "s", State: snapshot.Ended, Since: time.Now(), Cost: snapshot.Cost{USD: 3, Today: 1.5, Known: true}}
		r.Report(ended)
		testwait.Pass(59 * time.Minute)
		if s := find(r, "s"); s.Cost.Today != 1.5 || r.Spent() != 0 {
			t.Errorf("in the list it spent %v, beside it %v", s.Cost.Today, r.Spent())
		}
		testwait.Pass(2 * time.Minute)
		if s := find(r, "s"); s.ID != "" || r.Spent() != 1.5 {
			t.Errorf("after an hour: %+v, spent %v", s, r.Spent())
		}
		r.Report(ended)
		if r.Spent() != 0 {
			t.Error("back in the list, it counts twice")
		}
		testwait.Pass(24 * time.Hour)
		if r.Spent() != 0 {
			t.Error("it counts for the next day")
		}
	})
}

func TestWithOtherPricesASessionThatHasLeftTheListCostsWhatItCostsByThem(t *testing.T) {
	home := t.TempDir()
	table := func(text string) *usage.Prices {
		p, err := usage.ParsePrices([]byte(text), "")
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	var prices atomic.Pointer[usage.Prices]
	prices.Store(table(`{"m":{"input_cost_per_token":2}}`))
	count := usage.New(usage.Options{Programs: map[string]usage.Program{"claude": {Folder: home, Format: usage.Claude()}}, Prices: prices.Load, State: t.TempDir()})
	run(t, sessions.Options{Usage: count}, func(r *sessions.Roster) {
		farFromMidnight()
		path := filepath.Join(home, "projects", "-src-shop", "s.jsonl")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf(`{"timestamp":%q,"message":{"id":"a","model":"m","usage":{"input_tokens":10}}}`+"\n", time.Now().Format(time.RFC3339))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		ended := snapshot.Session{State: snapshot.Ended, Since: time.Now(), Folder: "/src/shop"}
		ended.Agent, ended.ID = "claude", "s"
		r.Report(ended)
		ended.Agent, ended.Cost = "opencode", snapshot.Cost{USD: 3, Today: 3, Known: true}
		r.Report(ended)
		testwait.Pass(2 * time.Hour)
		if got := r.Spent(); got != 23 {
			t.Errorf("%v was spent, want 23", got)
		}
		for text, want := range map[string]float64{`{"m":{"input_cost_per_token":3}}`: 33, `{"other":{"input_cost_per_token":2}}`: 3} {
			prices.Store(table(text))
			r.Look()
			testwait.Pass(time.Minute)
			if got := r.Spent(); got != want {
				t.Errorf("with %s, %v was spent, want %v", text, got, want)
			}
		}
	})
}
