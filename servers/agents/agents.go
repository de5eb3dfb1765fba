// Package agents lists the agents' programs whose prompts and sessions the deck shows.
package agents

import (
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/claude"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/codex"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/gemini"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/opencode"
)

// All returns the list.
func All() []approvals.Agent {
	return []approvals.Agent{claude.Agent(), codex.Agent(), opencode.Agent(), gemini.Agent()}
}

// Of returns the agent with an ID, a zero one if there is none.
func Of(id string) approvals.Agent {
	all := All()
	if i := slices.IndexFunc(all, func(a approvals.Agent) bool { return a.ID == id }); i >= 0 {
		return all[i]
	}
	return approvals.Agent{}
}

// Env returns the prefixes of all agents' variables.
func Env() (all []string) {
	for _, a := range All() {
		all = append(all, a.Env...)
	}
	return all
}
