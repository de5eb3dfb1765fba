package config

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// Prompts is what agents' own programs ask.
type Prompts struct {
	// Show them in the deck.
	Enabled bool `toml:"enabled"`
	// Those of Claude Code.
	Claude bool `toml:"claude"`
	// Those of Codex.
	Codex bool `toml:"codex"`
	// Those of OpenCode.
	OpenCode bool `toml:"opencode"`
	// Those of Gemini CLI.
	Gemini bool `toml:"gemini"`
	// How long a prompt that its terminal does not show waits for you here; "0s": not at all.
	Hold humanize.Duration `toml:"hold"`
	// pass lets agents without a terminal go on by their own rules; hold asks you.
	Headless string `toml:"headless"`
	// What differs in some projects, by folder.
	Projects map[string]PromptProject `toml:"projects"`
	// How many seconds a permission can be undone; 0 gives it at once.
	UndoSeconds int `toml:"undo_seconds"`
	// How long a prompt must wait before you are notified.
	NotifyAfter humanize.Duration `toml:"notify_after"`
	// Notify you also of prompts in the window that you look at.
	NotifyHere bool `toml:"notify_here"`
	// Show or hide options that allow more than one call.
	Lasting string `toml:"lasting"`
}

// Shows reports whether the prompts of an agent's program are shown.
func (p *Prompts) Shows(agent string) bool {
	return p.Enabled && map[string]bool{"claude": p.Claude, "codex": p.Codex, "opencode": p.OpenCode, "gemini": p.Gemini}[agent]
}

// PromptProject is what differs in one project.
type PromptProject struct {
	// As prompts.headless.
	Headless string `toml:"headless"`
}

// Sessions is the list of agents' sessions.
type Sessions struct {
	// How long a session that has ended stays in the list.
	Keep humanize.Duration `toml:"keep"`
}

// Prices is what tokens cost.
type Prices struct {
	// Table of prices in LiteLLM's format; its models win over those of mcpdeck's own table.
	File string `toml:"file"`
}

func defaultPrompts() Prompts {
	return Prompts{
		Enabled: true, Claude: true, Codex: true, OpenCode: true, Gemini: true,
		Hold: humanize.Duration(time.Minute), Headless: "pass", NotifyAfter: humanize.Duration(1500 * time.Millisecond), Lasting: "show",
	}
}

// checkPrompts warns of projects that cannot be meant.
func (c *Config) checkPrompts() {
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
	return approvals.Rules{Hold: time.Duration(f.Hold), OnceOnly: f.Lasting == "hide"}
}

// HoldsHeadless tells whether what an agent without a terminal asks in a folder waits for
// the user of the deck.
func (c *Config) HoldsHeadless(folder string) bool {
	word, longest := c.File.Prompts.Headless, -1
	for dir, p := range c.File.Prompts.Projects {
		if rest, home := strings.CutPrefix(dir, "~"); home {
			dir = filepath.Join(c.Home, rest)
		}
		if rel, err := filepath.Rel(dir, folder); err == nil && filepath.IsLocal(rel) && len(dir) > longest {
			word, longest = p.Headless, len(dir)
		}
	}
	return word == "hold"
}
