package upstream

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// ChildFact is what the user can see about one child.
type ChildFact struct {
	Name    string // in the log
	PID     int    // 0 if it is not a process of mcpdeck's
	Since   time.Time
	Root    string   // the project it was started in; "" means the deck's folder
	Agents  []string // ids of those it serves
	Running int      // number of calls
}

func (f ChildFact) String() string {
	text := "connected"
	if f.PID != 0 {
		text = fmt.Sprintf("process %d", f.PID)
	}
	text += ", for " + humanize.Took(time.Since(f.Since))
	if f.Root != "" {
		text += ", in " + f.Root
	}
	if n := len(f.Agents); n != 1 {
		text += fmt.Sprintf(", %d agents", n)
	}
	if f.Running > 0 {
		text += fmt.Sprintf(", %d running", f.Running)
	}
	return text
}

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
		parts = append(parts, fmt.Sprintf("running %d times", n))
	default:
		parts = append(parts, "running")
	}
	switch {
	case s.Agents == 1:
		parts = append(parts, "1 agent")
	case s.Agents > 1:
		parts = append(parts, fmt.Sprintf("%d agents", s.Agents))
	}
	return strings.Join(parts, ", ")
}
