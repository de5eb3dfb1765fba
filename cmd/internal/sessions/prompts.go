package sessions

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/acp"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc/frames"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// adapters returns what connects the deck to agents' own programs, by their IDs.
func (p *Programs) adapters() map[string]approvals.Adapter {
	all := map[string]approvals.Adapter{}
	editors := acp.New(p.Deps(acp.Name))
	for _, a := range agents.All() {
		if p.cfg.File.Prompts.Shows(a.ID) {
			d := p.Deps(a.ID)
			d.Queue = once{d.Queue, editors}
			all[a.ID] = a.New(d)
		}
	}
	if p.cfg.File.Prompts.Enabled {
		all[acp.Name] = editors
	}
	return all
}

// once has an agent's hook or plugin not ask again what mcpdeck acp asks.
type once struct {
	approvals.Queue
	editors *acp.Adapter
}

func (o once) Open(r ask.Request) (*ask.Call, error) {
	if o.editors.Mirrors(r.Prompt.Agent, r.Prompt.Session) {
		return nil, errors.New("mcpdeck acp asks it")
	}
	return o.Queue.Open(r)
}

// untested marks the sessions of an agent whose program no test runs.
type untested struct {
	approvals.Roster
	is func(agent string) bool
}

func (u untested) Report(s snapshot.Session) {
	if u.is(s.Agent) {
		s.Note = strings.TrimSuffix(snapshot.Untested+"; "+s.Note, "; ")
	}
	u.Roster.Report(s)
}

// Deps is what the adapter of an agent works with.
func (p *Programs) Deps(agent string) approvals.Deps {
	cells := agents.Of(agent).Cells
	is := func(string) bool { return cells.Untested() }
	if agent == acp.Name {
		is = func(agent string) bool { return agents.Of(agent).Cells.Editor.Test == "" }
	}
	return approvals.Deps{
		Queue: approvals.Noting(p.Ruled, p.cfg.Home), Roster: untested{p.Roster, is}, Rules: p.Rules, HoldsHeadless: func(folder string) bool { return p.now.Load().HoldsHeadless(folder) },
		Quota: p.quota, Watched: p.Roster.Watched,
		Frames: func(ctx context.Context, c net.Conn) (approvals.Frames, error) { return frames.Dial(ctx, c) },
		Folder: p.cfg.ClientFolders().Program(agent), Alone: p.Alone, Home: p.cfg.Home, Environ: p.cfg.Environ, Version: cli.Version(), Log: slog.Default(), Redact: p.Redact,
	}
}

// quota takes in how much an agent's account has used, and tells the user before that ends.
func (p *Programs) quota(q snapshot.Quota) {
	if wall := p.Roster.Quota(q); wall != "" {
		p.queue.Notice(wall)
	}
}

// Rules are the settings of prompts as they are now.
func (p *Programs) Rules() approvals.Rules { return p.now.Load().PromptRules() }

// Serve works until ctx ends, and returns the prompt socket. Without it, prompts
// that come by hooks stay in their terminals.
func (p *Programs) Serve(ctx context.Context) *hook.Server {
	if err := p.Book.Watch(ctx, p.Ruled.Look); err != nil {
		slog.Info("a change of the rules is noticed at the next prompt", "why", err) // they are read for each
	}
	handlers, doors := map[string]hook.Handler{}, map[string]approvals.Sender{}
	for agent, a := range p.adapters() {
		recovery.Go("prompts of "+agent, func() { a.Run(ctx) })
		if s, ok := a.(hook.Handler); ok {
			handlers[agent] = s
		}
		if s, ok := a.(approvals.Sender); ok {
			doors[agent] = s
		}
	}
	recovery.Go("prompts to sessions", func() { p.Outbox.Run(ctx, doors, p.Redact) })
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
