package snapshot

import "time"

// Away is another machine that is not linked.
type Away struct {
	Machine string
	Since   time.Time
	Why     string // in a line; "" if that is not known
}

// String is "build1 is away since 15:00".
func (a *Away) String() string {
	return a.Machine + " is away since " + a.Since.Format("15:04")
}
