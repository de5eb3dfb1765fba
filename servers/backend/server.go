package backend

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Server is one MCP server behind the deck. Its methods are called from several goroutines.
type Server interface {
	// Info names the server. It never changes.
	Info() Info
	// Start brings the server up and returns at once; slow work goes on in the background
	// until ctx ends and is reported through e. An error means that the server has failed.
	Start(ctx context.Context, e Events) error
	// Stop ends programs and saves what must not be lost, within ctx.
	Stop(ctx context.Context) error
	// Catalogue is what clients may use now. It is read again after Events.Changed.
	Catalogue() *Catalogue
	// Serve answers a request, and returns once ctx is done.
	Serve(ctx context.Context, r *Request) Reply
}

// A Server may also be one of these.
type (
	// Resolver owns what it does not list: an address that fits one of its templates, a task
	// it has begun, a method. Owns must not wait.
	Resolver interface {
		Owns(kind Kind, key string) bool
	}
	// Subscriber hears what a session wants to be told of, beyond the answers to its requests,
	// with all of it whenever some has changed. It must not wait.
	Subscriber interface {
		Subscribed(session string, s Subscriptions)
	}
	// SessionEnder hears that a session has ended.
	SessionEnder interface{ SessionEnded(session string) }
	// Refresher hears that resources are listed, and does not wait: a list that turns out to
	// have changed is told by Events.Changed.
	Refresher interface{ Refresh() }
	// Namer knows which tool a call is really of, and whether the user is to be asked for each such
	// call. Called must not wait.
	Namer interface{ Called(r *Request) Called }
	// Quitter has programs whose calls are not worth waiting for when the deck ends. Quit
	// begins their end and returns at once; Stop follows.
	Quitter interface{ Quit() }
)

// Called is the tool that a call is of, by the server's own name, and its arguments.
type Called struct {
	Tool string
	Args json.RawMessage
	Ask  bool // the user is asked for each call
}

// NobodyAsked is what an agent reads of a call that its user has to allow where there is no deck.
func NobodyAsked(tool string) string {
	return "The user must approve each call of " + tool + ", and no deck is open to ask them; ask the user to run mcpdeck."
}

// Info is what a server is called.
type Info struct {
	Name       string // the word on the command line and in a view: "clippy"
	Title      string // for people: "Clippy"
	ServerName string // serverInfo.name of a view of this server alone
	Foreign    bool   // a server of somebody else's, which has its own switch; the deck turns others on and off
}

// Subscriptions are what a session wants to be told of.
type Subscriptions struct {
	Level     string   // least level of log messages; "" before the session has chosen one
	Resources []string // URIs, of whichever server, sorted
	Root      string   // the session's project, absolute; "": none
}

// Events is where a server reports what belongs to no request. No method blocks.
type Events interface {
	// Changed has the catalogue read again. Clients are told of each list that differs.
	Changed()
	// Notify passes on a notification of the server to a session, or for "" to all: a log
	// message to those that want its level, the update of a resource to those that
	// subscribed to it.
	Notify(session, method string, params json.RawMessage)
	// SetState replaces what the screen shows of the server.
	SetState(snapshot.State)
	// Warn shows a sentence to the user.
	Warn(text string)
}

// Catalogue is what a server offers. It never changes.
type Catalogue struct {
	Tools                         []ToolDefinition
	Prompts, Resources, Templates []Definition
	Instructions                  string // for the client's model

	// How the server introduces itself, in a view of it as it is; nil: as the deck does.
	ServerInfo, Capabilities json.RawMessage

	// Passthrough is offered instead in a view of the server as it is, under the server's own
	// names; nil: the same.
	Passthrough *Catalogue
	// Fallback is listed only in a view of the server alone: clients drop a server that
	// lists nothing.
	Fallback []ToolDefinition
	// Gateway is for clients that never list tools again: instead of Tools in a view that was
	// asked for with a gateway, and beside them for the clients that GatewayFor names.
	Gateway    []ToolDefinition
	GatewayFor func(client string) bool // nil: none
	// Refuse answers a call of a tool that is not listed now but is the server's by its name,
	// with a sentence for the agent; "" for any other name. May be nil.
	Refuse func(tool string) string
}

// ToolDefinition is a tool that is listed as it stands.
type ToolDefinition struct {
	Definition
	Policy
	Off string // unless it is empty, the tool is not listed, and this is the answer to a call
}

// Policy is what the deck knows of a tool beyond MCP.
type Policy struct {
	Load      admission.Class // how much a call takes while it runs
	Redact    redact.Kind     // what the log must not keep of a call beyond what it never keeps
	Resumable bool            // a call that is not answered when its deck ends is sent again to the next
	Ordered   bool            // calls of one connection begin in the order in which they were sent
}

// Client is the other side of a request.
type Client interface {
	// Notify sends a notification about the request, before the reply. It does not wait: what
	// the client is too slow for is dropped.
	Notify(method string, params json.RawMessage)
	// Ask sends a request and returns the result. An error of the client is an *rpc.Error. One
	// that takes no requests, as of a stateless request, is [ErrCannotAsk].
	Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
}

// ErrCannotAsk is why a client is not asked.
var ErrCannotAsk = errors.New("the client cannot be asked")

// Nobody is a client that hears nothing and answers nothing.
type Nobody struct{}

// Notify implements [Client].
func (Nobody) Notify(string, json.RawMessage) {}

// Ask implements [Client].
func (Nobody) Ask(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, ErrCannotAsk
}

// Call is the deck's side of a request. That of a server without a deck is the zero value.
type Call struct {
	Caller snapshot.Caller
	Deck   Deck // nil: none
}

// Deck is what the handler of a request may ask of the deck.
type Deck interface {
	// WaitForUser marks the call as waiting for the user until done is called.
	WaitForUser() (done func())
	// Need says that the call needs so many bytes, where that shows only once its arguments are
	// read. It may wait for them; its error is that of ctx, and means that the call is over.
	Need(ctx context.Context, bytes int64) error
	// Yield gives the call's slot among the deck's work to others while it waits for something
	// outside. back takes one again; its error is that of its context, and means that the call
	// is over.
	Yield() (back func(context.Context) error)
	// OnDelivery has told called once it is known whether the reply has reached the client. It
	// returns false if that will not be known.
	OnDelivery(told func(reached bool)) bool
}

// WaitForUser is [Deck.WaitForUser].
func (c Call) WaitForUser() (done func()) {
	if c.Deck == nil {
		return func() {}
	}
	return c.Deck.WaitForUser()
}

// Need is [Deck.Need].
func (c Call) Need(ctx context.Context, bytes int64) error {
	if c.Deck == nil {
		return nil
	}
	return c.Deck.Need(ctx, bytes)
}

// Yield is [Deck.Yield].
func (c Call) Yield() (back func(context.Context) error) {
	if c.Deck == nil {
		return func(context.Context) error { return nil }
	}
	return c.Deck.Yield()
}

// OnDelivery is [Deck.OnDelivery].
func (c Call) OnDelivery(told func(reached bool)) bool {
	return c.Deck != nil && c.Deck.OnDelivery(told)
}

type callKey struct{}

// WithCall attaches the deck's side to the context of a request.
func WithCall(ctx context.Context, c Call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// CallFrom returns the deck's side of the request of ctx; a zero Call outside the deck.
func CallFrom(ctx context.Context) Call {
	c, _ := ctx.Value(callKey{}).(Call)
	return c
}

// The members of _meta that a relay adds to a call that is Resumable.
const (
	// ResumeKeyMeta is a key that nobody can guess. It is the same when the call is sent again
	// to another deck.
	ResumeKeyMeta = "mcpdeck/resumeKey"
	// AskedMeta is when the relay got the call, in milliseconds of Unix time: progress goes on
	// from there in another process.
	AskedMeta = "mcpdeck/asked"
	// AgainMeta is true when the call has been sent to another deck before.
	AgainMeta = "mcpdeck/again"
	// RetryMeta is true in the _meta of a result when the deck is about to end: the relay keeps
	// the call open and sends it to the next deck.
	RetryMeta = "mcpdeck/retry"
)
