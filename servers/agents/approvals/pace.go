package approvals

import (
	"maps"
	"path/filepath"
	"slices"
	"time"
)

// How many prompts a session may bring to the deck. The rest stay in its terminal.
const (
	PerMinute = 60
	MostOpen  = 20 // at once
)

// Pace bounds the prompts of an agent's sessions. Its user locks it.
type Pace struct {
	Queue Queue
	Agent string // ID of the agent's program

	taken   map[string][]time.Time // of the last minute, by session
	refused map[string]time.Time   // the last one, by session
}

// Admit counts one more prompt of a session in a folder, of which so many are open. If it
// has brought too many, Admit returns false, and the user is told: once, until a minute has
// passed without a prompt that is refused.
func (p *Pace) Admit(session, folder string, open int, now time.Time) bool {
	if open < MostOpen && p.take(session, now) {
		return true
	}
	p.refuse(session, folder, now)
	return false
}

func (p *Pace) take(session string, now time.Time) bool {
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

func (p *Pace) refuse(session, folder string, now time.Time) {
	maps.DeleteFunc(p.refused, func(_ string, at time.Time) bool { return now.Sub(at) >= time.Minute })
	if p.refused == nil {
		p.refused = map[string]time.Time{}
	}
	_, told := p.refused[session]
	p.refused[session] = now
	if !told {
		p.Queue.Notice(name(p.Agent, folder) + " asks too much at once; the rest of its prompts stay in its terminal")
	}
}

// name is what the user knows a session by: the agent, and its project.
func name(agent, folder string) string {
	if folder == "" {
		return agent
	}
	return agent + " in " + filepath.Base(folder)
}
