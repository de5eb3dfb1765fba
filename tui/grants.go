package tui

import (
	"slices"

	"github.com/mcpdeck/mcpdeck/ask"
)

// GrantKey is the key that gives a grant, "" if only its number does.
func GrantKey(g ask.Grant) string {
	switch {
	case g.Lasts():
		return ""
	case g.Allow:
		return "y"
	case g.Stop:
		return "x"
	case g.Note:
		return "m"
	}
	return "n"
}

// Lasting returns the first option that allows something for longer than once, -1 if the
// agent offers none.
func Lasting(p *ask.Prompt) int {
	if p == nil || p.Unconfirmed {
		return -1
	}
	return slices.IndexFunc(p.Grants, ask.Grant.Lasts)
}

// Granted returns the first option that a key chooses, -1 if the agent offers none.
func Granted(p *ask.Prompt, key string) int {
	return slices.IndexFunc(p.Grants, func(g ask.Grant) bool { return GrantKey(g) == key })
}
