package main

import (
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/hook"
)

// hookCommand is for the help: main runs a hook before there are commands.
func hookCommand() *cobra.Command {
	return &cobra.Command{
		Use: "hook AGENT", Short: "Bring an agent's own prompt to the deck (started by its hooks)", Hidden: true, Args: cobra.ArbitraryArgs,
		Long: "Bring an agent's own prompt to the deck, and print what is decided there.\n\nThe hooks that mcpdeck setup --prompts adds start it, or the program mcpdeck-hook, which does the same and starts faster.",
		Run:  func(_ *cobra.Command, args []string) { hook.Run(args) },
	}
}
