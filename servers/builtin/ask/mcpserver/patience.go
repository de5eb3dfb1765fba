package mcpserver

import (
	"strconv"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// beforeLimit is how long before a client's limit a call is handed over.
const beforeLimit = 20 * time.Second

// unknownPatience is for clients whose limit is not known, or that would wait
// longer if only there were progress to send: many use 60 s.
const unknownPatience = 50 * time.Second

// Patience is how long a call of this caller may take before it must return,
// 0 for as long as it likes.
func Patience(who snapshot.Caller, progress bool) time.Duration {
	if ms, err := strconv.ParseInt(who.Hints[clients.LimitHint], 10, 64); err == nil && ms > 0 {
		limit := time.Duration(ms) * time.Millisecond
		return max(limit-beforeLimit, limit/2)
	}
	if who.Transport == snapshot.ByCommand && who.Program == "" {
		return 0 // the user's own shell, which nobody could tell to come back
	}
	c, _ := clients.Of(who.Client)
	switch {
	case c.Extends && !progress, !c.Extends && c.Limit == 0:
		return unknownPatience
	case c.Limit == 0:
		return 0
	}
	return c.Limit - beforeLimit
}
