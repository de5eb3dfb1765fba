package config

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// Prompts is what agents' own programs ask.
type Prompts struct {
	// Show them in the deck.
	Enabled bool `toml:"enabled"`
	// How long a prompt that its terminal does not show waits for you here; "0s": not at all.
	Hold humanize.Duration `toml:"hold"`
	// pass lets agents without a terminal go on by their own rules; hold asks you.
	Headless string `toml:"headless"`
	// What differs in some projects, by folder.
	Projects map[string]PromptProject `toml:"projects"`
	// How many seconds a permission can be undone; 0 gives it at once.
	UndoSeconds int `toml:"undo_seconds"`
	// Show or hide options that allow more than one call.
	Lasting string `toml:"lasting"`
	// Whose prompts are shown, by the agent.
	Agents map[string]bool `toml:"agents"`
}

// Shows reports whether the prompts of an agent's program are shown.
func (p *Prompts) Shows(agent string) bool { return p.Enabled && p.Agents[agent] }

// PromptProject is what differs in one project.
type PromptProject struct {
	// As prompts.headless.
	Headless string `toml:"headless"`
}

// mostDenied is the longest that a call may be held that was denied: the hook is ended soon after.
const mostDenied = 20 * time.Second

// Denied is what agents' own programs deny without asking.
type Denied struct {
	// How long Claude Code waits for you to let it try again what its auto mode has denied, at most "20s"; "0s": not at all.
	Hold humanize.Duration `toml:"hold"`
}

// Sessions is the list of agents' sessions.
type Sessions struct {
	// How long a session that has ended stays in the list.
	Keep humanize.Duration `toml:"keep"`
	// Send prompts to sessions from here: off, on, or ask, which explains it before the first one.
	Reply string `toml:"reply"`
}

// Prices is what tokens cost.
type Prices struct {
	// Table of prices in LiteLLM's format; its models win over those of mcpdeck's own table.
	File string `toml:"file"`
}

func defaultPrompts() Prompts {
	shown := map[string]bool{}
	for _, agent := range promptAgents() {
		shown[agent] = true
	}
	return Prompts{
		Enabled: true, Agents: shown,
		Hold: humanize.Duration(time.Minute), Headless: "pass", Lasting: "show",
	}
}

// promptAgents are the agents whose prompts the deck can show.
func promptAgents() []string {
	return clients.IDs(func(c clients.Client) bool { return c.Prompts != nil })
}

// checkPrompts warns of agents and projects that cannot be meant. An inline table leaves out
// the agents that it does not name.
func (c *Config) checkPrompts() {
	if hold := time.Duration(c.File.Denied.Hold); hold > mostDenied {
		c.warn("denied.hold", "denied.hold: "+mostDenied.String()+" at most, which holds")
	}
	known := promptAgents()
	for _, name := range known {
		shown, set := c.File.Prompts.Agents[name]
		c.File.Prompts.Agents[name] = shown || !set
	}
	for _, name := range slices.Sorted(maps.Keys(c.File.Prompts.Agents)) {
		if !slices.Contains(known, name) {
			delete(c.File.Prompts.Agents, name)
			c.warn("prompts.agents."+name, "unknown setting prompts.agents."+name+", ignored; the agents are "+strings.Join(known, ", "))
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(c.File.Prompts.Projects)) {
		where := "prompts.projects." + dir
		if !filepath.IsAbs(dir) && dir != "~" && !strings.HasPrefix(dir, "~/") {
			c.warn(where, where+": use an absolute path or one that begins with ~")
		}
	}
}

// PromptRules say how prompts are handled.
func (c *Config) PromptRules() approvals.Rules {
	f := c.File.Prompts
	return approvals.Rules{Hold: time.Duration(f.Hold), HoldDenied: min(time.Duration(c.File.Denied.Hold), mostDenied), OnceOnly: f.Lasting == "hide"}
}

// HoldsHeadless tells whether what an agent without a terminal asks in a folder waits for
// the user of the deck.
func (c *Config) HoldsHeadless(folder string) bool {
	word, longest := c.File.Prompts.Headless, -1
	for dir, p := range c.File.Prompts.Projects {
		if rest, home := strings.CutPrefix(dir, "~"); home {
			dir = filepath.Join(c.Home, rest)
		}
		if file.Within(dir, folder) && len(dir) > longest {
			word, longest = p.Headless, len(dir)
		}
	}
	return word == "hold"
}
