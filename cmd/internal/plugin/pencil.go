package plugin

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	command "github.com/mcpdeck/mcpdeck/cmd/internal/plugin/pencil"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pencil"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pencil/mcpserver"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	screen "github.com/mcpdeck/mcpdeck/tui/page/pencil"
	serverspage "github.com/mcpdeck/mcpdeck/tui/page/servers"
)

// Pencil is the design tool's server.
type Pencil struct {
	// Its program; empty searches for it. MCPDECK_PENCIL_COMMAND takes precedence.
	Command string `toml:"command"`
	// More arguments for it.
	Args []string `toml:"args"`
	// The app that it talks to: desktop, cursor, visual_studio_code; empty finds out.
	App string `toml:"app"`
	// Variables for its environment, which has only a few others.
	Env map[string]string `toml:"env"`
	// Offer its tool that starts agents, too.
	SpawnAgents bool `toml:"spawn_agents"`
	// Turn Pencil mode on when the deck starts.
	StartOn bool `toml:"start_on"`
	// Calls at a time, up to 4.
	MaxInFlight int `toml:"max_in_flight"`
	// How long a call may take.
	CallTimeout humanize.Duration `toml:"call_timeout"`
	// When to offer the tool pencil_call; auto does for clients that keep their list of tools.
	Gateway string `toml:"gateway"`
	// Clients that keep their list of tools, instead of those that mcpdeck knows.
	GatewayClients []string `toml:"gateway_clients"`
}

const pencilName = "pencil"

func pencilPlugin() Plugin {
	return Plugin{
		Config: config.Section{
			Name: pencilName, About: "Pencil, the design app.",
			Defaults: func() any {
				return &Pencil{MaxInFlight: 1, CallTimeout: humanize.Duration(75 * time.Second), Gateway: "auto"}
			},
			Words: map[string][]string{"gateway": {"auto", "always", "never"}},
			Most:  map[string]int64{"max_in_flight": pencil.MostInFlight},
			Override: func(c *config.Config) {
				const variable = "MCPDECK_PENCIL_COMMAND"
				if v := config.Env(variable); v != "" {
					config.Of[Pencil](c).Command = v
					c.FromVariable("pencil.command", variable)
				}
			},
			Included: "mcpdeck includes Pencil: mcpdeck pencil on",
		},
		New: newPencil, HasSwitch: true, Commands: pencilCommands, Group: GroupServers,
	}
}

func newPencil(e *Env) (*Instance, error) {
	var p *pencil.Pencil
	p = pencil.New(pencilOptions(e, func() *pencil.Pencil { return p }))
	return &Instance{
		Server: mcpserver.New(p), Switch: pencilSwitch{p},
		Doctor: func(context.Context, io.Writer) (text, fix string) {
			found, _, err := p.Find()
			if err != nil {
				return err.Error(), "install Pencil from pen.dev"
			}
			return found.Program + " (" + found.Source + ")", ""
		},
		Screen: func() Screen {
			feed := screen.Feed(p)
			return Screen{
				Status: screen.NewWidget(p), Feed: &feed,
				Part: screen.New(screen.Options{Mode: p, Page: serverspage.ID, Folder: e.Config.Dir}),
			}
		},
	}, nil
}

// pencilOptions joins the configuration and what a user at a deck can do. made is the server
// that is made with them.
func pencilOptions(e *Env, made func() *pencil.Pencil) pencil.Options {
	c := e.Config
	f := config.Of[Pencil](c)
	o := pencil.Options{
		Command: f.Command, Args: f.Args, App: f.App, SpawnAgents: f.SpawnAgents, StartOn: f.StartOn,
		MaxInFlight: f.MaxInFlight, CallTimeout: time.Duration(f.CallTimeout), Gateway: f.Gateway, GatewayClients: f.GatewayClients,
		Environ: c.Environ, Home: c.Home, Clients: c.ClientFolders(), Root: c.Dir, StateDir: c.Paths.Server(pencilName), Version: e.Version,
		Start: e.Start(func(text string) { made().Note(text) }),
		Off:   func(tool string) string { return e.Off(pencilName, tool) },
	}
	if e.Queue != nil {
		o.Elicit = func(ctx context.Context, form upstream.Elicitation) (upstream.Elicited, error) {
			return e.Form(ctx, form, "Pencil", made().Status().Program)
		}
	}
	if keys := c.File.Keys["pencil.toggle"]; len(keys) > 0 {
		o.Key = keys[0]
	}
	for name, value := range f.Env {
		o.Env = append(o.Env, name+"="+value)
	}
	slices.Sort(o.Env)
	return o
}

// pencilSwitch is Pencil mode.
type pencilSwitch struct{ *pencil.Pencil }

// Details implements [Switch].
func (s pencilSwitch) Details() snapshot.Details { return s.Status().Details() }

// Program implements [Switch].
func (s pencilSwitch) Program() *upstream.Card { return s.Card }

// pencilCommands switch Pencil mode of the running deck.
func pencilCommands(p *Program) []*cobra.Command {
	var send func(context.Context, string, upstream.Request) (upstream.Reply, error)
	c := command.Command(func(ctx context.Context, r upstream.Request) (upstream.Reply, error) { return send(ctx, pencilName, r) })
	accept, _, _ := c.Find([]string{"accept"}) // it is there
	send = p.Card(accept)
	return []*cobra.Command{c}
}
