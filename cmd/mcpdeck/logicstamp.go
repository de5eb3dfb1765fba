package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	command "github.com/mcpdeck/mcpdeck/cmd/internal/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
)

// logicstampCommand compares contracts without a deck: the store of snapshots
// is shared with one that runs.
func logicstampCommand(a *app) *cobra.Command {
	cmd := command.Command(func(context.Context) (*logicstamp.Service, error) {
		cfg, err := a.load()
		if err != nil {
			return nil, err
		}
		if err := cfg.Paths.Make(); err != nil {
			return nil, err
		}
		return logicstamp.New(cfg.LogicstampOptions())
	})
	for _, sub := range cmd.Commands() {
		run := sub.RunE
		sub.RunE = func(c *cobra.Command, args []string) error {
			err := run(c, args)
			var exit *command.Exit
			if errors.As(err, &exit) {
				return exitCode(exit.Code)
			}
			return err
		}
	}
	return cmd
}
