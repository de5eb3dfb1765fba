package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcpdeck/mcpdeck/servers/card"
	"github.com/mcpdeck/mcpdeck/servers/proof"
	"github.com/mcpdeck/mcpdeck/servers/socket"
	"github.com/mcpdeck/mcpdeck/servers/wire"
)

// controls are the requests that commands send to a running deck.
func (h *instance) controls() map[string]wire.Control {
	return map[string]wire.Control{
		"card":   h.cardControl,
		"pencil": h.pencilControl,
		"show":   h.showControl,
	}
}

func (h *instance) pencilControl(ctx context.Context, from wire.Requester, args json.RawMessage) (any, error) {
	var r card.Request
	if err := json.Unmarshal(args, &r); err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	if r.Verb == "accept" {
		return h.acceptFor(ctx, from, r.Tools)
	}
	return h.pencil.Control(ctx, r)
}

// acceptFor accepts held definitions for a command that shows a proof, and else
// waits until the user does it on the screen.
func (h *instance) acceptFor(ctx context.Context, from wire.Requester, names []string) (any, error) {
	if from.Agent != "" {
		return nil, fmt.Errorf("pencil accept: only the user may accept definitions, and this comes from %s; accept on the deck's Pencil page", from.Agent)
	}
	shown, err := h.pencil.HeldBy(names)
	if err != nil {
		return nil, err
	}
	if len(shown) == 0 {
		return card.Reply{Text: "Nothing is held."}, nil
	}
	who := proof.Who{Folder: socket.Folder(from.PID)}
	who.PID, who.Program = socket.Behind(from.PID)
	method, refused := h.gate.Ready()
	if refused == nil {
		secret, err := from.Prove(ctx, string(method))
		if err != nil {
			return nil, err
		}
		if secret != "" {
			if err := h.gate.Try(who, secret); err != nil {
				return nil, fmt.Errorf("pencil accept: %w", err)
			}
			return h.pencil.AcceptShown(shown)
		}
		refused = errors.New("there is no terminal to ask on for a proof")
	}
	if !h.gate.Screen() {
		return nil, fmt.Errorf("pencil accept: %w", refused)
	}
	if err := from.Say("Waiting for you: press a on the deck's Pencil page to accept. Ctrl+C gives up."); err != nil {
		return nil, err
	}
	return h.pencil.WaitAccepted(ctx, who.String(), shown)
}
