package main

import (
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/log"
)

// logCommand shows the journal, of a running deck or of the last one.
func logCommand(a *app) *cobra.Command {
	return log.Command(log.Options{Path: func() (string, error) {
		cfg, err := a.load()
		if err != nil {
			return "", err
		}
		return cfg.Paths.Journal, nil
	}})
}
