package ask

import (
	"strconv"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers"
)

// beforeLimit is how long before a client's limit a call is handed over.
const beforeLimit = 20 * time.Second

// unknownPatience is for clients whose limit is not known, or that would wait
// longer if only there were progress to send: many use 60 s.
const unknownPatience = 50 * time.Second

// client is how long a client waits for one tool call.
type client struct {
	name   string // lower case, part of the name in the handshake
	limit  time.Duration
	extend bool // progress starts the limit anew, so that it never passes
}

// clients are measured or documented limits; the first match counts.
func clients() []client {
	return []client{
		{"claude-code", 100_000 * time.Second, true},
		{"claude code", 100_000 * time.Second, true},
		{"codex", 300 * time.Second, false},
		{"gemini", 600 * time.Second, false},
		{"opencode", 0, true},
		{"cursor", 60 * time.Second, false}, // calls itself cursor-vscode
		{"visual studio code", 300 * time.Second, false},
		{"vscode", 300 * time.Second, false},
		{"omp-coding-agent", 30 * time.Second, false}, // oh-my-pi
		{"claude-ai", 60 * time.Second, false},        // Claude Desktop
		{"pi", 0, true},
	}
}

// Patience is how long a call of this caller may take before it must return,
// 0 for as long as it likes.
func Patience(who servers.Caller, progress bool) time.Duration {
	if ms, err := strconv.ParseInt(who.Hints["MCPDECK_CLIENT_TIMEOUT_MS"], 10, 64); err == nil && ms > 0 {
		limit := time.Duration(ms) * time.Millisecond
		return max(limit-beforeLimit, limit/2)
	}
	if who.Transport == servers.ByCommand && who.Program == "" {
		return 0 // a person's own shell, which nobody could tell to come back
	}
	name := strings.ToLower(who.Client)
	for _, c := range clients() {
		if name != c.name && (len(c.name) < 3 || !strings.Contains(name, c.name)) {
			continue
		}
		switch {
		case c.extend && !progress:
			return unknownPatience
		case c.limit == 0:
			return 0
		}
		return c.limit - beforeLimit
	}
	return unknownPatience
}
