package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
)

// askCommands are the server of questions for one agent, and what can be done
// about questions from a shell.
func askCommands(a *app) []*cobra.Command {
	cmds := ask.Commands(func() (ask.Settings, error) {
		cfg, err := a.load()
		if err != nil {
			return ask.Settings{}, err
		}
		logTo(console.Err(), logLevel(cfg), redact.Rules{})
		program, err := os.Executable()
		if err != nil {
			return ask.Settings{}, fmt.Errorf("find this program: %w", err)
		}
		path, err := cfg.AskSocket()
		s := ask.Settings{
			Socket: path, Session: config.Env("MCPDECK_SESSION"), Root: cfg.ProjectRoot(), Roots: cfg.Roots, Program: program,
			Version: version(), Hints: config.Hints(), Redact: redact.Rules{ShapeOnly: cfg.File.Journal.ShapeOnly}.Body,
		}
		if cfg.File.Journal.Enabled {
			s.Journal = spool(cfg, func(sentence string) { slog.Warn(sentence) })
		}
		return s, err
	})
	for _, c := range cmds {
		for _, c := range append(c.Commands(), c) {
			run := c.RunE
			c.RunE = func(c *cobra.Command, args []string) error {
				err := run(c, args)
				if errors.As(err, new(ask.UsageError)) {
					return usage{err}
				}
				return err
			}
		}
	}
	return cmds
}
