// Package calllog is the log of agents' tool calls: the state of each call, its
// arguments and result, its pictures, and figures for each agent and server.
package calllog

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

const (
	kept          = 10_000   // calls
	snapshotCalls = 512      // of these, in a snapshot
	keptBodies    = 16 << 20 // bytes of arguments and results in memory
	keptQueue     = 64 << 20 // bytes that wait to be redacted; beyond, bodies are dropped
	bodyLimit     = 4 << 20  // of one body
	gather        = 8 * time.Millisecond
	// slow is how long a call runs before the recorder gets it without its end. Most
	// calls are faster, and are recorded once.
	slow = time.Second
)

// Recorder keeps calls.
type Recorder interface {
	// Record takes a call that has ended, or one that has been running for a while, so
	// that its loss can be told; its end follows. It must not block.
	Record(snapshot.Call, snapshot.CallBody)
}

// Options are what a Log is made of.
type Options struct {
	// Recorder gets every call; nil: none.
	Recorder Recorder
	// Redact says what is kept of arguments and results.
	Redact redact.Rules
	// Changed is called when there is something new to see; may be nil.
	Changed func()
}

// Log is what was and is being called. A call itself only leaves what it carries in
// a queue; one goroutine redacts and describes that, in batches, and hands calls to the
// recorder. When more than 64 MiB wait there, a call is logged without what it
// carried.
type Log struct {
	opts     Options
	pictures pictures
	wake     chan struct{}
	done     chan struct{}

	path   sync.Mutex // held by calls, briefly: guards what follows, and Records
	queue  []*Record
	queued int // bytes
	flight int // calls in flight
	idle   chan struct{}
	lastID uint64
	names  map[string]bool // of tools, fit to be shown

	working sync.Mutex // a call's steps are taken in their order
	running []*entered // that the recorder has not got

	mu      sync.Mutex // guards what follows
	ring    []*entered // with consecutive IDs, at most kept
	change  uint64
	total   uint64
	errors  uint64
	servers map[string]uint64
	tallies map[string]map[string]*tally // by server and tool
	bodies  int                          // bytes
}

// entered is a call in the log.
type entered struct {
	snapshot.Call
	body    snapshot.CallBody
	changed uint64
	gone    bool // out of the ring
}

// Figures are what one agent called so far. The zero value is ready.
type Figures struct {
	mu      sync.Mutex
	calls   uint64
	errors  uint64
	flight  []string // tools
	last    time.Time
	tool    string // called last
	waiting int
}

// Fill puts the figures into what the screen shows of the agent.
func (f *Figures) Fill(a *snapshot.Agent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a.Calls, a.Errors, a.LastCall, a.LastTool, a.Waiting = f.calls, f.errors, f.last, f.tool, f.waiting > 0
	a.InFlight = append(a.InFlight, f.flight...)
}

// New makes a log that takes calls; they come into sight once it has started.
func New(o Options) *Log {
	return &Log{
		opts: o, wake: make(chan struct{}, 1), done: make(chan struct{}),
		names: map[string]bool{}, servers: map[string]uint64{}, tallies: map[string]map[string]*tally{},
	}
}

// Start begins to take what is queued into the log.
func (l *Log) Start() {
	recovery.Go("call log", func() {
		var look <-chan time.Time // for slow calls
		for {
			select {
			case <-l.wake:
				// Calls come in bursts; waking for each would slow the caller.
				select {
				case <-time.After(gather):
				case <-l.done:
				}
				if l.work() && look == nil {
					look = time.After(slow)
				}
			case <-look:
				if look = nil; l.recordRunning(slow) {
					look = time.After(slow)
				}
			case <-l.done:
				l.work()
				return
			}
		}
	})
}

// Stop writes down what is queued, also of calls that still run, and ends the goroutine.
func (l *Log) Stop() {
	l.work()
	l.recordRunning(0)
	select {
	case <-l.done:
	default:
		close(l.done)
	}
}

// Drain waits until no call is in flight, or ctx ends.
func (l *Log) Drain(ctx context.Context) {
	l.path.Lock()
	if l.flight == 0 {
		l.path.Unlock()
		return
	}
	idle := make(chan struct{})
	l.idle = idle
	l.path.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
}

// Request is what is called.
type Request struct {
	Server, Tool string
	Args         json.RawMessage
	Redact       redact.Kind
}

// Record is a call in flight. Its log's path guards it.
type Record struct {
	log          *Log
	figures      *Figures
	redact       redact.Kind
	call         snapshot.Call
	queued       bool
	cut          bool // what it carried did not fit into the queue
	args, result json.RawMessage

	entered *entered // is the working goroutine's; nil: not yet
}

// Begin takes in a call by who, whose figures are f.
func (l *Log) Begin(f *Figures, who snapshot.Caller, q Request) *Record {
	r := &Record{log: l, figures: f, redact: q.Redact, call: snapshot.Call{
		Agent: who.Agent, AgentName: who.Name(), ByUser: who.ByUser(), Server: q.Server, Tool: q.Tool, Status: snapshot.Running, Started: time.Now(), ArgsBytes: len(q.Args),
	}}
	l.path.Lock()
	defer l.path.Unlock()
	if !l.names[q.Tool] {
		l.path.Unlock()
		r.call.Tool = sanitize.Cut(redact.Rules{}.Text(sanitize.Line(q.Tool)), 128)
		l.path.Lock()
		if len(l.names) < tools {
			l.names[r.call.Tool] = true
		}
	}
	l.lastID++
	r.call.ID = l.lastID
	l.flight++
	l.push(r, q.Args, nil)
	f.mu.Lock()
	f.calls++
	f.flight = append(f.flight, r.call.Tool)
	f.last, f.tool = r.call.Started, r.call.Tool
	f.mu.Unlock()
	return r
}

// ID is that of the call.
func (r *Record) ID() uint64 { return r.call.ID }

// push has the log look at a call, and at what it has carried since. The caller holds path.
func (l *Log) push(r *Record, args, result json.RawMessage) {
	switch size := len(args) + len(result); {
	case l.queued+size > keptQueue:
		r.cut = true
	case size > 0:
		l.queued += size
		if args != nil {
			r.args = args
		}
		r.result = result
	}
	if !r.queued {
		r.queued = true
		l.queue = append(l.queue, r)
		if len(l.queue) == 1 {
			notify.Poke(l.wake)
		}
	}
}

// End says what the call came to: the result, if there is one, or why it failed.
func (r *Record) End(status snapshot.CallStatus, result json.RawMessage, failure string) {
	l, f := r.log, r.figures
	l.path.Lock()
	r.call.Status, r.call.Result, r.call.Waiting, r.call.Done, r.call.Total = status, failure, false, 0, 0
	r.call.Duration = max(time.Since(r.call.Started), 1)
	l.push(r, nil, result)
	l.flight--
	if l.flight == 0 && l.idle != nil {
		close(l.idle)
		l.idle = nil
	}
	l.path.Unlock()
	f.mu.Lock()
	if i := slices.Index(f.flight, r.call.Tool); i >= 0 {
		f.flight = slices.Delete(f.flight, i, i+1)
	}
	if status.Failed() {
		f.errors++
	}
	f.mu.Unlock()
}

// Progress says how far the call is. However often that is said, the log takes in the last.
func (r *Record) Progress(done, total float64) {
	r.log.path.Lock()
	defer r.log.path.Unlock()
	if r.call.Status == snapshot.Running {
		r.call.Done, r.call.Total = done, total
		r.log.push(r, nil, nil)
	}
}

// Wait shows the call as waiting for the user until done is called.
func (r *Record) Wait() (done func()) {
	r.waiting(true, 1)
	return sync.OnceFunc(func() { r.waiting(false, -1) })
}

func (r *Record) waiting(on bool, by int) {
	r.figures.mu.Lock()
	r.figures.waiting += by
	r.figures.mu.Unlock()
	r.log.path.Lock()
	defer r.log.path.Unlock()
	if r.call.Status == snapshot.Running {
		r.call.Waiting = on
		r.log.push(r, nil, nil)
	}
}
