package main

import (
	"context"
	"log/slog"
	"net"

	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc/frames"
)

// adapters returns what connects the deck to agents' own programs, by their IDs.
func (h *instance) adapters() map[string]approvals.Adapter {
	all := map[string]approvals.Adapter{}
	for _, a := range agents.All() {
		if h.cfg.File.Prompts.Shows(a.ID) {
			all[a.ID] = a.New(h.deps(a.ID))
		}
	}
	return all
}

func (h *instance) deps(agent string) approvals.Deps {
	return approvals.Deps{
		Queue: h.queue, Roster: h.roster, Rules: h.rules, HoldsHeadless: func(folder string) bool { return h.now.Load().HoldsHeadless(folder) },
		Frames: func(ctx context.Context, c net.Conn) (approvals.Frames, error) { return frames.Dial(ctx, c) },
		Folder: h.cfg.ClientFolders().Program(agent), Alone: h.alone, Home: h.cfg.Home, Environ: h.cfg.Environ, Version: version(), Log: slog.Default(),
	}
}

func (h *instance) rules() approvals.Rules { return h.now.Load().PromptRules() }

// servePrompts works until ctx ends, and returns the prompt socket. Without it, prompts
// that come by hooks stay in their terminals.
func (h *instance) servePrompts(ctx context.Context) *hook.Server {
	handlers := map[string]hook.Handler{}
	for agent, a := range h.adapters() {
		recovery.Go("prompts of "+agent, func() { a.Run(ctx) })
		if s, ok := a.(hook.Handler); ok {
			handlers[agent] = s
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
