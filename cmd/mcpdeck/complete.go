package main

import (
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setup"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// completeChanges completes the ID of a change that can be undone.
func completeChanges(a *cli.Globals) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		cfg, err := a.Load()
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		entries, _ := change.Journal{Dir: cfg.Paths.Undo}.Entries() // without them, nothing is to be said
		var words []string
		for _, e := range entries {
			words = append(words, cobra.CompletionWithDesc(e.ID, sanitize.Line(e.What)))
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeWords makes arguments and flags of fixed words complete.
func completeWords(root *cobra.Command, a *cli.Globals) {
	if c, _, err := root.Find([]string{"undo"}); err == nil {
		c.ValidArgsFunction = completeChanges(a)
	}
	if c, _, err := root.Find([]string{"setup"}); err == nil {
		c.ValidArgsFunction = func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			switch {
			case len(args) > 0:
				return nil, cobra.ShellCompDirectiveNoFileComp
			case c.Flag("prompts").Changed:
				return setup.PromptNames(), cobra.ShellCompDirectiveNoFileComp
			}
			return setup.Names(), cobra.ShellCompDirectiveNoFileComp
		}
		cli.CompleteFlag(c, "signals", "hooks")
	}
}
