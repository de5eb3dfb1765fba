package servers

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/cmd/internal/status"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
)

// StatusCommand asks the running deck who waits.
func StatusCommand(a *cli.Globals) *cobra.Command {
	c := status.Command(status.Options{
		Ask: func(ctx context.Context) (r status.Report, err error) {
			cfg, err := a.Load()
			if err != nil {
				return r, err
			}
			return r, transport.Ask(ctx, cfg.Paths.Socket, "status", struct{}{}, &r)
		},
		Server: func(c *cobra.Command, name string, long bool) error { return serverStatus(c, a, name, long) },
	})
	c.ValidArgsFunction = cli.CompleteServers(a, plugin.Names(), 1)
	return c
}
