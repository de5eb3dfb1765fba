package status

import (
	"context"
	"errors"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
)

// Exit codes of the command.
const (
	Waits  exit.Code = 3
	NoDeck exit.Code = 4
)

// Options are what the command needs of the program around it.
type Options struct {
	// Ask returns what the running deck says.
	Ask func(context.Context) (Report, error)
	// Server prints the state of one server.
	Server func(c *cobra.Command, name string, long bool) error
}

// Command returns the subcommand status.
func Command(o Options) *cobra.Command {
	var asJSON, long bool
	var format string
	c := &cobra.Command{
		Use: "status [SERVER]", Short: "Show who waits for you, who works and who is done",
		Long: `Show who waits for you, who works and who is done: a line each, of the running deck. Nothing is
started. It exits with 0 if nothing waits, 3 if something waits and 4 without a deck; with --format
always with 0.

--json prints {"v", "checks", "waiting", "working", "done", "failed", "usd"}. A check is a row:
{"name", "ok", "detail", "fix"}, as in doctor and setup, with "state", "agent", "project", "kind" and
"since"; it is ok unless it waits.

--format takes tmux, plain, waybar or starship, or a text with the names {waiting} {working} {done}
{failed} {cost} {first}: cost is what was spent today at list prices, first what has waited longest.
Without a deck it prints nothing.

mcpdeck status SERVER is short for mcpdeck server status SERVER.`,
		Example: "  mcpdeck status\n  mcpdeck status --format '{waiting} waiting, {cost} today'\n" +
			"  set -g status-right '#(mcpdeck status --format tmux)'   # in ~/.tmux.conf",
		Args: cli.Args(0, 1, "name one server; mcpdeck list shows them"),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 1 && (asJSON || format != ""):
				return exit.Usagef("--json and --format are for all agents; mcpdeck list --json has the servers")
			case len(args) == 1:
				return o.Server(c, args[0], long)
			case long:
				return exit.Usagef("--long is of a server: mcpdeck status SERVER --long")
			case asJSON && format != "":
				return exit.Usagef("use either --json or --format")
			case format != "":
				return printFormat(c, o, format)
			}
			return show(c, o, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().StringVar(&format, "format", "", "print `TEXT`: tmux, plain, waybar, starship, or with {waiting} and other names")
	c.Flags().BoolVarP(&long, "long", "l", false, "of a server: also what changed, the instructions and the log")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formatNames(), cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	return c
}

func show(c *cobra.Command, o Options, asJSON bool) error {
	r, err := o.Ask(c.Context())
	if errors.Is(err, transport.ErrNoDeck) {
		c.PrintErrln("mcpdeck:", err)
		return NoDeck
	}
	if err != nil {
		return err
	}
	if asJSON {
		err = console.PrintJSON(c.OutOrStdout(), r, true)
	} else {
		err = printRows(c, &r)
	}
	if err == nil && r.Waiting > 0 {
		err = Waits
	}
	return err
}

func printRows(c *cobra.Command, r *Report) error {
	if r.Waiting == 0 {
		c.Println("Nothing needs you")
	}
	return cli.PrintTable(c, r.lines(time.Now()), func(row, col int) lipgloss.Style {
		s := lipgloss.NewStyle()
		switch {
		case col == 4:
			return s.Faint(true)
		case col > 0:
			return s
		}
		switch r.Rows[row].State {
		case waiting:
			return s.Foreground(lipgloss.Yellow).Bold(true)
		case working:
			return s.Foreground(lipgloss.Cyan)
		}
		return s.Foreground(lipgloss.Green)
	})
}

// printFormat prints a format, and nothing where no deck answers: it stands in status lines,
// which show no errors.
func printFormat(c *cobra.Command, o Options, format string) error {
	ctx, cancel := context.WithTimeout(c.Context(), time.Second)
	defer cancel()
	var of *Report
	if r, err := o.Ask(ctx); err == nil {
		of = &r
	}
	text, err := formatted(format, of)
	if err == nil && text != "" {
		c.Println(text)
	}
	return err
}
