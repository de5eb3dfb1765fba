package app

import (
	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/userauth"
	"github.com/mcpdeck/mcpdeck/tui"
)

// ScreenAlone is the screen of a deck that does not run, for what its pages can do. The
// queue and the gate that they look at are nobody's.
func (h *App) ScreenAlone() tui.Options {
	h.Queue, h.gate = ask.New(ask.Options{}), userauth.New(userauth.Options{})
	return h.Screen(false)
}
