// Package cli is what the commands share: the flags of all of them, the variables that stand for
// flags, what a shell completes, tables and JSON in print, and waiting for the user's key.
package cli

import (
	"math"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
)

// Globals are the flags of all commands, and through Load the configuration that follows from
// them.
type Globals struct {
	Flags config.Flags
}

// Load reads the configuration.
func (a *Globals) Load() (*config.Config, error) {
	if p := a.Flags.Port; p < -1 || p > 65535 {
		return nil, exit.Usagef("%s%d: use a number up to 65535; 0 picks a free one", a.Said("port"), p)
	}
	return config.Load(a.Flags)
}

// Run is what a command does that needs the configuration.
func (a *Globals) Run(do func(c *cobra.Command, cfg *config.Config, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		cfg, err := a.Load()
		if err != nil {
			return err
		}
		return do(c, cfg, args)
	}
}

// Said is how the user gave a flag its value, up to that.
func (a *Globals) Said(flag string) string {
	if v := a.Flags.Variables[flag]; v != "" {
		return v + "="
	}
	return "--" + flag + " "
}

// PortFlag lets a command choose the port; -1, which means the configured one, is
// nothing to read in its help.
func (a *Globals) PortFlag(c *cobra.Command) {
	c.Flags().IntVar(&a.Flags.Port, "port", -1, "port of the HTTP endpoint; 0 picks a free one")
	c.Flags().Lookup("port").DefValue = "7337"
}

// Any is no limit for [Args].
const Any = math.MaxInt

// Args refuses fewer arguments than least, and more than most, with a sentence.
func Args(least, most int, wrong string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return exit.Usagef("%s", wrong)
		}
		return nil
	}
}

// NoArgs refuses arguments.
func NoArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return exit.Usagef("unexpected argument %q", args[0])
	}
	return nil
}
