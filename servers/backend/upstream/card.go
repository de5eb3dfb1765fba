// Package upstream runs a third-party MCP server and controls whether agents have its tools.
// It finds and starts the server's program, reads its tools, forwards calls to it, and
// offers the tools while the card is on.
//
// Messages pass through as raw JSON: definitions and results reach the agent unchanged
// except for names, which get a prefix. Behaviour specific to one server is configured with
// [Hooks], [Texts] and [Limits]; the package itself knows no particular server or tool.
package upstream

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
)

// Options configure a card.
type Options struct {
	Name    string // in views, on the command line and in logs
	Title   string // name shown to the user; "" means Name
	Key     string // key that turns the card on or off, as shown to the user; "" if there is none
	Version string // of mcpdeck, sent to the server
	Pins    string // file of the accepted definitions; "" keeps them in memory
	Fault   string // file that keeps what went wrong last; "" keeps it in memory
	Count   string // file that keeps what the server has listed last, in numbers; "" keeps it in memory
	Hold    catalogue.Hold
	StartOn bool // turn on when the deck starts
	// OnDemand lists tools from the accepted definitions, once there are any, and starts
	// the program at the first call. Otherwise the program runs while the card is on.
	OnDemand bool
	Share    Share     // of an on-demand program; "" means ShareDeck
	Warm     bool      // keep an on-demand program running for the next agent
	Root     string    // of the deck's project; "" if there is none
	Era      child.Era // protocol era of the server; "" detects it

	// Ask reports whether the user is asked for each call of a tool, by its original name; nil: of none.
	Ask func(tool string) bool
	// Elicit shows a form of the server to the user and waits for the answer, until ctx
	// ends. It returns an error for a form that cannot be shown. If Elicit is nil, the
	// server is told that elicitation is not supported.
	Elicit func(context.Context, Elicitation) (Elicited, error)

	// ElicitAgent instead passes forms and pages to the one agent that a program serves,
	// and SampleAgent passes on sampling requests, if the agent answers such requests.
	ElicitAgent, SampleAgent bool

	// ToolsOnly requests only tools from the server, and passes nothing else on.
	ToolsOnly bool
	NoRoots   bool // do not tell the server about projects

	Gateway   Gateway
	Catalogue catalogue.Options // Title and Prefix have defaults
	Hooks     Hooks
	Texts     Texts
	Limits    Limits

	Secrets *redact.Known // values of its settings that the user sees nowhere; nil for none

	Start func(process.Command) (*process.Child, error) // starts the program; nil means process.Start

	status string // see [Options.StatusTool]
}

// Hooks customize a card for a server. Find is required; any other hook may be nil.
type Hooks struct {
	// Find looks for the program to start for an agent. Its result is used even if it returns
	// an error, whose text is shown to the user.
	Find    func(From) (Found, error)
	Ready   func()                                          // called when a connection is established
	Explain func(Outcome) string                            // text for the agent about a failed call; "" keeps the result
	Repeat  func(Outcome) (note string, wait time.Duration) // repeat a call after wait, if above 0; note is for the agent
	Observe func(Outcome) bool                              // reports whether a call changed what State returns
	State   func() (detail, trouble string)                 // of what the server works with, for the user; trouble is a problem with it
}

// Found is the program that a search chose, or how to connect to a server without one.
type Found struct {
	process.Command
	Open     func(*child.Log) (child.Link, error) // connects to the server; nil if there is a program to start
	Source   string                               // where the program was found
	For      string                               // what the program works with, if there is a choice
	Searched []Candidate
}

// Candidate is a location that was searched.
type Candidate struct {
	Path   string // as shown to the user
	Source string
	Reason string // why it was rejected; "" for the one chosen
}

// Limits limit the resources and time of a server. The defaults suit an unknown server.
type Limits struct {
	InFlight int           // maximum number of concurrent calls; 0 means 64
	Call     time.Duration // for one call, excluding time that the user takes; 0 means no limit
	Start    time.Duration // from the start of the program to its list of tools; 0 means 60 s
	Keep     time.Duration // how long the program is kept after the card was turned off, for a quick return
	Withdraw time.Duration // how long agents keep the tools without the program; 0 means 5 s
	// Idle is how long an on-demand program is kept without a request; 0 means 5 minutes,
	// except for a program that serves a single agent, which ends with that agent.
	Idle time.Duration
}

// Events are the callbacks of a card. They must return at once; any of them may be nil.
type Events struct {
	Listed func()       // what agents can list or call has changed
	Look   func()       // something that Status shows has changed
	Warn   func(string) // a warning for the user
	// Pass passes a notification of the server to the agent with that id.
	Pass func(agent, method string, params json.RawMessage)
}

// Mode is whether agents have the tools of a card.
type Mode string

// The modes.
const (
	Off       Mode = "off"
	TurningOn Mode = "turning on"
	On        Mode = "on"
)

// Link is the state of the connection to the child.
type Link string

// The states of the connection. Lost: the child ended unexpectedly and is being
// restarted. LinkFailed: mcpdeck gave up on it.
const (
	NoLink     Link = "none"
	Connecting Link = "connecting"
	LinkReady  Link = "ready"
	Lost       Link = "lost"
	LinkFailed Link = "failed"
)

const (
	busyAgain    = 5 * time.Second  // between checks whether a child that should end is still working
	linkPatience = 5 * time.Second  // how long a call waits for the child
	stableAfter  = 60 * time.Second // after living this long, a child's failures are counted from zero
	failureShown = 10 * time.Second
	retryFirst   = time.Minute // until a server that the user did not turn on is tried again; doubles
	retrySeldom  = 15 * time.Minute
)

// Card is a third-party server, its child processes and its tools, and whether the tools
// are offered. It is safe for concurrent use.
type Card struct {
	opts   Options
	events Events
	log    child.Log
	pins   catalogue.Pins
	calls  callLog
	hints  notify.Feed
	work   tasks

	lookDue atomic.Bool // a call has ended that nobody has looked at

	now atomic.Pointer[Published]

	mu sync.Mutex
	state
}

// state is what mu guards; [Card.update] changes it.
type state struct {
	life context.Context // from Start to Stop
	stop context.CancelFunc
	lifecycle
	pool
	listings
	notifications
}

// lifecycle is whether the card is on, and what went wrong.
type lifecycle struct {
	mode     Mode
	trying   int  // consecutive attempts to turn it on by its settings alone; 0: by the user
	hurried  bool // the deck is closing
	restarts int
	lostAt   time.Time // zero unless tools are offered without a child
	offAt    time.Time
	failedAt time.Time // when a failure turned it off; zero once the user has seen it
	refusal  string    // the answer to a call while off
	faults   faults
}

// New returns a card that is off. It does not search for or start anything.
func New(o Options) *Card {
	o = o.filled()
	c := &Card{opts: o, pins: catalogue.Pins{Path: o.Pins, Title: o.Title, Exact: o.OnDemand, Hold: o.Hold}}
	c.log.Secrets = o.Secrets
	c.work.name, c.work.log = o.Name, &c.log
	c.life, c.stop = context.WithCancel(context.Background())
	c.stop() // there is no life before Start
	c.lifecycle = lifecycle{mode: Off, refusal: o.Texts.Off, faults: faults{path: o.Fault, log: &c.log, work: &c.work}}
	c.pool = newPool(&c.opts, &c.log)
	c.notifications.wanted = map[string]backend.Subscriptions{}
	now := c.published(&c.opts)
	close(now.told)
	c.now.Store(now)
	return c
}

// filled returns the options with defaults filled in.
func (o Options) filled() Options {
	o.Title = cmp.Or(o.Title, o.Name)
	o.Share = cmp.Or(o.Share, ShareDeck)
	o.Limits.InFlight = cmp.Or(o.Limits.InFlight, 64)
	o.Limits.Start = cmp.Or(o.Limits.Start, time.Minute)
	o.Limits.Withdraw = cmp.Or(o.Limits.Withdraw, 5*time.Second)
	o.Catalogue.Title = cmp.Or(o.Catalogue.Title, o.Title)
	o.Catalogue.RunsTasks = !o.ToolsOnly
	if !o.Catalogue.Bare {
		o.Catalogue.Prefix = cmp.Or(o.Catalogue.Prefix, o.ownPrefix())
	}
	if o.Start == nil {
		o.Start = process.Start
	}
	h := &o.Hooks
	if h.Ready == nil {
		h.Ready = func() {}
	}
	if h.Explain == nil {
		h.Explain = func(Outcome) string { return "" }
	}
	if h.Repeat == nil {
		h.Repeat = func(Outcome) (string, time.Duration) { return "", 0 }
	}
	if h.Observe == nil {
		h.Observe = func(Outcome) bool { return false }
	}
	if h.State == nil {
		h.State = func() (string, string) { return "", "" }
	}
	o.Texts = o.sentences()
	o.status = cmp.Or(o.Catalogue.Prefix, o.ownPrefix()) + "status"
	return o
}

// Name returns the card's name in views and on the command line.
func (c *Card) Name() string { return c.opts.Name }

// Options returns the card's options, with their defaults. They must not be changed.
func (c *Card) Options() *Options { return &c.opts }

// StatusTool returns the name of the tool that a connection to this card alone has if there
// would be no other.
func (o *Options) StatusTool() string { return o.status }

func (o *Options) ownPrefix() string { return strings.ReplaceAll(o.Name, "-", "_") + "_" }

// Start makes the card usable, sets its callbacks, and turns it on if the user configured
// that. It may be called again after Stop.
func (c *Card) Start(e Events) {
	c.mu.Lock()
	c.events, c.hurried = e, false
	c.life, c.stop = context.WithCancel(context.Background())
	c.mu.Unlock()
	c.Recount()
	c.recall()
	if c.opts.StartOn {
		c.update(func() {
			c.trying = 1
			c.switchOn()
		})
	}
}

// Quit turns the card off and starts to end its children, within two seconds, when the deck
// closes. Unanswered calls fail.
func (c *Card) Quit() {
	c.update(func() {
		c.hurried = c.opts.OnDemand
		c.end()
	})
}

// end is [Card.Stop] without waiting.
func (c *Card) end() {
	c.stop()
	c.switchOff()
	for _, s := range c.all() {
		c.drop(s)
	}
}

// Stop turns the card off, ends its children, and returns when they are gone or ctx ends.
func (c *Card) Stop(ctx context.Context) error {
	c.update(c.end)
	return c.Wait(ctx)
}

// Wait returns when everything that Quit or Stop is ending is gone, or ctx ends.
func (c *Card) Wait(ctx context.Context) error { return c.work.wait(ctx) }

// update changes the state and calls the callbacks. fn runs under mu and must not
// block.
func (c *Card) update(fn func()) {
	c.mu.Lock()
	before := c.now.Load()
	fn()
	if n, news := c.counted(); news && c.opts.Count != "" {
		c.work.save("how many tools there are", func() error { return KeepCount(c.opts.Count, n) })
	}
	after := c.published(&c.opts)
	c.now.Store(after)
	events := c.events
	c.mu.Unlock()
	close(before.changed)
	if before.listed.Fingerprint() != after.listed.Fingerprint() || after.listed != nil && before.has.print != after.has.print {
		tell(events.Listed)
	}
	c.hints.Send()
	tell(events.Look)
	close(after.told)
}

// Reoffer rebuilds the offer after a change of what the Off and Without functions of
// [catalogue.Options] return.
func (c *Card) Reoffer() {
	c.update(func() {
		if c.offer != nil {
			c.offers(c.offer.Again(c.offer.Verdict, c.opts.Catalogue))
		}
	})
}

// Brief returns the current state as a sentence for an agent.
func (c *Card) Brief() string {
	s := c.Status()
	if s.Mode == Off {
		return c.Published().refusal
	}
	return fmt.Sprintf("%s is %s: %s.\n", c.opts.Texts.Mode, s.Mode, humanize.Count(len(s.Tools), "tool"))
}

// Note adds a line to the log of the connection.
func (c *Card) Note(text string) { c.log.Note(text) }

// Subscribe returns a channel with a buffer of one that receives a value when Status has
// changed, until cancel is called.
func (c *Card) Subscribe() (hint <-chan struct{}, cancel func()) { return c.hints.Subscribe() }

func tell(fn func()) {
	if fn != nil {
		fn()
	}
}

// after runs fn as an update in d, unless the card has been stopped by then.
func (c *Card) after(d time.Duration, fn func()) {
	time.AfterFunc(d, func() {
		defer recovery.Recover(c.opts.Name + " timer")
		c.update(func() {
			if c.life.Err() == nil {
				fn()
			}
		})
	})
}
