package config

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPromptsAreOnAndHeldForAMinute(t *testing.T) {
	c := load(t, map[string]string{"config.toml": ""})
	p := c.File.Prompts
	if !p.Enabled || time.Duration(p.Hold) != time.Minute || c.AskOptions().AllowHold != 0 || len(c.Warnings) > 0 {
		t.Errorf("defaults are %+v, warnings %q", p, c.Warnings)
	}
}

func TestOnlyThePromptsThatAreTurnedOnAreShown(t *testing.T) {
	for settings, want := range map[string]bool{"": true, "codex = false": true, "claude = false": false, "enabled = false": false, "agents.claude = false": false, "agents = { codex = false }": true} {
		c := load(t, map[string]string{"config.toml": "[prompts]\n" + settings + "\n"})
		if got := c.File.Prompts.Shows("claude"); got != want {
			t.Errorf("with %q, those of Claude Code are shown: %v", settings, got)
		}
	}
}

func TestOneProjectMayHoldWhatItsHeadlessAgentsAsk(t *testing.T) {
	c := load(t, map[string]string{"config.toml": "[prompts.projects.\"~/ci\"]\nheadless = \"hold\"\n[prompts.projects.\"~/ci/quick\"]\nheadless = \"pass\"\n"})
	for folder, want := range map[string]bool{"ci": true, "ci/a/b": true, "ci/quick/a": false, "cider": false, "": false} {
		if c.HoldsHeadless(filepath.Join(c.Home, folder)) != want {
			t.Errorf("%q is held: %v", folder, !want)
		}
	}
	if len(c.Warnings) > 0 {
		t.Errorf("warnings %q", c.Warnings)
	}
}

func TestSettingsOfPromptsThatCannotBeMeantAreNamed(t *testing.T) {
	c := load(t, map[string]string{"config.toml": "[prompts]\nheadless = \"ask\"\nlasting = \"no\"\n[prompts.projects.\"ci\"]\nheadless = \"hold\"\n[prompts.projects.\"/ci\"]\nheadless = \"x\"\n[prompts.agents]\nclade = false\n"})
	all := strings.Join(c.Warnings, "\n")
	for _, want := range []string{`prompts.headless: unknown value "ask"`, `prompts.lasting: unknown value "no"`, "prompts.projects.ci: use an absolute path", `prompts.projects./ci.headless: unknown value "x"`, "line 9: unknown setting prompts.agents.clade, ignored; the agents are claude, "} {
		if !strings.Contains(all, want) {
			t.Errorf("no warning %q in %q", want, all)
		}
	}
}
