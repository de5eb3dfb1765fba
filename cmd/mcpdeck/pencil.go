package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/pencil"
	server "github.com/mcpdeck/mcpdeck/servers/pencil"
	"github.com/mcpdeck/mcpdeck/servers/wire"
)

// pencilCommand switches Pencil mode of the running deck.
func pencilCommand(a *app) *cobra.Command {
	return pencil.Command(func(ctx context.Context, r server.Request) (reply server.Reply, err error) {
		cfg, err := a.load()
		if err != nil {
			return reply, err
		}
		err = wire.Ask(ctx, cfg.Paths.Socket, "pencil", r, &reply)
		return reply, err
	})
}
