package main

import (
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setupcmd"
	"github.com/mcpdeck/mcpdeck/servers/support/fuzzy"
)

// app is what the subcommands share: the flags, and through load everything
// that follows from them.
type app struct {
	flags config.Flags
}

func (a *app) load() (*config.Config, error) {
	if p := a.flags.Port; p < -1 || p > 65535 {
		return nil, usagef("%s%d: use a number up to 65535; 0 picks a free one", a.said("port"), p)
	}
	return config.Load(a.flags)
}

// said is how the user gave a flag its value, up to that.
func (a *app) said(flag string) string {
	if v := a.flags.Variables[flag]; v != "" {
		return v + "="
	}
	return "--" + flag + " "
}

// portFlag lets a command choose the port; -1, which means the configured one, is
// nothing to read in its help.
func (a *app) portFlag(c *cobra.Command) {
	c.Flags().IntVar(&a.flags.Port, "port", -1, "port of the HTTP endpoint; 0 picks a free one")
	c.Flags().Lookup("port").DefValue = "7337"
}

// newRoot is the command line.
func newRoot() *cobra.Command {
	return commandLine(&app{flags: config.Flags{Port: -1, Pages: pageIDs(), Sections: plugin.Sections()}})
}

func commandLine(a *app) *cobra.Command {
	a.flags.Variables = map[string]string{}
	root := deckCommand(a)
	root.SilenceUsage, root.SilenceErrors = true, true
	root.SetOut(console.Out()) // cobra would print to standard error
	root.SetErr(console.Err())
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return exit.Wrong(unknownFlag(c, flagError("", err))) })
	f := root.PersistentFlags()
	f.StringVar(&a.flags.Name, "name", "", "name of the deck, if you run several")
	f.StringVar(&a.flags.State, "state", "", "folder for state: sockets, journal, drafts (default ~/.local/state/mcpdeck)")
	f.StringVar(&a.flags.File, "config", "", "configuration file (default ~/.config/mcpdeck/config.toml)")
	f.StringArrayVar(&a.flags.Allow, "allow-dir", nil, "another folder that agents may use (can be repeated)")
	config.FolderList(f, "allow-dir")
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error { return a.fromVariables(c, c.Flags()) }
	root.SetHelpFunc(help)
	root.AddCommand(a.subcommands()...)
	group(root)
	for _, p := range plugin.All() {
		root.AddCommand(p.AllCommands(a.program())...)
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

func (a *app) subcommands() []*cobra.Command {
	return append(switchCommands(a),
		mcpCommand(a), demoCommand(a), serveCommand(a), callCommand(a), toolsCommand(a), tokenCommand(a), logCommand(a),
		addCommand(a), importCommand(a), removeCommand(a), listCommand(a), setupcmd.Setup(a.setupOptions()), setupcmd.Undo(a.setupOptions()), doctorCommand(a), configCommand(a), versionCommand(a), manCommand(), hookCommand(), sessionsCommand(a), statusCommand(a), serverCommand(a),
	)
}

// noSuchCommand refuses what the deck itself would be given: it takes nothing, so
// that a command was meant.
func noSuchCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	if meant := fuzzy.Meant(args[0], names); meant != "" {
		return usagef("unknown command %q; did you mean %q?", args[0], meant)
	}
	return usagef("unknown command %q; see mcpdeck --help", args[0])
}

func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("unexpected argument %q", args[0])
	}
	return nil
}
