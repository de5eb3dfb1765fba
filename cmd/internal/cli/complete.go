package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
)

// CompleteServers completes up to most names (0: any number) of servers that are not on the line yet:
// of mcpdeck's own those given, and of those that the user has added.
func CompleteServers(a *Globals, own []string, most int) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		cfg, err := a.Load()
		if err != nil || most > 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names := slices.DeleteFunc(slices.Concat(own, CardNames(cfg)), func(n string) bool { return slices.Contains(args, n) })
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteFlag completes a flag of a command to one of some words.
func CompleteFlag(c *cobra.Command, flag string, words ...string) {
	// It fails only where there is no such flag, which a test would see.
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// CardNames are the cards that there are, usable or not.
func CardNames(cfg *config.Config) []string {
	var out []string
	for _, card := range cfg.Cards {
		out = append(out, card.Name)
	}
	for _, b := range cfg.Broken {
		out = append(out, b.Name)
	}
	return out
}
