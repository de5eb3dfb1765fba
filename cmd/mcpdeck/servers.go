package main

import (
	"github.com/mcpdeck/mcpdeck/ask"
	askoffer "github.com/mcpdeck/mcpdeck/servers/builtin/ask/mcpserver"
	"github.com/mcpdeck/mcpdeck/servers/builtin/clippy"
	clippyoffer "github.com/mcpdeck/mcpdeck/servers/builtin/clippy/mcpserver"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	stampoffer "github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/mcpserver"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pencil"
	penciloffer "github.com/mcpdeck/mcpdeck/servers/builtin/pencil/mcpserver"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc"
	pixelsoffer "github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/mcpserver"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
)

// hosted is one server.
type hosted struct {
	name string // in views, on the command line and in the journal
	// make may keep in the instance what commands and pages use besides.
	make func(h *instance) (router.Module, error)
}

// servers is the table of them, in the order in which they are listed.
func servers() []hosted {
	return []hosted{
		{"pencil", func(h *instance) (router.Module, error) {
			h.pencil = pencil.New(h.pencilOptions(h.cfg, h.person))
			return router.Of(penciloffer.New(h.pencil)), nil
		}},
		{"ask", func(h *instance) (router.Module, error) {
			if h.person {
				return askoffer.New(askoffer.InProcess(h.queue)), nil
			}
			// Without a user here, one may open a deck in the next moment.
			h.asks = ask.NewClient(ask.ClientOptions{Path: h.cfg.Paths.AskSocket, Lost: h.lost, Version: version()})
			return askoffer.New(askoffer.Remote(h.asks)), nil
		}},
		{"pixelsrc", func(h *instance) (router.Module, error) {
			h.pixels = pixelsrc.New(h.cfg.PixelsrcOptions())
			return pixelsoffer.NewModule(h.pixels), nil
		}},
		{"logicstamp", func(h *instance) (router.Module, error) {
			service, err := logicstamp.New(h.cfg.LogicstampOptions())
			if err != nil {
				return nil, err
			}
			h.stamp = stampoffer.New(service)
			return h.stamp, nil
		}},
		{"clippy", func(h *instance) (router.Module, error) {
			h.clippy = clippy.New(h.clippyOptions(h.cfg, h.person))
			return clippyoffer.New(h.clippy), nil
		}},
	}
}

// serverNames are the servers that a connection can name.
func serverNames() []string {
	var names []string
	for _, s := range servers() {
		names = append(names, s.name)
	}
	return names
}

// modules makes all of them.
func (h *instance) modules() ([]router.Module, error) {
	var out []router.Module
	for _, s := range servers() {
		m, err := s.make(h)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}
