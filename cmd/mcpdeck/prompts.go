package main

import (
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/prompts"
	"github.com/mcpdeck/mcpdeck/servers/prompts/claude"
	"github.com/mcpdeck/mcpdeck/servers/prompts/codex"
	"github.com/mcpdeck/mcpdeck/servers/prompts/gemini"
	"github.com/mcpdeck/mcpdeck/servers/prompts/hook"
	"github.com/mcpdeck/mcpdeck/servers/prompts/opencode"
	"github.com/mcpdeck/mcpdeck/servers/rpc/frames"
	"github.com/mcpdeck/mcpdeck/servers/safe"
)

// adapters returns what connects the deck to agents' own programs: one row each, with the
// setting that turns it off. An adapter that is a [hook.Handler] also serves what comes
// over the prompt socket from that program.
func (h *instance) adapters() []prompts.Adapter {
	f := h.cfg.File.Prompts
	once := f.Lasting == "hide"
	rows := []struct {
		on   bool
		make func() prompts.Adapter
	}{
		{f.Claude, func() prompts.Adapter { return claude.New(h.claudeOptions()) }},
		{f.Codex, func() prompts.Adapter { return codex.New(h.codexOptions()) }},
		{f.OpenCode, func() prompts.Adapter {
			return opencode.New(opencode.Options{Queue: h.queue, Roster: h.roster, OnceOnly: once, Log: slog.Default()})
		}},
		{f.Gemini, func() prompts.Adapter {
			return gemini.New(gemini.Options{Queue: h.queue, Roster: h.roster, Folder: h.cfg.ClientFolders().Program("gemini"), Log: slog.Default()})
		}},
	}
	var all []prompts.Adapter
	for _, r := range rows {
		if f.Enabled && r.on {
			all = append(all, r.make())
		}
	}
	return all
}

func (h *instance) claudeOptions() claude.Options {
	f := h.cfg.File.Prompts
	return claude.Options{
		Queue: h.queue, Roster: h.roster, Folder: h.cfg.ClientFolders().Program("claude"), Home: h.cfg.Home,
		Hold: time.Duration(f.Hold), HoldsHeadless: h.cfg.HoldsHeadless, OnceOnly: f.Lasting == "hide", Log: slog.Default(),
	}
}

func (h *instance) codexOptions() codex.Options {
	home := h.cfg.ClientFolders().Program("codex")
	return codex.Options{
		Queue: h.queue, Roster: h.roster, Home: h.cfg.Home, Homes: func() []string { return codex.Homes(home) },
		Frames:   func(ctx context.Context, c net.Conn) (codex.Frames, error) { return frames.Dial(ctx, c) },
		OnceOnly: h.cfg.File.Prompts.Lasting == "hide", Hold: time.Duration(h.cfg.File.Prompts.Hold), Version: version(), Log: slog.Default(),
	}
}

// servePrompts works until ctx ends, and returns the prompt socket. Without it, prompts
// that come by hooks stay in their terminals.
func (h *instance) servePrompts(ctx context.Context) *hook.Server {
	handlers := map[string]hook.Handler{}
	for _, a := range h.adapters() {
		safe.Go("prompts of "+a.Agent(), func() { a.Run(ctx) })
		if s, ok := a.(hook.Handler); ok {
			handlers[a.Agent()] = s
		}
	}
	if len(handlers) == 0 {
		return nil
	}
	s, err := hook.Listen(hook.Options{Path: h.cfg.Paths.Prompts, Handlers: handlers, Log: slog.Default()})
	if err != nil {
		h.host.Warn("prompts", err.Error())
		return nil
	}
	return s
}
