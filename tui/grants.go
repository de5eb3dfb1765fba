package tui

import (
	"slices"

	"github.com/mcpdeck/mcpdeck/ask"
)

// GrantKey is the key that gives a grant, "" if only its number does.
func GrantKey(g ask.Grant) string {
	switch {
	case g.Scope != ask.Once && g.Scope != "":
		return ""
	case g.Allow:
		return "y"
	case g.Again:
		return "r"
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

// Granted returns the option that a key chooses, -1 if the agent offers none. Of several
// permissions that it fits, it chooses none.
func Granted(p *ask.Prompt, key string) int {
	fits := func(g ask.Grant) bool { return GrantKey(g) == key }
	i := slices.IndexFunc(p.Grants, fits)
	if i >= 0 && p.Kind == ask.Permission && slices.ContainsFunc(p.Grants[i+1:], fits) {
		return -1
	}
	return i
}
