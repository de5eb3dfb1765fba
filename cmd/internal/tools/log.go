package tools

import (
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/log"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
)

// LogCommand shows the journal, of a running deck or of the last one.
func LogCommand(a *cli.Globals) *cobra.Command {
	c := log.Command(log.Options{Path: func() (string, error) {
		cfg, err := a.Load()
		if err != nil {
			return "", err
		}
		return cfg.Paths.Journal, nil
	}})
	cli.CompleteFlag(c, "status", "ok", "error", "refused", "cancelled", "lost")
	cli.CompleteFlag(c, "server", plugin.Names()...)
	_ = c.RegisterFlagCompletionFunc("tool", completeTool(a)) // the flag exists
	return c
}
