package router

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Module is one of the servers the deck hosts. Its domain lives in a package of
// its own that knows nothing of MCP; the Module lies below it, in offer.
//
// The host calls the methods from several goroutines.
type Module interface {
	// Identity names the module. It never changes.
	Identity() Identity
	// Start brings the module up and returns at once; slow work goes on in the
	// background until ctx ends and reports through scope. An error means the
	// module has failed; the others go on.
	Start(ctx context.Context, scope Scope) error
	// Stop ends children and saves what must not be lost, within ctx.
	Stop(ctx context.Context) error
	// Offer is what clients may use now. The host asks after Start and after
	// each Scope.Changed.
	Offer() Offer
}

// SessionEnder is a Module that wants to hear when a connection has ended, by the
// id of [Caller.Agent].
type SessionEnder interface{ AgentGone(agent string) }

// Listener is a Module that wants to hear what agents want to be told of, beyond the
// answers to their requests. It is called with all of it, whenever some of that has
// changed, and must not wait; [SessionEnder] hears of the end of an agent.
type Listener interface {
	Wants(agent string, w Subscriptions)
}

// Subscriptions is what an agent wants to be told of.
type Subscriptions struct {
	// Level is the least level of log messages, "" before the agent has chosen one.
	// Clients of 2026-07-28 choose it in each request.
	Level string
	// Resources are the URIs that it has subscribed to, of whichever module, sorted.
	Resources []string
	Root      string // the agent's project, absolute; "": none
}

// Refresher is a Module that wants to hear that an agent lists resources, which it may
// have to ask another for. It must not wait: a list that turns out to have changed is told
// by [Scope.Changed].
type Refresher interface{ Refresh() }

// Quitter is a Module that has programs of its own whose calls are not worth
// waiting for when the deck ends: such a call fails sooner than it would end.
// Quit begins their end and returns at once; Stop follows.
type Quitter interface{ Quit() }

// Identity is what a module is called.
type Identity = backend.Info

// Offer is the part of the protocol that a module answers. Tool names must be
// distinct over all modules; the host refuses to start on a clash.
type Offer struct {
	Tools        []Tool
	Resources    []server.ServerResource
	Templates    []server.ServerResourceTemplate
	Prompts      []server.ServerPrompt
	Instructions string // for the client's model; joined in a merged view

	PromptCompletion   server.PromptCompletionProvider   // nil: none
	ResourceCompletion server.ResourceCompletionProvider // nil: none

	// What is listed as it stands, and answered for by Router, as are tools without a
	// handler. Without a Router none may be there.
	RawPrompts   []backend.Definition
	RawResources []backend.Definition
	RawTemplates []backend.Definition
	Router       Router

	// AsIs is offered instead in a view of this module alone that was asked for as it is;
	// nil: of a module with a Router nothing but Stub, of another the same.
	AsIs *Passthrough

	// Stub tools are listed only in a view of this module alone, so that
	// clients do not drop a server that lists nothing (pencil_status).
	Stub []Tool

	// Gateway tools replace the module's changing list in a view that was asked
	// for with a gateway, for clients that never refresh their list.
	Gateway []Tool

	// ForGateway tells whether a client, by the name it gives itself, is known to
	// keep the list of tools it started with: it gets the Gateway tools beside the
	// others in any view. nil: none is.
	ForGateway func(client string) bool

	// Refuse answers a call of a tool that is not among Tools now but belongs to
	// this module by its name, as those of a child that does not run. It returns
	// the sentence for the agent, or "" when the name is not this module's. May be
	// nil.
	Refuse func(tool string) string
}

// Passthrough is what a module offers of a server that shall look as without the deck: under
// the server's own names, which a [Request] has then too. Of its Offer, AsIs, Stub and
// Gateway have no effect; a nil Refuse is that of the module's offer.
type Passthrough struct {
	Offer
	ServerInfo   json.RawMessage // as the server introduces itself; nil: the deck
	Capabilities json.RawMessage // an object; nil: the deck's. The deck tells of changed lists.
}

// Scope is what the host gives a module. All methods return at once and may be
// called from any goroutine, also during Start.
type Scope interface {
	// SetState replaces what the screen shows about the module.
	SetState(snapshot.State)
	// Changed makes the host ask for Offer again and tell every connected
	// client, with one notification per kind of list that differs.
	Changed()
	// ResourceUpdated tells the clients that subscribed to the resource.
	ResourceUpdated(uri string)
	// Pass sends a notification of the module's server on, as it is, to the agent by that
	// id, or to all for "": a log message to those who want its level, and the update of a
	// resource to those who subscribed to it. What belongs to a request goes through its
	// client; other notifications go to no one.
	Pass(agent, method string, params json.RawMessage)
	// Log sends data, which must encode as JSON, as a log message of the module
	// to the clients that asked for this level with logging/setLevel and whose
	// caller to admits. Clients of 2026-07-28 get none: there a log belongs to a
	// request. What a client is too slow for is dropped.
	Log(level string, data any, to func(snapshot.Caller) bool)
	// Warn shows a sentence to the user and records it.
	Warn(text string)
	// Tell says that something the screen shows about the module has changed,
	// beyond its state.
	Tell()
}
