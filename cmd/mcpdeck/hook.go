package main

import (
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/hook"
)

// hookCommand is for the help: main runs a hook before there are commands.
func hookCommand() *cobra.Command {
	return &cobra.Command{
		Use: "hook AGENT", Short: "Bring an agent's own prompt to the deck (started by its hooks)", Hidden: true, Args: cobra.ArbitraryArgs,
		Run: func(_ *cobra.Command, args []string) { hook.Run(args) },
	}
}
