package main

import (
	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/userauth"
	"github.com/mcpdeck/mcpdeck/tui"
)

// screenAlone is the screen of a deck that does not run, for what its pages can do. The
// queue and the gate that they look at are nobody's.
func (h *instance) screenAlone() tui.Options {
	h.queue, h.gate = ask.New(ask.Options{}), userauth.New(userauth.Options{})
	return h.screen(false)
}
