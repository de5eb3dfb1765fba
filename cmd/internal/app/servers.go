package app

import (
	"context"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
)

// included is a server that is part of mcpdeck.
type included struct {
	plugin.Plugin
	*plugin.Instance
}

// include makes all servers that are part of mcpdeck, for the host.
func (h *App) include() (modules []backend.Server, err error) {
	env := &plugin.Env{
		Config: h.Config, Version: cli.Version(), Queue: h.Queue, Lost: h.lost, Begin: beginnerFor(h.Config), Host: func() *router.Host { return h.Host },
		Start: h.marks.starter, Form: h.forms.ask, Off: h.denied.whyDenied,
	}
	for _, p := range plugin.All() {
		made, err := p.New(env)
		if err != nil {
			return nil, err
		}
		h.Own = append(h.Own, included{p, made})
		modules = append(modules, made.Server)
	}
	return modules, nil
}

// isOwn reports whether a server is part of mcpdeck and turned on and off by the host.
func isOwn(name string) bool {
	return slices.Contains(plugin.Names(), name) && !plugin.Of(name).HasSwitch
}

// Program is what the commands of servers need of this one.
func Program(a *cli.Globals) *plugin.Program {
	return &plugin.Program{
		Version: cli.Version(), Load: a.Load, Terminal: Terminal,
		Log: func(cfg *config.Config) { logTo(console.Err(), logLevel(cfg), redact.Rules{}) },
		Card: func(waits *cobra.Command) func(context.Context, string, upstream.Request) (upstream.Reply, error) {
			var wait cli.KeyWait
			wait.Flag(waits)
			return func(ctx context.Context, server string, r upstream.Request) (reply upstream.Reply, err error) {
				cfg, err := a.Load()
				if err != nil {
					return reply, err
				}
				err = wait.Ask(ctx, cfg.Paths.Socket, "card", CardRequest{server, r}, &reply)
				return reply, err
			}
		},
	}
}

// controls are the requests that commands send to a running deck.
func (h *App) controls() map[string]transport.Control {
	all := map[string]transport.Control{
		"card":     h.Servers.cardControl,
		"config":   h.waitingControl,
		"list":     h.Servers.listControl,
		"sessions": h.Agents.Control,
		"status":   h.statusControl,
	}
	for _, s := range h.Own {
		maps.Copy(all, s.Controls)
	}
	return all
}
