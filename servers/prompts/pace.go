package prompts

import (
	"maps"
	"slices"
	"time"
)

// PerMinute is how many prompts a session may bring to the deck in a minute. The rest
// stay in its terminal.
const PerMinute = 60

// Pace counts the prompts of sessions. The zero value is ready; its user locks it.
type Pace struct {
	taken map[string][]time.Time // of the last minute, by session
}

// Take counts one more prompt of a session; false if it has brought too many.
func (p *Pace) Take(session string, now time.Time) bool {
	old := func(at time.Time) bool { return now.Sub(at) >= time.Minute }
	maps.DeleteFunc(p.taken, func(_ string, all []time.Time) bool { return old(all[len(all)-1]) })
	recent := slices.DeleteFunc(p.taken[session], old)
	full := len(recent) >= PerMinute
	if !full {
		recent = append(recent, now)
	}
	if p.taken == nil {
		p.taken = map[string][]time.Time{}
	}
	p.taken[session] = recent
	return !full
}
