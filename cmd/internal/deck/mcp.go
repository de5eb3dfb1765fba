package deck

import (
	"context"
	"errors"
	"maps"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/app"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/servers/gateway/relay"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// MCPCommand returns the command mcp.
func MCPCommand(a *cli.Globals) *cobra.Command {
	var spec router.ViewSpec
	c := &cobra.Command{
		Use:   "mcp [SERVER...]",
		Short: "Serve MCP on standard input and output, through the deck if one is running",
		Long: `Serve MCP on standard input and output, for an agent's configuration.

If a deck is running, this relays to it. If not, it hosts the same servers itself
and switches to a deck when one is opened. Servers (default: all):
` + strings.Join(plugin.Names(), ", ") + `.

When standard input ends, calls in flight are still answered for up to ten
minutes, as long as standard output is read. A question stays in the deck, which
keeps its answer for whoever asks it again.`,
		RunE: a.Run(func(_ *cobra.Command, cfg *config.Config, args []string) error {
			if spec.Servers = args; spec.Passthrough && len(args) != 1 {
				return exit.Usagef("--%s needs the name of one server", app.AsIs)
			}
			return relayTo(a, cfg, spec)
		}),
	}
	c.ValidArgsFunction = cli.CompleteServers(a, plugin.Names(), 0)
	c.Flags().BoolVar(&spec.Passthrough, app.AsIs, false, "serve one added server as it is without the deck, under its own names")
	c.Flags().BoolVar(&spec.Gateway, "gateway", false, "list fixed tools instead of a list that changes, for clients that never refresh it")
	c.Flags().StringVar(&spec.Profile, "profile", "", "serve what a profile of config.toml names (default: the first that matches)")
	_ = c.RegisterFlagCompletionFunc("profile", completeProfiles(a)) // the flag exists
	return c
}

func relayTo(a *cli.Globals, cfg *config.Config, spec router.ViewSpec) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A client that reads no more does not kill what has programs to end.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	local := &app.Hosting{Load: a.Load, Config: cfg}
	var linked atomic.Bool // to a deck, at least once
	dial := app.Dialer(cfg)
	r := &relay.Relay{
		Hello: transport.Hello{Servers: spec.Servers, Gateway: spec.Gateway, Passthrough: spec.Passthrough, Profile: spec.Profile, Cwd: cfg.Dir, PID: os.Getpid(), Hints: config.Hints()},
		Dial: func(ctx context.Context) (net.Conn, error) {
			c, err := dial(ctx)
			if err == nil {
				linked.Store(true)
			}
			return c, err
		},
		Moving: local.Moving,
		In:     os.Stdin, Out: console.Bytes(console.Out()),
		Headless: func() (transport.Stream, []string, error) {
			h, err := local.Open(linked.Load)
			if err != nil {
				return nil, nil, err
			}
			pid, program := socket.AgentOf(os.Getppid())
			return h.Stream(spec, snapshot.Caller{
				Transport: "stdio", Root: cfg.ProjectRoot(), PID: pid, Program: program, Hints: config.Hints(),
			})
		},
	}
	err := r.Run(ctx)
	local.Stop()
	if relay.IsUsage(err) || errors.Is(err, router.ErrUnknownServer) {
		return exit.Wrong(err)
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// completeProfiles completes the name of a profile of the configuration.
func completeProfiles(a *cli.Globals) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		cfg, err := a.Load()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return slices.Sorted(maps.Keys(cfg.File.Profile)), cobra.ShellCompDirectiveNoFileComp
	}
}
