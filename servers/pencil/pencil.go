package pencil

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/card/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/card/child"
	"github.com/mcpdeck/mcpdeck/servers/clients"
	"github.com/mcpdeck/mcpdeck/servers/hint"
	"github.com/mcpdeck/mcpdeck/servers/process"
	"github.com/mcpdeck/mcpdeck/servers/safe"
)

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

	// Elicit puts a form of the program to a user and waits; it ends when ctx
	// does. An error is that of a form no person can be asked. nil: the program is
	// told that nobody can be asked.
	Elicit func(context.Context, Elicitation) (Elicited, error)

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

// Events is what a Pencil tells. The functions must return at once; nil ones
// are not called.
type Events struct {
	Listed func()       // what agents may list or call has changed
	Look   func()       // something that Status shows has changed
	Warn   func(string) // a sentence for the user
}

// Hooks are what is particular to a server.
type Hooks struct {
	Ready   func()                                          // a fresh connection is there
	Explain func(Outcome) string                            // what the agent reads of a call that failed; "" for the result as it came
	Repeat  func(Outcome) (note string, wait time.Duration) // whether to send a call again, and what to tell the agent meanwhile
	Observe func(Outcome) bool                              // whether what a user sees of the server has changed with a call
}

// Mode tells whether agents have Pencil's tools.
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
	withdrawAfter = 5 * time.Second  // without a child the tools go
	linkPatience  = 5 * time.Second  // of a call for the child
	keepAfterOff  = 60 * time.Second // the child, for a quick return
	stableAfter   = 60 * time.Second // a child that lived so long starts counting anew
	failureShown  = 10 * time.Second
	appPattern    = "letters, digits, - and _, at most 64, a letter or digit first"
)

// Pencil is Pencil mode: its child, its tools, and whether they are offered.
// All methods may be called from any goroutine.
type Pencil struct {
	opts   Options
	hooks  Hooks
	events Events
	log    child.Log
	pins   catalogue.Pins
	queue  *child.Queue
	app    appWatch
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
	link    Link
	child   *link
	listing catalogue.Listing    // of the child, also after its end
	verdict catalogue.Verdict    // on the listing
	asked   []string             // programs that wait for the user to accept what is held
	offer   *catalogue.Catalogue // made of it
	listed  *catalogue.Catalogue // what agents have; nil: nothing

	epoch        int // of the child; events of an older one are void
	cancel       context.CancelFunc
	reconnecting bool // asked for by a user: no second attempt
	attempts     int  // since a child last lived long enough
	restarts     int
	lostAt       time.Time // zero unless tools are offered without a child
	offAt        time.Time
	failedAt     time.Time // switched off by a failure; zero once seen
	refusal      string    // what a call gets while off
	found        Found
	searched     []Candidate
	lastError    string
	lastErrorAt  time.Time
}

// moment is what a call needs to know, swapped whole.
type moment struct {
	mode    Mode
	child   *link // ready, or nil
	listed  *catalogue.Catalogue
	refusal string
	changed chan struct{} // closed when this is no longer so
	told    chan struct{} // closed when all who must know were told
}

// New makes a Pencil that is off. It searches and starts nothing.
func New(o Options) *Pencil {
	o.MaxInFlight = min(max(o.MaxInFlight, 1), 4)
	if o.CallTimeout <= 0 {
		o.CallTimeout = 75 * time.Second
	}
	if o.Key == "" {
		o.Key = "p"
	}
	if o.Start == nil {
		o.Start = process.Start
	}
	p := &Pencil{opts: o, hooks: Hooks{Repeat: repeat, Explain: explain}, queue: child.NewQueue(o.MaxInFlight, func(waiting int) error { return &refusal{busyText(waiting)} }), pins: catalogue.Pins{Title: title}}
	p.hooks.Ready, p.hooks.Observe = p.app.reset, p.app.saw
	if o.StateDir != "" {
		p.pins.Path = filepath.Join(o.StateDir, "pencil-tools.json")
	}
	p.life, p.stop = context.WithCancel(context.Background())
	p.stop() // until Start
	p.mode, p.link, p.refusal = Off, NoLink, offText(o.Key)
	now := &moment{mode: Off, refusal: p.refusal, changed: make(chan struct{}), told: make(chan struct{})}
	close(now.told)
	p.now.Store(now)
	return p
}

// Start makes the Pencil usable, sets who is told of changes, and switches the
// mode on if the user configured that. It may be called again after Stop.
func (p *Pencil) Start(e Events) {
	p.mu.Lock()
	p.events = e
	p.life, p.stop = context.WithCancel(context.Background())
	p.mu.Unlock()
	if p.opts.StartOn {
		p.On()
	}
}

// Quit switches off and begins to end the child. Calls that it has not answered
// fail.
func (p *Pencil) Quit() {
	p.update(func() {
		p.stop()
		p.switchOff()
		p.closeChild()
	})
}

// Stop switches off, ends the child, and returns when it is gone or ctx ends.
func (p *Pencil) Stop(ctx context.Context) error {
	p.Quit()
	return p.Wait(ctx)
}

// Wait returns when what Quit or Stop has begun to end is gone, or ctx ends.
func (p *Pencil) Wait(ctx context.Context) error {
	done := make(chan struct{})
	safe.Go("pencil stop", func() {
		p.work.Wait()
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
func (p *Pencil) update(fn func()) {
	p.mu.Lock()
	before := p.now.Load()
	fn()
	after := &moment{mode: p.mode, listed: p.listed, refusal: p.refusal, changed: make(chan struct{}), told: make(chan struct{})}
	if p.link == LinkReady {
		after.child = p.child
	}
	p.now.Store(after)
	events := p.events
	p.mu.Unlock()
	close(before.changed)
	if before.listed.Fingerprint() != after.listed.Fingerprint() {
		tell(events.Listed)
	}
	p.hints.Send()
	tell(events.Look)
	close(after.told)
}

// Listed is what agents may use now, nil while that is nothing.
func (p *Pencil) Listed() *catalogue.Catalogue { return p.now.Load().listed }

// Refuse is the sentence for a call of a Pencil tool that is not listed now,
// "" for a name that is not Pencil's.
func (p *Pencil) Refuse(tool string) string {
	if !strings.HasPrefix(tool, prefix) {
		return ""
	}
	now := p.now.Load()
	switch {
	case now.mode != On:
		return now.refusal
	case now.listed == nil:
		return lostText
	case now.listed.Exposed(tool) != nil: // a view with the gateway lists that alone
		return gatewayText(tool)
	}
	return noToolText(tool)
}

// Brief is the state of things in a sentence for an agent.
func (p *Pencil) Brief() string {
	s := p.Status()
	if s.Mode == Off {
		return p.now.Load().refusal
	}
	return fmt.Sprintf("Pencil mode is %s: %d tools, app %s.\n", s.Mode, len(s.Tools), s.App)
}

// Note adds a line to the link's log.
func (p *Pencil) Note(text string) { p.log.Note(text) }

// Subscribe hints, on a channel of one slot, that Status differs, until cancel
// is called.
func (p *Pencil) Subscribe() (hint <-chan struct{}, cancel func()) { return p.hints.Subscribe() }

func tell(fn func()) {
	if fn != nil {
		fn()
	}
}

func (p *Pencil) warn(text string) {
	p.mu.Lock()
	fn := p.events.Warn
	p.mu.Unlock()
	if fn != nil {
		fn(text)
	}
}

// after runs fn as an update in d, unless the Pencil is stopped by then.
func (p *Pencil) after(d time.Duration, fn func()) {
	time.AfterFunc(d, func() {
		defer safe.Recover("pencil timer")
		p.update(func() {
			if p.life.Err() == nil {
				fn()
			}
		})
	})
}

// spawn runs fn in a goroutine that Stop waits for.
func (p *Pencil) spawn(name string, fn func()) {
	p.work.Add(1)
	safe.Go(name, func() {
		defer p.work.Done()
		fn()
	})
}
