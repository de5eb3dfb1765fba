package inbox_test

import (
	"testing"
	"time"

	questions "github.com/mcpdeck/mcpdeck/ask"
)

func TestLaterAsksWhen(t *testing.T) {
	for _, tt := range []struct {
		name       string
		configured time.Duration
		keys       []string
		says       string
		back       time.Duration
	}{
		{"a digit", 0, []string{"z", "1"}, "back in 10 minutes", 10 * time.Minute},
		{"as configured", 25 * time.Second, []string{"z", "1"}, "back in 25 seconds", 25 * time.Second},
		{"by cursor", 0, []string{"z", "down", "enter"}, "back in an hour", time.Hour},
		{"tomorrow", 0, []string{"z", "3"}, "back tomorrow morning", 33 * time.Hour}, // the clock says midnight
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			setup{queue: questions.Options{Snooze: tt.configured}, ask: []string{pair}}.run(t, func(d *driver) {
				start := time.Now()
				d.Keys(tt.keys...)
				d.Has(tt.says)
				it := d.q.Pending().Items[0]
				same(t, it.State, questions.Snoozed)
				if back := it.Snoozed.Sub(start); back < tt.back-time.Minute || back > tt.back+time.Minute {
					t.Errorf("it comes back in %v", back)
				}
				if tt.back > time.Hour {
					d.Has("back in 33 h")
					return
				}
				d.Wait(tt.back + time.Second)
				if s := d.q.Pending().Items[0].State; s == questions.Snoozed {
					t.Error("it did not come back")
				}
			})
		})
	}
	with(t, pair, func(d *driver, _ *questions.Call) {
		d.Keys("z")
		d.Has("Later…", "its agent keeps waiting", "1  in 10 minutes", "2  in an hour", "3  tomorrow morning")
		d.Keys("esc")
		same(t, d.q.Pending().Items[0].State, questions.Shown)
	})
}

func TestANewRequestOpensByItselfBesideASnoozedOne(t *testing.T) {
	setup{}.run(t, func(d *driver) {
		d.Wait(5 * time.Second) // the page is idle, so requests come by themselves
		d.prompt(bash("1", "make"))
		d.Wait(5 * time.Second)
		d.Keys("z", "1")
		d.Wait(time.Minute)
		d.prompt(bash("2", "npm test"))
		d.Wait(time.Second)
		d.Has("npm test", "1 Allow once")
	})
}
