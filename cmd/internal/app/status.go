package app

import (
	"context"
	"encoding/json"

	"github.com/mcpdeck/mcpdeck/cmd/internal/status"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
)

// statusControl tells a command who waits.
func (h *App) statusControl(context.Context, transport.Requester, json.RawMessage) (any, error) {
	d := status.Deck{Sessions: h.Agents.Roster.Sessions(), Spent: h.Agents.Roster.Spent(), Calls: h.Host.Snapshot().Calls}
	if h.Queue != nil {
		d.Items = h.Queue.Pending().Items
	}
	return status.New(d), nil
}
