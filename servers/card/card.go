// Package card is a server of somebody else's and its switch: it finds and starts the
// server's program, reads its tools, forwards calls to it, and offers the tools while
// the card is on.
//
// All passes as raw JSON: what the server says about its tools and what it answers
// reach the agent as they are, apart from names, which get a prefix. What is particular
// to one server hangs on a card as [Hooks], [Texts] and [Limits]; nothing here knows
// which servers or tools there are.
package card

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/card/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/card/child"
	"github.com/mcpdeck/mcpdeck/servers/hint"
	"github.com/mcpdeck/mcpdeck/servers/process"
	"github.com/mcpdeck/mcpdeck/servers/safe"
)

// Options is what a card is made of.
type Options struct {
	Name    string // in views, on the command line and in logs
	Title   string // as the user knows it; "" is the name
	Key     string // that switches it, as the user knows it; "" when there is none
	Version string // of the deck, told to the server
	Pins    string // file of the accepted definitions; "" keeps them in memory
	Hold    catalogue.Hold
	StartOn bool // switch on with the deck
	// OnDemand has what agents list come from the accepted definitions, once there are
	// any, and the program run from the first call on. Else it runs while the card is on.
	OnDemand bool
	Share    Share     // of a program on demand; "" is ShareDeck
	Warm     bool      // keep a program on demand running for the next agent
	Root     string    // of the deck's project; "": none
	Era      child.Era // that the server speaks; "" finds out

	// Elicit puts a form of the server to a user and waits; it ends when ctx does. An
	// error is that of a form no person can be asked. nil: the server is told that
	// nobody can be asked.
	Elicit func(context.Context, Elicitation) (Elicited, error)

	// ElicitAgent passes forms and pages to the one agent that a program serves instead,
	// and SampleAgent what is asked of a model, if the agent answers such requests.
	ElicitAgent, SampleAgent bool

	// ToolsOnly has the server asked for its tools, and nothing else passed on.
	ToolsOnly bool
	NoRoots   bool // the server is not told of projects

	Gateway   Gateway
	Catalogue catalogue.Options // Title and Prefix have defaults
	Hooks     Hooks
	Texts     Texts
	Limits    Limits

	Start func(process.Command) (*process.Child, error) // starts the program; nil is process.Start
}

// Hooks are what is particular to a server. Find must be there; the others that are
// nil do nothing.
type Hooks struct {
	// Find looks for the program to start on someone's behalf. What it returns counts with
	// an error, too, which is a sentence for the user.
	Find    func(From) (Found, error)
	Ready   func()                                          // a fresh connection is there
	Explain func(Outcome) string                            // what the agent reads of a call that failed; "" for the result as it came
	Repeat  func(Outcome) (note string, wait time.Duration) // whether to send a call again, and what to tell the agent meanwhile
	Observe func(Outcome) bool                              // whether what State returns has changed with a call
	State   func() (detail, trouble string)                 // of what the server works with, for the user; trouble is what is the matter with it
}

// Found is the program that a search chose, or the way to a server that is none.
type Found struct {
	process.Command
	Open     func(*child.Log) (child.Link, error) // connects; nil: there is a program
	Source   string                               // where it was found
	For      string                               // what it is to work with, if there is a choice
	Searched []Candidate
}

// Candidate is a place that was searched.
type Candidate struct {
	Path   string // as the user knows it
	Source string
	Reason string // why it was not taken; "" for the one that was
}

// Limits bound what a server may take. The defaults are those of a server of which
// nothing is known.
type Limits struct {
	InFlight int           // calls at a time; 0 is 64
	Call     time.Duration // for one call, without what the user takes; 0: none
	Start    time.Duration // from the start of the program to its list of tools; 0 is 60 s
	Keep     time.Duration // the program after the card was turned off, for a quick return
	Withdraw time.Duration // without the program, until agents lose its tools; 0 is 5 s
	// Idle is how long a program on demand is kept without a request; 0 is 5 minutes, but
	// for one that a single agent has, which ends with that agent.
	Idle time.Duration
}

// Events is what a card tells. The functions must return at once; nil ones
// are not called.
type Events struct {
	Listed func()       // what agents may list or call has changed
	Look   func()       // something that Status shows has changed
	Warn   func(string) // a sentence for the user
	// Pass is a notification of the server to the agent with that id.
	Pass func(agent, method string, params json.RawMessage)
}

// Mode tells whether agents have the tools of a card.
type Mode string

// The modes.
const (
	Off       Mode = "off"
	TurningOn Mode = "turning on"
	On        Mode = "on"
)

// Link is the condition of the child.
type Link string

// The conditions of the child. Lost is one that ended by itself and is being
// started again, LinkFailed one that was given up.
const (
	NoLink     Link = "none"
	Connecting Link = "connecting"
	LinkReady  Link = "ready"
	Lost       Link = "lost"
	LinkFailed Link = "failed"
)

const (
	busyAgain    = 5 * time.Second  // between looks at whether a child that is to end still works
	linkPatience = 5 * time.Second  // of a call for the child
	stableAfter  = 60 * time.Second // a child that lived so long starts counting anew
	failureShown = 10 * time.Second
	retryFirst   = time.Minute // until a server that nobody has turned on is tried again; doubles
	retrySeldom  = 15 * time.Minute
)

// Card is a server of somebody else's and its switch: its child, its tools, and whether
// they are offered. All methods may be called from any goroutine.
type Card struct {
	opts   Options
	events Events
	log    child.Log
	pins   catalogue.Pins
	calls  callLog
	hints  hint.Feed

	work sync.WaitGroup

	now atomic.Pointer[moment]

	mu sync.Mutex
	core
}

// core is what changes, under mu.
type core struct {
	life    context.Context // from Start to Stop
	stop    context.CancelFunc
	mode    Mode
	main    *slot                // serves all agents, or lists what there is; it is one of slots
	slots   map[string]*slot     // of children, by their keys
	made    int                  // of them, ever
	era     child.Era            // that the server spoke last; "": it is not known
	listing catalogue.Listing    // of the last child, also after its end
	verdict catalogue.Verdict    // on the listing
	asked   []string             // programs that wait for the user to accept what is held
	offer   *catalogue.Catalogue // made of it
	listed  *catalogue.Catalogue // what agents have; nil: nothing
	has     resources            // of the last child

	trying      int  // how often in a row its settings alone turned it on; 0: a user did
	hurried     bool // the deck ends
	restarts    int
	lostAt      time.Time // zero unless tools are offered without a child
	offAt       time.Time
	failedAt    time.Time // switched off by a failure; zero once seen
	refusal     string    // what a call gets while off
	lastError   string
	lastErrorAt time.Time
	wanted      map[string]Wanted // by the ids of agents
}

// moment is what a call needs to know, swapped whole.
type moment struct {
	mode    Mode
	listed  *catalogue.Catalogue
	has     resources
	refusal string
	changed chan struct{} // closed when this is no longer so
	told    chan struct{} // closed when all who must know were told
}

// New makes a card that is off. It searches and starts nothing.
func New(o Options) *Card {
	o = o.filled()
	c := &Card{opts: o, pins: catalogue.Pins{Path: o.Pins, Title: o.Title, Exact: o.OnDemand, Hold: o.Hold}}
	c.era = o.Era
	c.main = c.newSlot("", From{})
	c.slots = map[string]*slot{"": c.main}
	c.life, c.stop = context.WithCancel(context.Background())
	c.stop() // until Start
	c.mode, c.refusal = Off, o.Texts.Off
	now := &moment{mode: Off, refusal: c.refusal, changed: make(chan struct{}), told: make(chan struct{})}
	close(now.told)
	c.now.Store(now)
	return c
}

// filled puts in what is left out.
func (o Options) filled() Options {
	o.Title = cmp.Or(o.Title, o.Name)
	o.Share = cmp.Or(o.Share, ShareDeck)
	o.Limits.InFlight = cmp.Or(o.Limits.InFlight, 64)
	o.Limits.Start = cmp.Or(o.Limits.Start, time.Minute)
	o.Limits.Withdraw = cmp.Or(o.Limits.Withdraw, 5*time.Second)
	o.Catalogue.Title = cmp.Or(o.Catalogue.Title, o.Title)
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
	return o
}

// Name is what the card is called in views and on the command line.
func (c *Card) Name() string { return c.opts.Name }

// StatusTool is the name of what a connection to the card alone has when it would have
// nothing else.
func (c *Card) StatusTool() string { return c.opts.statusTool() }

func (o Options) statusTool() string { return cmp.Or(o.Catalogue.Prefix, o.ownPrefix()) + "status" }

func (o Options) ownPrefix() string { return strings.ReplaceAll(o.Name, "-", "_") + "_" }

// owns tells whether a name is that of a tool of the card, offered or not.
func (c *Card) owns(tool string) bool {
	if !c.opts.Catalogue.Bare {
		return strings.HasPrefix(tool, c.opts.Catalogue.Prefix)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return tool == c.StatusTool() || c.offer != nil && c.offer.Exposed(tool) != nil
}

// GatewayTool is the name of the gateway, "" when the card has none.
func (c *Card) GatewayTool() string { return c.opts.Gateway.Tool }

// Title is what the user knows the card as.
func (c *Card) Title() string { return c.opts.Title }

// Start makes the card usable, sets who is told of changes, and switches the
// mode on if the user configured that. It may be called again after Stop.
func (c *Card) Start(e Events) {
	c.mu.Lock()
	c.events, c.hurried = e, false
	c.life, c.stop = context.WithCancel(context.Background())
	c.mu.Unlock()
	c.recall()
	if c.opts.StartOn {
		c.update(func() {
			c.trying = 1
			c.switchOn()
		})
	}
}

// Quit switches off and begins to end the children, within two seconds, for a deck that
// ends. Calls that they have not answered fail.
func (c *Card) Quit() {
	c.update(func() {
		c.hurried = c.opts.OnDemand
		c.end()
	})
}

// end is [Card.Stop] without the wait.
func (c *Card) end() {
	c.stop()
	c.switchOff()
	for _, s := range c.all() {
		c.drop(s)
	}
}

// Stop switches off, ends the children, and returns when they are gone or ctx ends.
func (c *Card) Stop(ctx context.Context) error {
	c.update(c.end)
	return c.Wait(ctx)
}

// Wait returns when what Quit or Stop has begun to end is gone, or ctx ends.
func (c *Card) Wait(ctx context.Context) error {
	done := make(chan struct{})
	safe.Go(c.opts.Name+" stop", func() {
		c.work.Wait()
		close(done)
	})
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// update changes the state and tells who must know. fn runs under mu and must
// not wait for anything.
func (c *Card) update(fn func()) {
	c.mu.Lock()
	before := c.now.Load()
	fn()
	refusal := c.refusal
	if c.mode == TurningOn {
		refusal = c.opts.Texts.Mode + " is starting. Try again in a moment."
	}
	after := &moment{mode: c.mode, listed: c.listed, has: c.has, refusal: refusal, changed: make(chan struct{}), told: make(chan struct{})}
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

// Listed is what agents may use now, nil while that is nothing.
func (c *Card) Listed() *catalogue.Catalogue { return c.now.Load().listed }

// Refuse is the sentence for a call of a tool that is not listed now,
// "" for a name that is not the card's.
func (c *Card) Refuse(tool string) string {
	if !c.owns(tool) {
		return ""
	}
	now := c.now.Load()
	switch {
	case now.mode != On:
		return now.refusal
	case now.listed == nil:
		return c.opts.lost("")
	case now.listed.Exposed(tool) != nil: // a view with the gateway lists that alone
		return c.opts.behind(tool)
	}
	return c.opts.noTool(now.listed, tool)
}

// RefuseAsIs is [Card.Refuse] for a tool by the server's own name: whatever the server
// does not list is not its.
func (c *Card) RefuseAsIs(tool string) string {
	if listed := c.Listed(); listed.Withheld(c.opts.Catalogue.Expose(tool)) != catalogue.NotWithheld {
		return c.opts.noTool(listed, tool)
	}
	return ""
}

// Reoffer offers anew what was listed, after what [catalogue.Options] Off says has
// changed.
func (c *Card) Reoffer() {
	c.update(func() {
		if len(c.listing.Tools) > 0 {
			c.offer = catalogue.New(c.listing, c.verdict, c.opts.Catalogue)
			c.relisted()
		}
	})
}

// Brief is the state of things in a sentence for an agent.
func (c *Card) Brief() string {
	s := c.Status()
	if s.Mode == Off {
		return c.now.Load().refusal
	}
	return fmt.Sprintf("%s is %s: %d tools.\n", c.opts.Texts.Mode, s.Mode, len(s.Tools))
}

// Note adds a line to the link's log.
func (c *Card) Note(text string) { c.log.Note(text) }

// Subscribe hints, on a channel of one slot, that Status differs, until cancel
// is called.
func (c *Card) Subscribe() (hint <-chan struct{}, cancel func()) { return c.hints.Subscribe() }

func tell(fn func()) {
	if fn != nil {
		fn()
	}
}

func (c *Card) warn(text string) {
	c.mu.Lock()
	fn := c.events.Warn
	c.mu.Unlock()
	if fn != nil {
		fn(text)
	}
}

// after runs fn as an update in d, unless the card is stopped by then.
func (c *Card) after(d time.Duration, fn func()) {
	time.AfterFunc(d, func() {
		defer safe.Recover(c.opts.Name + " timer")
		c.update(func() {
			if c.life.Err() == nil {
				fn()
			}
		})
	})
}

// spawn runs fn in a goroutine that Stop waits for.
func (c *Card) spawn(name string, fn func()) {
	c.work.Add(1)
	safe.Go(c.opts.Name+" "+name, func() {
		defer c.work.Done()
		fn()
	})
}
