package claude

import (
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// quota reports what the status line of a session says that its account has used.
func (a *Adapter) quota(c *hook.Conn, m hook.Message) {
	var says hook.StatusLine
	s, ok := a.identify(c, m.Payload.Str("session_id"))
	if !ok || a.opt.Quota == nil || json.Unmarshal(m.Raw, &says) != nil {
		return
	}
	q := snapshot.Quota{Agent: agent, At: time.Now()}
	if !s.own {
		q.Account = filepath.Base(s.config)
	}
	for window, u := range map[time.Duration]*hook.Used{5 * time.Hour: says.Quotas.FiveHours, 7 * 24 * time.Hour: says.Quotas.SevenDays} {
		if u != nil {
			q.Window, q.Used, q.Resets = window, u.Percent, snapshot.Moment(int64(u.Resets))
			a.opt.Quota(q)
		}
	}
}
