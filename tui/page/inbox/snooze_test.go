package inbox_test

import (
	"testing"
	"time"

	questions "github.com/mcpdeck/mcpdeck/ask"
)

// z puts off for as long as is configured, Z asks.
func TestSnoozeForAsLongAsOneWants(t *testing.T) {
	tests := []struct {
		name       string
		configured time.Duration
		keys       []string
		says       string
		back       time.Duration
	}{
		{"z", 0, []string{"z"}, "back in 10 minutes", 10 * time.Minute},
		{"z, configured", 25 * time.Minute, []string{"z"}, "back in 25 minutes", 25 * time.Minute},
		{"z, a moment", 20 * time.Second, []string{"z"}, "back in 20 seconds", 20 * time.Second},
		{"Z, first", 0, []string{"Z", "1"}, "back in 5 minutes", 5 * time.Minute},
		{"Z, by cursor", 0, []string{"Z", "down", "down", "enter"}, "back in 30 minutes", 30 * time.Minute},
		{"Z, last", 0, []string{"Z", "4"}, "back in an hour", time.Hour},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			setup{queue: questions.Options{Snooze: tt.configured}, ask: []string{pair}}.run(t, func(d *driver) {
				d.Keys(tt.keys...)
				d.Has(tt.says)
				d.Wait(tt.back - 2*time.Second)
				same(t, d.q.Pending().Items[0].State, questions.Snoozed)
				d.Wait(3 * time.Second)
				if s := d.q.Pending().Items[0].State; s == questions.Snoozed {
					t.Error("it did not come back")
				}
			})
		})
	}
	with(t, pair, func(d *driver, _ *questions.Call) {
		d.Keys("Z")
		d.Has("Snooze until…", "its agent keeps waiting", "an hour")
		d.Keys("esc")
		same(t, d.q.Pending().Items[0].State, questions.Shown)
	})
}

func TestANewRequestOpensByItselfBesideASnoozedOne(t *testing.T) {
	setup{}.run(t, func(d *driver) {
		d.Wait(5 * time.Second) // the page is idle, so requests come by themselves
		d.prompt(bash("1", "make"))
		d.Wait(5 * time.Second)
		d.Keys("z")
		d.Wait(time.Minute)
		d.prompt(bash("2", "npm test"))
		d.Wait(time.Second)
		d.Has("npm test", "1 Allow once")
	})
}
