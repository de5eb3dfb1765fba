package config

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/span"
)

// Prompts is what agents' own programs ask.
type Prompts struct {
	Enabled     bool                     `toml:"enabled"`
	Claude      bool                     `toml:"claude"`
	Codex       bool                     `toml:"codex"`
	OpenCode    bool                     `toml:"opencode"`
	Gemini      bool                     `toml:"gemini"`
	Hold        span.Duration            `toml:"hold"`         // of a prompt that only the deck shows; 0: never
	Headless    string                   `toml:"headless"`     // "pass" or "hold": what agents without a terminal ask
	Projects    map[string]PromptProject `toml:"projects"`     // by folder
	UndoSeconds int                      `toml:"undo_seconds"` // of a permission that is given
	NotifyAfter span.Duration            `toml:"notify_after"`
	NotifyHere  bool                     `toml:"notify_here"` // also of a prompt in the window that the user sees
	Lasting     string                   `toml:"lasting"`     // "show" or "hide": options that allow more than one call
}

// PromptProject is what differs in one project.
type PromptProject struct {
	Headless string `toml:"headless"`
}

// Sessions is the list of agents' sessions.
type Sessions struct {
	Keep span.Duration `toml:"keep"` // of one that has ended
}

// Prices is what tokens cost.
type Prices struct {
	File string `toml:"file"` // a table whose models win over those of mcpdeck's own
}

func defaultPrompts() Prompts {
	return Prompts{
		Enabled: true, Claude: true, Codex: true, OpenCode: true, Gemini: true,
		Hold: span.Duration(time.Minute), Headless: "pass", NotifyAfter: span.Duration(1500 * time.Millisecond), Lasting: "show",
	}
}

func headlessWords() []string { return []string{"pass", "hold"} }

// checkPrompts warns of projects that cannot be meant.
func (c *Config) checkPrompts() {
	for _, dir := range slices.Sorted(maps.Keys(c.File.Prompts.Projects)) {
		where := "prompts.projects." + dir
		if !filepath.IsAbs(dir) && dir != "~" && !strings.HasPrefix(dir, "~/") {
			c.Warnings = append(c.Warnings, where+": use an absolute path or one that begins with ~")
		}
		c.warnWord(where+".headless", c.File.Prompts.Projects[dir].Headless, headlessWords())
	}
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
