package tui

import (
	"slices"

	"github.com/mcpdeck/mcpdeck/ask"
)

// GrantKey is the key that gives a grant, "" if only its number does.
func GrantKey(g ask.Grant) string {
	switch {
	case g.Allow && g.Scope == ask.ForSession:
		return "Y"
	case g.Allow && g.Scope == ask.Always:
		return ""
	case g.Allow:
		return "y"
	case g.Stop:
		return "x"
	case g.Note:
		return "N"
	}
	return "n"
}

// Lasting returns the first option that allows something for longer than once, -1 if the
// agent offers none.
func Lasting(p *ask.Prompt) int {
	if p == nil {
		return -1
	}
	return slices.IndexFunc(p.Grants, func(g ask.Grant) bool { return g.Allow && g.Scope != ask.Once })
}

// Granted returns the option that a key chooses, -1 if the agent offers none: of several
// for the session the last, which is the widest, and else the first.
func Granted(p *ask.Prompt, key string) int {
	found := -1
	for i, g := range p.Grants {
		if GrantKey(g) == key && (found < 0 || key == "Y") {
			found = i
		}
	}
	return found
}
