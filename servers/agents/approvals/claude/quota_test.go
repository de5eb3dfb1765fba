package claude

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

func TestAStatusLineSaysWhatTheAccountHasUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []snapshot.Quota
		d := newDesk(t, func(o *Options) { o.Quota = func(q snapshot.Quota) { all = append(all, q) } })
		limits := map[string]any{"rate_limits": map[string]any{"five_hour": map[string]any{"used_percentage": 62.5, "resets_at": 1764300000}, "seven_day": map[string]any{"used_percentage": 8}}}
		d.prints(d.hook("StatusLine", limits), "")
		slices.SortFunc(all, func(a, b snapshot.Quota) int { return int(a.Window - b.Window) })
		want := []snapshot.Quota{
			{Agent: agent, Window: 5 * time.Hour, Used: 62.5, Resets: time.Unix(1764300000, 0), At: time.Now()},
			{Agent: agent, Window: 7 * 24 * time.Hour, Used: 8, At: time.Now()},
		}
		if !slices.Equal(all, want) {
			t.Errorf("got %v", all)
		}
		d.prints(d.hook("StatusLine", nil), "")
		limits["session_id"] = "another"
		d.prints(d.hook("StatusLine", limits), "")
		if len(all) != len(want) {
			t.Errorf("of no limits, or of another's session, it is told %v", all[len(want):])
		}
	})
}
