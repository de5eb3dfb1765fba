package sessions

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

const (
	// wallAt is how much is used, in percent, and wallIn how soon it ends at its pace, for the
	// user to be told.
	wallAt = 90
	wallIn = 30 * time.Minute
	// staleQuota is how long what is used is shown that nobody has said again.
	staleQuota = 24 * time.Hour
	sameQuota  = time.Minute
)

// quota is what is known of one, and until when the user has been told that it ends.
type quota struct {
	snapshot.Quota
	told time.Time
}

// Quota takes in how much an agent's account has used. It returns what to tell the user:
// something once, before that ends.
func (r *Roster) Quota(q snapshot.Quota) (wall string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.quotas, func(o quota) bool {
		return o.Agent == q.Agent && o.Account == q.Account && o.Window == q.Window
	})
	if i < 0 {
		i, r.quotas = len(r.quotas), append(r.quotas, quota{})
	}
	o := &r.quotas[i]
	if o.Used == q.Used && o.Resets.Equal(q.Resets) && q.At.Sub(o.At) < sameQuota {
		return "" // status lines are drawn often
	}
	o.Quota = q
	r.hints.Send()
	ends := q.Ends()
	near := q.Used >= wallAt || !ends.IsZero() && ends.Sub(q.At) <= wallIn
	if !near || q.At.Before(o.told) {
		return ""
	}
	o.told = cmp.Or(q.Resets, q.At.Add(max(q.Window, time.Hour)))
	if wall = strings.TrimSpace(q.Agent+" "+q.Account) + ": " + q.Text(", "); q.Used < wallAt {
		wall += "; at this pace it ends at " + q.Clock(ends)
	}
	return wall
}

// Quotas returns how much accounts have used, by agent, as far as it has not been reset since.
func (r *Roster) Quotas() (all []snapshot.Quota) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for _, o := range r.quotas {
		if now.Sub(o.At) < staleQuota && (o.Resets.IsZero() || now.Before(o.Resets)) {
			all = append(all, o.Quota)
		}
	}
	slices.SortFunc(all, func(a, b snapshot.Quota) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Account, b.Account), cmp.Compare(a.Window, b.Window))
	})
	return all
}

// Watched reports whether somebody is told when the list changes.
func (r *Roster) Watched() bool { return r.hints.Heard() }
