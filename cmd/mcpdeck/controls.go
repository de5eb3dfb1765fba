package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mcpdeck/mcpdeck/servers/pencil"
	"github.com/mcpdeck/mcpdeck/servers/wire"
)

// controls are the requests that commands send to a running deck.
func (h *house) controls() map[string]wire.Control {
	return map[string]wire.Control{
		"pencil": h.pencilControl,
		"show":   h.showControl,
	}
}

func (h *house) pencilControl(ctx context.Context, from wire.Requester, args json.RawMessage) (any, error) {
	var r pencil.Request
	if err := json.Unmarshal(args, &r); err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	return h.pencil.Control(ctx, from.Agent, r)
}
