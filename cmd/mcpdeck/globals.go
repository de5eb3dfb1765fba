package main

import (
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
)

// app is what the subcommands share: the flags, and through load everything
// that follows from them.
type app struct {
	flags config.Flags
}

func (a *app) load() (*config.Config, error) {
	if p := a.flags.Port; p < -1 || p > 65535 {
		return nil, exit.Usagef("%s%d: use a number up to 65535; 0 picks a free one", a.said("port"), p)
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

func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return exit.Usagef("unexpected argument %q", args[0])
	}
	return nil
}
