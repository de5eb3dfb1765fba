// Package agents lists the agents' programs whose prompts and sessions the deck shows.
package agents

import (
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/prompts"
	"github.com/mcpdeck/mcpdeck/servers/prompts/claude"
	"github.com/mcpdeck/mcpdeck/servers/prompts/codex"
	"github.com/mcpdeck/mcpdeck/servers/prompts/gemini"
	"github.com/mcpdeck/mcpdeck/servers/prompts/opencode"
)

// All returns the list.
func All() []prompts.Agent {
	return []prompts.Agent{claude.Agent(), codex.Agent(), opencode.Agent(), gemini.Agent()}
}

// Of returns the agent with an ID, a zero one if there is none.
func Of(id string) prompts.Agent {
	all := All()
	if i := slices.IndexFunc(all, func(a prompts.Agent) bool { return a.ID == id }); i >= 0 {
		return all[i]
	}
	return prompts.Agent{}
}

// Env returns the prefixes of all agents' variables.
func Env() (all []string) {
	for _, a := range All() {
		all = append(all, a.Env...)
	}
	return all
}
