package upstream

import (
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// maxStrays is the number of output lines that are not messages which a server may write
// before the server is reported as having a problem.
const maxStrays = 10

// sooner returns the state of two children that better describes what the card can do.
func sooner(a, b Link) Link {
	order := []Link{LinkReady, Connecting, Lost, LinkFailed, NoLink}
	return order[min(slices.Index(order, a), slices.Index(order, b))]
}

// Doing describes briefly what the children are doing.
func (s Status) Doing() string {
	var parts []string
	switch n := len(s.Children); {
	case n == 0:
		return "idle"
	case n > 1 && n != s.Agents:
		parts = append(parts, "running "+humanize.Count(n, "time"))
	default:
		parts = append(parts, "running")
	}
	if s.Agents > 0 {
		parts = append(parts, humanize.Count(s.Agents, "agent"))
	}
	return strings.Join(parts, ", ")
}
