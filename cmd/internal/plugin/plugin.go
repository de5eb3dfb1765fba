// Package plugin lists the servers that are part of mcpdeck, a file each: the server itself, and
// what it adds to the screen, the command line and the configuration.
package plugin

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/page/inbox"
	serverspage "github.com/mcpdeck/mcpdeck/tui/page/servers"
)

// Plugin is one server. Fields that are not required may be nil or "".
type Plugin struct {
	// Config is its part of the configuration, and required for its name: in views, on the
	// command line and in the journal.
	Config config.Section
	// New makes the server, which is not started yet. Required.
	New func(*Env) (*Instance, error)

	Page      string // the ID of its page
	Listed    string // why agents always list its tools; "": they may have to find them
	Alone     bool   // a command NAME-server serves it without a deck
	HasSwitch bool   // it has a switch of its own, and definitions of it may be held

	Commands func(*Program) []*cobra.Command
	Group    string // the section of the help that its commands are in
}

// Name is what the server is called.
func (p *Plugin) Name() string { return p.Config.Name }

// Env is the deck that a server is made for.
type Env struct {
	Config  *config.Config
	Version string     // of the program
	Queue   *ask.Queue // of what the user is asked; nil: there is no user to answer here
	// Lost reports whether a deck was there and has gone; nil: it is not known.
	Lost func() bool
	// Begin starts a deck without a screen if decks of other machines may answer here.
	Begin func(context.Context) (begun bool, err error)
	// Host runs all servers; nil until they are made.
	Host func() *router.Host
	// Start returns what starts the server's programs; note hears what they leave behind.
	Start func(note func(string)) func(process.Command) (*process.Child, error)
	// Form puts a form of the server's program among the questions. Only with a Queue.
	Form func(ctx context.Context, e upstream.Elicitation, title, program string) (upstream.Elicited, error)
	// Off is why the user does not let agents have a tool.
	Off func(server, tool string) string
}

// Instance is a server that was made.
type Instance struct {
	Server backend.Server // required

	// Screen makes what the server shows.
	Screen func() Screen
	// Switch is the server's own.
	Switch Switch
	// Apply takes over the options that apply without a restart.
	Apply func(*config.Config)
	// Controls are requests that commands send to the running deck.
	Controls map[string]transport.Control
	// Doctor checks what the server needs: text says that it is there, or what is missing, which
	// fix mends. With a writer, it installs that first, and tells there how it goes.
	Doctor func(ctx context.Context, install io.Writer) (text, fix string)
	// Move tells the server that a deck takes over; it returns what is done once it has.
	Move func() (moved func())
	// Close ends what the server does for agents that have gone, once it is stopped.
	Close func()
	// Files are those of a project that its version control does not ignore.
	Files func(ctx context.Context, project string) []string
}

// Screen is what a server shows.
type Screen struct {
	Page   tui.Page
	Widget inbox.Widget     // on the first page
	Part   serverspage.Part // on the page of servers
	Status tui.Widget       // on every page
	Feed   *tui.Feed
}

// Switch turns on and off a server that has a program of its own.
type Switch interface {
	On()
	Off()
	Reconnect()
	Settle(ctx context.Context) error
	Control(ctx context.Context, r upstream.Request) (upstream.Reply, error)
	Details() snapshot.Details
	// Program is the card behind it.
	Program() *upstream.Card
}

// Program is what commands need of the program around them.
type Program struct {
	Version string
	Load    func() (*config.Config, error)
	// Log has what is logged go to standard error.
	Log func(*config.Config)
	// Card returns what sends a request about a server to the running deck. The command gets a
	// flag for how long it waits for a key of the user's.
	Card func(waits *cobra.Command) func(ctx context.Context, server string, r upstream.Request) (upstream.Reply, error)
	// Terminal reports whether there can be a screen.
	Terminal func() bool
}

// Names are those of all servers.
func Names() []string {
	var names []string
	for _, p := range All() {
		names = append(names, p.Name())
	}
	return names
}

// Sections are the parts of the configuration that the servers have.
func Sections() []config.Section {
	var out []config.Section
	for _, p := range All() {
		out = append(out, p.Config)
	}
	return out
}

// Of is the server of a name; nil if none has it.
func Of(name string) *Plugin {
	for _, p := range All() {
		if p.Name() == name {
			return &p
		}
	}
	return nil
}

// Sections of the help that commands of servers are in.
const (
	GroupQuestions = "Agents and their questions"
	GroupServers   = "Servers"
	GroupPictures  = "Pictures and contracts"
	GroupStarted   = "What other programs start"
)
