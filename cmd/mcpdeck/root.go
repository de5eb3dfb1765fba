package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/acp"
	"github.com/mcpdeck/mcpdeck/cmd/internal/app"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/configure"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/deck"
	"github.com/mcpdeck/mcpdeck/cmd/internal/doctor"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/cmd/internal/help"
	"github.com/mcpdeck/mcpdeck/cmd/internal/machines"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/cmd/internal/push"
	"github.com/mcpdeck/mcpdeck/cmd/internal/rules"
	"github.com/mcpdeck/mcpdeck/cmd/internal/servers"
	"github.com/mcpdeck/mcpdeck/cmd/internal/sessions"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setupcmd"
	"github.com/mcpdeck/mcpdeck/cmd/internal/token"
	"github.com/mcpdeck/mcpdeck/cmd/internal/tools"
)

// newRoot is the command line.
func newRoot() *cobra.Command {
	return commandLine(&cli.Globals{Flags: config.Flags{Port: -1, Pages: app.PageIDs(), Sections: plugin.Sections()}})
}

func commandLine(a *cli.Globals) *cobra.Command {
	a.Flags.Variables = map[string]string{}
	root := deck.Command(a)
	root.SilenceUsage, root.SilenceErrors = true, true
	root.SetOut(console.Out()) // cobra would print to standard error
	root.SetErr(console.Err())
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return exit.Wrong(cli.UnknownFlag(c, cli.FlagError("", err))) })
	f := root.PersistentFlags()
	f.StringVar(&a.Flags.Name, "name", "", "name of the deck, if you run several")
	f.StringVar(&a.Flags.State, "state", "", "folder for state: sockets, journal, drafts (default ~/.local/state/mcpdeck)")
	f.StringVar(&a.Flags.File, "config", "", "configuration file (default ~/.config/mcpdeck/config.toml)")
	f.StringArrayVar(&a.Flags.Allow, "allow-dir", nil, "another folder that agents may use (can be repeated)")
	config.FolderList(f, "allow-dir")
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error { return a.FromVariables(c, c.Flags()) }
	root.SetHelpFunc(help.Print)
	root.AddCommand(subcommands(a)...)
	help.Group(root) // also cobra's own commands, which it would add after strict
	for _, p := range plugin.All() {
		root.AddCommand(p.AllCommands(app.Program(a))...)
	}
	strict(root)
	return root
}

// strict makes a word that a command does not know wrong usage, also of a command that
// does nothing but hold others, which are named then.
func strict(c *cobra.Command) {
	if c.HasSubCommands() && !c.Runnable() {
		c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		c.Args = func(c *cobra.Command, args []string) error {
			err := cobra.NoArgs(c, args)
			if err == nil {
				return nil
			}
			var names []string
			for _, sub := range c.Commands() {
				if sub.IsAvailableCommand() {
					names = append(names, sub.Name())
				}
			}
			return fmt.Errorf("%w; name one of %s; see %s --help", err, strings.Join(names, ", "), c.CommandPath())
		}
	}
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return exit.Wrong(err)
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		strict(sub)
	}
}

func subcommands(a *cli.Globals) []*cobra.Command {
	return append(servers.SwitchCommands(a),
		deck.MCPCommand(a), deck.DemoCommand(a), deck.ServeCommand(a), acp.Command(a), tools.CallCommand(a), tools.Command(a), token.Command(a), tools.LogCommand(a),
		servers.AddCommand(a), servers.ImportCommand(a), servers.RemoveCommand(a), servers.ListCommand(a), setupcmd.Setup(setupOptions(a)), setupcmd.Undo(setupOptions(a)), machines.Command(a), machines.EndCommand(a), machines.HubCommand(a), machines.JoinCommand(a), push.Command(a), doctor.Command(a), configure.Command(a), help.VersionCommand(a), help.ManCommand(), hookCommand(), rules.Command(a), sessions.Command(a), servers.StatusCommand(a), servers.Command(a),
	)
}

// setupOptions are what the commands setup and undo need.
func setupOptions(a *cli.Globals) setupcmd.Options {
	return setupcmd.Options{Load: a.Load, Own: app.Own, Count: servers.CountServers}
}
