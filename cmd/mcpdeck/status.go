package main

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/status"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
)

// statusCommand asks the running deck who waits.
func statusCommand(a *app) *cobra.Command {
	return status.Command(status.Options{
		Ask: func(ctx context.Context) (r status.Report, err error) {
			cfg, err := a.load()
			if err != nil {
				return r, err
			}
			return r, transport.Ask(ctx, cfg.Paths.Socket, "status", struct{}{}, &r)
		},
		Server: func(c *cobra.Command, name string, long bool) error { return serverStatus(c, a, name, long) },
	})
}

// statusControl tells a command who waits.
func (h *instance) statusControl(context.Context, transport.Requester, json.RawMessage) (any, error) {
	d := status.Deck{Sessions: h.agents.roster.Sessions(), Spent: h.agents.roster.Spent(), Calls: h.host.Snapshot().Calls}
	if h.queue != nil {
		d.Items = h.queue.Pending().Items
	}
	return status.New(d), nil
}
