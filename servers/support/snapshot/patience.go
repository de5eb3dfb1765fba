package snapshot

import (
	"strconv"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

// beforeLimit is how long before a client's limit a call is handed over.
const beforeLimit = 20 * time.Second

// unknownPatience is for clients whose limit is not known, or that would wait
// longer if only there were progress to send: many use 60 s.
const unknownPatience = 50 * time.Second

// Patience is how long a call may take before it must return,
// 0 for as long as it likes.
func (c Caller) Patience(progress bool) time.Duration {
	if ms, err := strconv.ParseInt(c.Hints[clients.LimitHint], 10, 64); err == nil && ms > 0 {
		limit := time.Duration(ms) * time.Millisecond
		return max(limit-beforeLimit, limit/2)
	}
	if c.Transport == ByCommand && c.Program == "" {
		return 0 // the user's own shell, which nobody could tell to come back
	}
	of, _ := clients.Of(c.Client)
	switch {
	case of.Extends && !progress, !of.Extends && of.Limit == 0:
		return unknownPatience
	case of.Limit == 0:
		return 0
	}
	return of.Limit - beforeLimit
}
