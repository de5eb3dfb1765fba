package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/proof"
	"github.com/mcpdeck/mcpdeck/tui/picture"
)

// checkWords warns of settings that know only some words and have another one;
// what the default does holds then.
func (c *Config) checkWords(pages []string) {
	f := &c.File
	rows := []struct {
		name, value string
		words       []string
	}{
		{"ui.background", f.UI.Background, []string{"", "dark", "light"}},
		{"ui.pictures", f.UI.Pictures, append(picture.ModeNames(), "", "ascii")},
		{"ask.sort", f.Ask.Sort, []string{"", "deadline"}},
		{"ask.cli_answers", string(f.Ask.CLIAnswers), append(proof.Methods(), "true", "false")},
		{"ask.persist", f.Ask.Persist, []string{"on", "off"}},
		{"ask.history", f.Ask.History, []string{"on", "off"}},
		{"ask.autofocus", f.Ask.Autofocus, []string{"idle", "never", "always"}},
		{"ask.notify", f.Ask.Notify, []string{"all", "bell", "title", "off"}},
		{"prompts.headless", f.Prompts.Headless, headlessWords()},
		{"prompts.lasting", f.Prompts.Lasting, []string{"show", "hide"}},
		{"pencil.gateway", f.Pencil.Gateway, []string{"auto", "always", "never"}},
	}
	if f.Ask.CLIAnswers == "true" {
		c.Warnings = append(c.Warnings, `ask.cli_answers: true means "pair"; say so in the configuration`)
	}
	if pages != nil {
		c.warnWord("ui.start", f.UI.Start, append([]string{""}, pages...))
	}
	for _, r := range rows {
		c.warnWord(r.name, r.value, r.words)
	}
	for _, tool := range slices.Sorted(maps.Keys(f.Clippy.Policy)) {
		c.warnWord("clippy.policy."+tool, f.Clippy.Policy[tool], []string{"allow", "ask", "off"})
	}
	if err := f.Theme.Dark.Check(); err != nil {
		c.Warnings = append(c.Warnings, "theme.dark: "+err.Error())
	}
	if err := f.Theme.Light.Check(); err != nil {
		c.Warnings = append(c.Warnings, "theme.light: "+err.Error())
	}
}

func (c *Config) warnWord(name, value string, words []string) {
	if slices.Contains(words, value) {
		return
	}
	known := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "" })
	c.Warnings = append(c.Warnings, fmt.Sprintf("%s: unknown value %q; use %s", name, value, strings.Join(known, ", ")))
}
