package main

import (
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/app"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/cmd/internal/sessions"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setupcmd"
	"github.com/mcpdeck/mcpdeck/cmd/internal/token"
)

// newRoot is the command line.
func newRoot() *cobra.Command {
	return commandLine(&cli.Globals{Flags: config.Flags{Port: -1, Pages: app.PageIDs(), Sections: plugin.Sections()}})
}

func commandLine(a *cli.Globals) *cobra.Command {
	a.Flags.Variables = map[string]string{}
	root := deckCommand(a)
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
	root.SetHelpFunc(help)
	root.AddCommand(subcommands(a)...)
	group(root)
	for _, p := range plugin.All() {
		root.AddCommand(p.AllCommands(app.Program(a))...)
	}
	completeWords(root, a)
	strict(root)
	return root
}

// strict makes a word that a command does not know wrong usage, also of a command that
// does nothing but hold others.
func strict(c *cobra.Command) {
	if c.HasSubCommands() && !c.Runnable() {
		c.Args, c.RunE = cobra.NoArgs, func(c *cobra.Command, _ []string) error { return c.Help() }
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
	return append(switchCommands(a),
		mcpCommand(a), demoCommand(a), serveCommand(a), callCommand(a), toolsCommand(a), token.Command(a), logCommand(a),
		addCommand(a), importCommand(a), removeCommand(a), listCommand(a), setupcmd.Setup(setupOptions(a)), setupcmd.Undo(setupOptions(a)), doctorCommand(a), configCommand(a), versionCommand(a), manCommand(), hookCommand(), sessions.Command(a), statusCommand(a), serverCommand(a),
	)
}

// setupOptions are what the commands setup and undo need.
func setupOptions(a *cli.Globals) setupcmd.Options {
	return setupcmd.Options{Load: a.Load, Count: countServers}
}
