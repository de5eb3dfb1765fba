package main

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"path/filepath"

	"github.com/mcpdeck/mcpdeck/servers/process"
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
	rows := []struct {
		on   bool
		make func() prompts.Adapter
	}{
		{f.Claude, func() prompts.Adapter { return claude.New(h.claudeOptions()) }},
		{f.Codex, func() prompts.Adapter { return codex.New(h.codexOptions()) }},
		{f.OpenCode, func() prompts.Adapter {
			return opencode.New(opencode.Options{Queue: h.queue, Roster: h.roster, Rules: h.rules, Log: slog.Default()})
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

func (h *instance) rules() prompts.Rules { return h.now.Load().PromptRules() }

func (h *instance) claudeOptions() claude.Options {
	return claude.Options{
		Queue: h.queue, Roster: h.roster, Folder: h.cfg.ClientFolders().Program("claude"), Home: h.cfg.Home,
		Rules: h.rules, HoldsHeadless: func(folder string) bool { return h.now.Load().HoldsHeadless(folder) }, Agents: h.claudeAgents, Log: slog.Default(),
	}
}

// claudeAgents runs Claude Code's own list of its sessions. It is told its folder only if
// the user has chosen one: it looks for some of its files elsewhere then.
func (h *instance) claudeAgents(ctx context.Context) ([]byte, error) {
	var out bytes.Buffer
	c := process.Command{Program: "claude", Args: []string{"agents", "--json"}, Dir: h.cfg.Home, Own: h.cfg.Environ}
	if dir := h.cfg.ClientFolders().Claude; filepath.IsAbs(dir) {
		c.Extra = []string{"CLAUDE_CONFIG_DIR=" + dir}
	}
	err := process.Run(ctx, c, process.Streams{Out: &out})
	return out.Bytes(), err
}

func (h *instance) codexOptions() codex.Options {
	home := h.cfg.ClientFolders().Program("codex")
	homes := func() []string { return codex.Homes(home) }
	if h.alone {
		homes = func() []string { return []string{home} }
	}
	return codex.Options{
		Queue: h.queue, Roster: h.roster, Home: h.cfg.Home, Homes: homes,
		Frames: func(ctx context.Context, c net.Conn) (codex.Frames, error) { return frames.Dial(ctx, c) },
		Rules:  h.rules, Version: version(), Log: slog.Default(),
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
