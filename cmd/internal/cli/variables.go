package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/servers/support/fuzzy"
)

// Variable is the environment variable that stands for a flag: it is named after the
// command that defines the flag.
func Variable(c *cobra.Command, flag *pflag.Flag) string {
	owner := c
	for p := c.Parent(); p != nil; p = p.Parent() {
		if p.PersistentFlags().Lookup(flag.Name) == flag {
			owner = p
		}
	}
	return config.Variable(strings.TrimPrefix(owner.CommandPath(), owner.Root().Name()), flag.Name)
}

// HasVariable tells flags that say something from those that only ask for a text.
func HasVariable(flag *pflag.Flag) bool {
	return flag.Name != "help" && flag.Name != "version" && !flag.Hidden
}

// FromVariables gives those flags of a command that are not on the command line the values
// of their variables.
func (a *Globals) FromVariables(c *cobra.Command, flags *pflag.FlagSet) error {
	var first error
	flags.VisitAll(func(f *pflag.Flag) {
		if first != nil || !HasVariable(f) {
			return
		}
		name, given := Variable(c, f), f.Changed
		first = FlagError(name+"=", config.FromVariable(c.Flags(), f, name))
		if f.Changed && !given {
			a.Flags.Variables[f.Name] = name
		}
	})
	if first != nil {
		return exit.Wrong(first)
	}
	return nil
}

// FlagError says what a flag wants in words of the command line, not of this program. from
// is where its value is from; "" is the flag itself.
func FlagError(from string, err error) error {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err
	}
	if from == "" {
		from = "--" + bad.GetFlag().Name + " "
	}
	if !errors.As(err, new(*strconv.NumError)) {
		return fmt.Errorf("%s%q: %w", from, bad.GetValue(), bad.Unwrap())
	}
	wants := "a number"
	switch bad.GetFlag().Value.Type() {
	case "int":
		wants = "a whole number"
	case "bool":
		wants = "true or false"
	}
	return fmt.Errorf("%s%q: use %s", from, bad.GetValue(), wants)
}

// UnknownFlag says of a flag that there is not which one was probably meant, or where the
// command's flags are listed.
func UnknownFlag(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	switch {
	case !errors.As(err, &unknown):
		return err
	case unknown.GetSpecifiedShortnames() != "":
		return fmt.Errorf("unknown flag -%s; see %s --help", unknown.GetSpecifiedName(), c.CommandPath())
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if meant := fuzzy.Meant(unknown.GetSpecifiedName(), names); meant != "" {
		return fmt.Errorf("unknown flag --%s; did you mean --%s?", unknown.GetSpecifiedName(), meant)
	}
	return fmt.Errorf("unknown flag --%s; see %s --help", unknown.GetSpecifiedName(), c.CommandPath())
}
