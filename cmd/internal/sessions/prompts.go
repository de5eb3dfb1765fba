package sessions

import (
	"context"
	"log/slog"
	"net"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc/frames"
)

// adapters returns what connects the deck to agents' own programs, by their IDs.
func (p *Programs) adapters() map[string]approvals.Adapter {
	all := map[string]approvals.Adapter{}
	for _, a := range agents.All() {
		if p.cfg.File.Prompts.Shows(a.ID) {
			all[a.ID] = a.New(p.Deps(a.ID))
		}
	}
	return all
}

// Deps is what the adapter of an agent works with.
func (p *Programs) Deps(agent string) approvals.Deps {
	return approvals.Deps{
		Queue: p.queue, Roster: p.Roster, Rules: p.Rules, HoldsHeadless: func(folder string) bool { return p.now.Load().HoldsHeadless(folder) },
		Frames: func(ctx context.Context, c net.Conn) (approvals.Frames, error) { return frames.Dial(ctx, c) },
		Folder: p.cfg.ClientFolders().Program(agent), Alone: p.Alone, Home: p.cfg.Home, Environ: p.cfg.Environ, Version: cli.Version(), Log: slog.Default(), Redact: p.Redact,
	}
}

// Rules are the settings of prompts as they are now.
func (p *Programs) Rules() approvals.Rules { return p.now.Load().PromptRules() }

// Serve works until ctx ends, and returns the prompt socket. Without it, prompts
// that come by hooks stay in their terminals.
func (p *Programs) Serve(ctx context.Context) *hook.Server {
	handlers := map[string]hook.Handler{}
	for agent, a := range p.adapters() {
		recovery.Go("prompts of "+agent, func() { a.Run(ctx) })
		if s, ok := a.(hook.Handler); ok {
			handlers[agent] = s
		}
	}
	if len(handlers) == 0 {
		return nil
	}
	s, err := hook.Listen(hook.Options{Path: p.cfg.Paths.Prompts, Handlers: handlers, Log: slog.Default()})
	if err != nil {
		p.Host.Warn("prompts", err.Error())
		return nil
	}
	return s
}
