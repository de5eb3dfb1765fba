package pencil

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
)

// MostInFlight is how many calls Pencil may get at a time.
const MostInFlight = 4

// Options is what the user configured and where the deck runs.
type Options struct {
	Command     string   // program to use; "" searches. Wrong is an error, never a reason to search
	Args        []string // more arguments for it
	App         string   // which app it talks to; "" takes what the search finds, else "desktop"
	Env         []string // "NAME=value" added to what the program gets
	SpawnAgents bool     // have it offer its tool that starts agents
	StartOn     bool     // switch on with the deck
	MaxInFlight int      // calls at a time, 1 to 4; 0 is 1
	CallTimeout time.Duration
	Gateway     string // "auto", "always" or "never"; "" is auto
	// GatewayClients are the clients that get the gateway with "auto", by the name
	// they give themselves in any case, * at either end for anything; nil: those
	// known to list a server's tools once.
	GatewayClients []string

	// Off is why the user does not let agents have a tool; nil: they may have all.
	Off func(tool string) string

	// Elicit puts a form of the program to a user and waits; it ends when ctx
	// does. An error is that of a form no person can be asked. nil: the program is
	// told that nobody can be asked.
	Elicit func(context.Context, upstream.Elicitation) (upstream.Elicited, error)

	Environ  []string        // the deck's environment; the program gets a few named variables of it
	Home     string          // home folder, absolute
	Clients  clients.Folders // where clients keep their files; Home counts for theirs
	Root     string          // project folder, absolute: the program's working folder
	StateDir string          // for accepted definitions; "" keeps them in memory
	Version  string          // of the deck, told to the program
	Key      string          // that switches the mode, as the user knows it; "" is p

	Start func(process.Command) (*process.Child, error) // starts the program; nil is process.Start

	sysroot string // to look below in place of "/", for tests
}

// Pencil is the card of Pencil's server, and what is known of its app.
type Pencil struct {
	*upstream.Card
	opts Options
	app  *appWatch
}

// New makes a Pencil that is off. It searches and starts nothing.
func New(o Options) *Pencil {
	o.MaxInFlight = min(max(o.MaxInFlight, 1), MostInFlight)
	if o.CallTimeout <= 0 {
		o.CallTimeout = 75 * time.Second
	}
	o.Key = cmp.Or(o.Key, "p")
	app := &appWatch{}
	c := upstream.Options{
		Name: "pencil", Title: title, Key: o.Key, Version: o.Version, StartOn: o.StartOn, Elicit: o.Elicit, Start: o.Start, Era: child.Legacy, ToolsOnly: true,
		Gateway: o.gateway(), Catalogue: o.catalogue(), Texts: o.texts(),
		Hooks:  upstream.Hooks{Find: o.find, Ready: app.reset, Explain: explain, Repeat: repeat, Observe: app.saw, State: app.state},
		Limits: upstream.Limits{InFlight: o.MaxInFlight, Call: o.CallTimeout, Start: 10 * time.Second, Keep: time.Minute},
	}
	if o.StateDir != "" {
		c.Pins, c.Count = filepath.Join(o.StateDir, "pencil-tools.json"), filepath.Join(o.StateDir, "pencil-count.json")
	}
	return &Pencil{Card: upstream.New(c), opts: o, app: app}
}

// find searches for the program and says how to start it.
func (o Options) find(upstream.From) (upstream.Found, error) {
	f, searched, err := find(o)
	if err == nil && !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`).MatchString(f.App) {
		err = fmt.Errorf("pencil.app %q cannot be used: letters, digits, - and _, at most 64, a letter or digit first", f.App)
	}
	return upstream.Found{Command: childCommand(o, f), Source: f.Source, For: f.App, Searched: searched}, err
}

func (o Options) gateway() upstream.Gateway {
	g := upstream.Gateway{Tool: CallTool, Clients: o.GatewayClients}
	switch o.Gateway {
	case "always":
		g.Audience = upstream.AllClients
	case "never":
		g.Audience = upstream.NoClient
	}
	return g
}

// Brief is the state of things in a sentence for an agent.
func (p *Pencil) Brief() string {
	s := p.Status()
	if s.Mode == upstream.Off {
		return p.Card.Brief()
	}
	return fmt.Sprintf("Pencil mode is %s: %s, app %s.\n", s.Mode, humanize.Count(len(s.Tools), "tool"), s.App)
}
