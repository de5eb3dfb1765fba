// Package agents lists the agents' programs whose prompts and sessions the deck shows.
package agents

import (
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/agy"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/claude"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/codex"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/copilot"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/gemini"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/kimi"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/opencode"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/qwen"
	"github.com/mcpdeck/mcpdeck/servers/rules/book"
	"github.com/mcpdeck/mcpdeck/servers/rules/granted"
)

// All returns the list.
func All() []approvals.Agent {
	return []approvals.Agent{claude.Agent(), codex.Agent(), opencode.Agent(), opencode.Kilo(), gemini.Agent(), qwen.Agent(), copilot.Agent(), kimi.Agent(), agy.Agent()}
}

// Of returns the agent with an ID, a zero one if there is none.
func Of(id string) approvals.Agent {
	all := All()
	if i := slices.IndexFunc(all, func(a approvals.Agent) bool { return a.ID == id }); i >= 0 {
		return all[i]
	}
	return approvals.Agent{}
}

// Ruled is what of the agents' prompts rules of the user may allow.
func Ruled() book.Allowed {
	out := book.Allowed{}
	for _, a := range All() {
		if len(a.Ruled) > 0 {
			out[a.ID] = a.Ruled
		}
	}
	return out
}

// Env returns the prefixes of all agents' variables.
func Env() (all []string) {
	for _, a := range All() {
		all = append(all, a.Env...)
	}
	return all
}

// Granted lists what all agents have been allowed in their own files.
func Granted(in granted.Where) granted.List {
	l := granted.List{Entries: []granted.Entry{}, Skipped: []granted.Skipped{}}
	for _, a := range All() {
		if a.Granted == nil {
			continue
		}
		one := a.Granted.Read(a.ID, in)
		l.Entries, l.Skipped = append(l.Entries, one.Entries...), append(l.Skipped, one.Skipped...)
	}
	return l
}
