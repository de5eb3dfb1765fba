package tui

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// ConnectionFacts are what there is to know of an agent's connection to the deck: names,
// each with its value behind it; a value may be "".
func ConnectionFacts(f *Frame, s *snapshot.Snapshot, a *snapshot.Agent) []string {
	stale, refused, failed := "", "", ""
	switch {
	case a.Stale && a.Gateway:
		stale = "it does not refresh its list of tools; it uses new ones through the gateway tool"
	case a.Stale:
		stale = "it does not refresh its list of tools; turn Pencil on before it starts, or connect it with mcpdeck mcp --gateway"
	}
	if a.Refused != nil {
		refused = a.Refused.Error() + "; start the agent in a project's folder"
	}
	if a.Errors > 0 {
		failed = ", " + strconv.FormatUint(a.Errors, 10) + " failed"
	}
	return []string{
		"new tools", stale,
		"no project", refused,
		"through", reached(a.Transport),
		"protocol", a.Protocol,
		"servers", cmp.Or(strings.Join(a.View, ", "), "all"),
		"profile", a.Profile,
		"tools cost", snapshot.ContextCost(contextOf(s, a)),
		"on demand", lazily(a.Got.Lazy),
		"connected", f.Since(a.Since),
		"calls", strconv.FormatUint(a.Calls, 10) + failed,
	}
}

// lazily says how an agent has the tools of lazy servers.
func lazily(l snapshot.Lazy) string {
	switch l {
	case snapshot.Finds:
		return "it finds their tools with find_tools"
	case snapshot.Searches:
		return "listed as a whole: its client searches them by itself"
	}
	return ""
}

// contextOf is how many bytes of a model's context the servers in an agent's view take.
func contextOf(s *snapshot.Snapshot, a *snapshot.Agent) (bytes int) {
	if a.Got.Lazy == snapshot.Finds {
		return a.Got.Context
	}
	for i := range s.Servers {
		if one := &s.Servers[i]; a.Sees(one.Name) {
			bytes += one.Context
		}
	}
	return bytes
}

// reached is the way an agent reaches the deck, in words.
func reached(transport string) string {
	switch transport {
	case "unix":
		return "mcpdeck mcp, the socket"
	case "http":
		return "HTTP"
	}
	return transport
}
