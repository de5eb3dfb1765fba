// Package pencil implements the command `mcpdeck pencil`, which controls the running
// deck's Pencil mode from a shell.
package pencil

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
)

// Ask sends a request to the running deck.
type Ask func(ctx context.Context, r upstream.Request) (upstream.Reply, error)

// Command makes the command.
func Command(ask Ask) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pencil",
		Short: "Turn Pencil mode on or off, and show its state",
		Long: "Pencil mode offers the tools of the Pencil app's own MCP server to connected agents.\n" +
			"While it is off they see none of them. These commands act on the running deck.",
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return exit.Usagef("unknown command %q (use on, off, status, reconnect, accept)", args[0])
			}
			return exit.Wrong(errors.New("name a command: on, off, status, reconnect or accept"))
		},
	}
	verb := func(use, short string) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, Args: cli.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
			return send(c, ask, upstream.Request{Verb: use})
		}}
	}
	cmd.AddCommand(
		verb("on", "Offer Pencil's tools to the agents"),
		verb("off", "Stop offering Pencil's tools"),
		statusCommand(ask),
		verb("reconnect", "Restart Pencil's MCP server"),
		acceptCommand(ask),
	)
	return cmd
}

func statusCommand(ask Ask) *cobra.Command {
	var long bool
	c := &cobra.Command{Use: "status", Short: "Show mode, program, app, tools and calls", Args: cli.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
		return send(c, ask, upstream.Request{Verb: "status", Long: long})
	}}
	c.Flags().BoolVarP(&long, "long", "l", false, "also show where mcpdeck looked, what changed, the instructions and the log")
	return c
}

func acceptCommand(ask Ask) *cobra.Command {
	return &cobra.Command{
		Use:   "accept [TOOL...]",
		Short: "Offer tools that are new or whose definition changed",
		Long: "A tool that is new, or whose description or schema changed since you last accepted it,\n" +
			"stays hidden until you accept the change: agents act on such texts. mcpdeck pencil status --long shows what changed.\n" +
			"Without names all changes are accepted.\n\n" +
			"Only you can accept. This command asks for the proof that ask.cli_answers\n" +
			"names (a pairing code or a passphrase); without one it waits until you accept on the\n" +
			"Servers page.",
		RunE: func(c *cobra.Command, args []string) error {
			return send(c, ask, upstream.Request{Verb: "accept", Tools: args})
		},
	}
}

func send(c *cobra.Command, ask Ask, r upstream.Request) error {
	reply, err := ask(c.Context(), r)
	if err != nil {
		return err
	}
	text := reply.Text
	if text != "" && text[len(text)-1] != '\n' {
		text += "\n"
	}
	fmt.Fprint(c.OutOrStdout(), text)
	return nil
}
