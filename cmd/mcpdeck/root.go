package main

import (
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
)

// app is what the subcommands share: the flags, and through load everything
// that follows from them.
type app struct {
	flags config.Flags
}

func (a *app) load() (*config.Config, error) { return config.Load(a.flags) }

// newRoot is the command line.
func newRoot() *cobra.Command {
	a := &app{flags: config.Flags{Port: -1}}
	root := deckCommand(a)
	root.SilenceUsage, root.SilenceErrors = true, true
	root.SetOut(os.Stdout) // cobra would print to standard error
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage{err} })
	f := root.PersistentFlags()
	f.StringVar(&a.flags.Name, "name", "", "name of the deck, where several run")
	f.StringVar(&a.flags.State, "state", "", "folder for sockets, journal and drafts (default ~/.local/state/mcpdeck)")
	f.StringVar(&a.flags.File, "config", "", "configuration file (default ~/.config/mcpdeck/config.toml)")
	f.StringArrayVar(&a.flags.Allow, "allow-dir", nil, "one more folder that agents' paths may lie in")
	root.AddCommand(a.subcommands()...)
	root.AddCommand(askCommands(a)...)
	return root
}

func (a *app) subcommands() []*cobra.Command {
	return []*cobra.Command{
		mcpCommand(a), serveCommand(a), callCommand(a), toolsCommand(a), tokenCommand(a), logCommand(a),
		pencilCommand(a), logicstampCommand(a), renderCommand(), showCommand(a), setupCommand(a), doctorCommand(a), versionCommand(),
	}
}

// version is the program's, from the build.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "dev"
	}
	return info.Main.Version
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArgs,
		Run: func(c *cobra.Command, _ []string) { c.Println("mcpdeck " + version()) },
	}
}

func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("unexpected argument %q", args[0])
	}
	return nil
}
