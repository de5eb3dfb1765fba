package app

import (
	"fmt"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/support/userauth"
)

// Open makes a deck with a user and binds its addresses. screen tells whether
// the user gets a whole screen, and linked that [Begin] has started it: any other takes the place
// of one of these.
func Open(cfg *config.Config, screen, linked bool) (*App, *listeners, error) {
	if !linked {
		takePlace(cfg)
	}
	if err := userauth.Hide(); err != nil {
		return nil, nil, fmt.Errorf("keep other programs out of this process: %w", err)
	}
	h, err := New(cfg, true, nil)
	if err != nil {
		return nil, nil, err
	}
	if err := h.gate.Open(screen); err != nil {
		h.Host.Warn("ask", err.Error())
	}
	r, err := openListeners(h, linked)
	if err == nil {
		h.sayChanged()
	}
	return h, r, err
}
