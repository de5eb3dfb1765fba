package main

import (
	"context"
	"encoding/json"

	"github.com/mcpdeck/mcpdeck/cmd/internal/status"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
)

// statusControl tells a command who waits.
func (h *instance) statusControl(context.Context, transport.Requester, json.RawMessage) (any, error) {
	d := status.Deck{Sessions: h.agents.Roster.Sessions(), Spent: h.agents.Roster.Spent(), Calls: h.host.Snapshot().Calls}
	if h.queue != nil {
		d.Items = h.queue.Pending().Items
	}
	return status.New(d), nil
}
