// Package servers implements the commands about servers: listing, adding, importing and removing
// them, and turning them on and off.
package servers

import (
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/app"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
)

// Command holds the commands about servers; most go without its name as well.
func Command(a *cli.Globals) *cobra.Command {
	c := &cobra.Command{
		Use: "server", Short: "List, add, import and remove servers, and turn them on and off",
		Long: "List, add, import and remove servers, and turn them on and off. All of these but status also go without\nthe word: mcpdeck on NAME is mcpdeck server on NAME.",
	}
	c.AddCommand(SwitchCommands(a)...)
	c.AddCommand(serverStatusCommand(a), ListCommand(a), AddCommand(a), ImportCommand(a), RemoveCommand(a))
	return c
}

func serverStatusCommand(a *cli.Globals) *cobra.Command {
	var long bool
	c := &cobra.Command{
		Use: "status NAME", Short: "Show a server's state, program, tools and calls",
		Long: "Show the state of a server of the running deck, what it costs, and what is called.",
		Args: cli.Args(1, 1, "name one server; mcpdeck list shows them"),
		RunE: func(c *cobra.Command, args []string) error { return serverStatus(c, a, args[0], long) },
	}
	c.ValidArgsFunction = cli.CompleteServers(a, plugin.Names(), 1)
	c.Flags().BoolVarP(&long, "long", "l", false, "also what changed, the instructions and the log")
	return c
}

func serverStatus(c *cobra.Command, a *cli.Globals, name string, long bool) error {
	return askCard(c, a, new(cli.KeyWait), app.CardRequest{Name: name, Request: upstream.Request{Verb: "status", Long: long}})
}
