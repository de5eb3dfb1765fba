package calllog

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
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
	keptQueue     = 64 << 20 // bytes waiting to be written down; beyond, bodies are dropped
	bodyLimit     = 4 << 20  // of one body
	preview       = 200      // runes
	gather        = 8 * time.Millisecond
)

// Recorder keeps calls. It must not block.
type Recorder interface {
	// Begin tells of a call that has begun; its body has the arguments.
	Begin(snapshot.Call, snapshot.CallBody)
	// Record takes a call that has ended, complete.
	Record(snapshot.Call, snapshot.CallBody)
}

// Options are what a Log is made of.
type Options struct {
	// Recorder gets every call; nil: none.
	Recorder Recorder
	// Redact returns a body without what must not be kept; nil: bodies as they are.
	// It is called off the request path.
	Redact func(kind redact.Kind, result bool, body json.RawMessage) json.RawMessage
	// Changed is called when there is something new to see; may be nil.
	Changed func()
}

// Log is what was and is being called. The request path only appends to a
// queue; one goroutine redacts, cuts and hands finished calls to the recorder.
type Log struct {
	opts     Options
	pictures pictures
	wake     chan struct{}
	done     chan struct{}

	queueMu sync.Mutex
	queue   []entry
	queued  int // bytes
	flight  int // calls in flight
	idle    chan struct{}
	lastID  uint64

	working sync.Mutex // a call's steps are taken in their order

	mu      sync.Mutex // guards what follows
	ring    []*entered // by id, at most kept
	byID    map[uint64]*entered
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
}

// Result is what a call of a tool came to. The functions are called later, off the
// request path.
type Result struct {
	Encode func() ([]byte, error) // as JSON
	Images func() []Image         // nil: none
}

// Image is a picture in a result.
type Image struct{ MIME, Data string } // base64, as it was sent

// entry is one step of a call on its way to the log.
type entry struct {
	call   snapshot.Call
	redact redact.Kind
	args   json.RawMessage // at the start
	result *Result         // at the end
	record *Record         // of one that has come further
	step   step
}

type step int

const (
	begins step = iota
	waits
	moves
	ends
)

// New makes a log that takes calls; they come into sight once it has started.
func New(o Options) *Log {
	return &Log{
		opts: o, wake: make(chan struct{}, 1), done: make(chan struct{}),
		byID: map[uint64]*entered{}, servers: map[string]uint64{},
		tallies: map[string]map[string]*tally{},
	}
}

// Start begins to take what is queued into the log.
func (l *Log) Start() {
	recovery.Go("call log", func() {
		for {
			select {
			case <-l.wake:
				// Calls come in bursts; waking for each would slow the caller.
				select {
				case <-time.After(gather):
				case <-l.done:
				}
				l.work()
			case <-l.done:
				l.work()
				return
			}
		}
	})
}

// Stop writes down what is queued and ends the goroutine.
func (l *Log) Stop() {
	l.work()
	select {
	case <-l.done:
	default:
		close(l.done)
	}
}

// Drain waits until no call is in flight, or ctx ends.
func (l *Log) Drain(ctx context.Context) {
	l.queueMu.Lock()
	if l.flight == 0 {
		l.queueMu.Unlock()
		return
	}
	idle := make(chan struct{})
	l.idle = idle
	l.queueMu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
}

func (l *Log) push(e entry) {
	size := len(e.args)
	l.queueMu.Lock()
	if l.queued+size > keptQueue {
		e.args, e.result, size = nil, nil, 0
	}
	l.queued += size
	l.queue = append(l.queue, e)
	first := len(l.queue) == 1
	l.queueMu.Unlock()
	if first {
		notify.Poke(l.wake)
	}
}

// Request is what is called.
type Request struct {
	Server, Tool string
	Args         json.RawMessage
	Redact       redact.Kind
}

// Begin takes in a call by who, whose figures are f.
func (l *Log) Begin(f *Figures, who snapshot.Caller, r Request) *Record {
	c := &Record{log: l, figures: f, redact: r.Redact, call: snapshot.Call{
		Agent: who.Agent, AgentName: who.Name(), Server: r.Server,
		Tool: sanitize.Cut(redact.Rules{}.Text(sanitize.Line(r.Tool)), 128), Status: snapshot.Running, Started: time.Now(), ArgsBytes: len(r.Args),
	}}
	l.queueMu.Lock()
	l.lastID++
	c.call.ID = l.lastID
	l.flight++
	l.queueMu.Unlock()
	f.begin(c)
	l.push(entry{call: c.call, redact: r.Redact, args: r.Args, step: begins})
	return c
}

// Record is a call in flight.
type Record struct {
	log     *Log
	figures *Figures
	redact  redact.Kind
	call    snapshot.Call
	at      atomic.Pointer[progress] // the last that was told
	moved   atomic.Bool              // and is on its way to the log
}

type progress struct{ done, total float64 }

// Progress says how far the call is. However often that is said, the log takes in the last.
func (r *Record) Progress(done, total float64) {
	r.at.Store(&progress{done, total})
	if r.moved.CompareAndSwap(false, true) {
		r.log.push(entry{record: r, step: moves})
	}
}

// End says what the call came to: the result, if there is one, or why it failed.
func (r *Record) End(status snapshot.CallStatus, result *Result, failure string) {
	c, l := r.call, r.log
	c.Status, c.Result, c.Waiting = status, failure, false
	c.Duration = max(time.Since(c.Started), 1)
	r.figures.end(r, status)
	l.push(entry{call: c, redact: r.redact, result: result, step: ends})
	l.queueMu.Lock()
	l.flight--
	if l.flight == 0 && l.idle != nil {
		close(l.idle)
		l.idle = nil
	}
	l.queueMu.Unlock()
}

// Wait shows the call as waiting for the user until done is called.
func (r *Record) Wait() (done func()) {
	r.waiting(true)
	return sync.OnceFunc(func() { r.waiting(false) })
}

func (r *Record) waiting(on bool) {
	r.figures.wait(on)
	c := r.call
	c.Waiting = on
	r.log.push(entry{call: c, step: waits})
}

// work takes everything queued into the log and tells the screen once.
func (l *Log) work() {
	l.working.Lock()
	defer l.working.Unlock()
	for {
		l.queueMu.Lock()
		batch := l.queue
		l.queue, l.queued = nil, 0
		l.queueMu.Unlock()
		if len(batch) == 0 {
			return
		}
		for i := range batch {
			// What one call carried must not end the log.
			_ = recovery.Call("call log", func() error { l.take(&batch[i]); return nil })
		}
		if l.opts.Changed != nil {
			l.opts.Changed()
		}
	}
}

func (l *Log) take(e *entry) {
	switch e.step {
	case begins:
		e.call.Args, e.args = l.redactArgs(e)
		l.mu.Lock()
		k := &entered{Call: e.call, body: snapshot.CallBody{Args: e.args}}
		l.add(k)
		call, body := k.Call, k.body
		l.mu.Unlock()
		if l.opts.Recorder != nil {
			l.opts.Recorder.Begin(call, body)
		}
	case waits:
		l.mu.Lock()
		if k := l.byID[e.call.ID]; k != nil && k.Status == snapshot.Running {
			k.Waiting = e.call.Waiting
			l.touch(k)
		}
		l.mu.Unlock()
	case moves:
		e.record.moved.Store(false)
		at := e.record.at.Load()
		l.mu.Lock()
		if k := l.byID[e.record.call.ID]; k != nil && k.Status == snapshot.Running {
			k.Done, k.Total = at.done, at.total
			l.touch(k)
		}
		l.mu.Unlock()
	case ends:
		l.end(e)
	}
}

func (l *Log) end(e *entry) {
	text, body, cut := l.describe(e)
	var images []Image
	if e.result != nil && e.result.Images != nil {
		images = e.result.Images()
	}
	l.pictures.add(&e.call, images)
	l.mu.Lock()
	k := l.byID[e.call.ID]
	if k == nil { // pushed out of the ring while it ran
		k = &entered{Call: e.call}
	}
	args := k.Args
	k.Call = e.call
	k.Args = args
	k.Call.Result = text
	k.Call.ResultBytes = len(body)
	k.Call.Images = len(images)
	k.body.Result, k.body.Cut = body, k.body.Cut || cut
	l.bodies += len(body)
	l.total++
	l.servers[k.Server]++
	l.count(&k.Call)
	if k.Status.Failed() {
		l.errors++
	}
	l.touch(k)
	l.shed()
	call, both := k.Call, k.body
	l.mu.Unlock()
	if l.opts.Recorder != nil {
		l.opts.Recorder.Record(call, both)
	}
}

func (l *Log) add(k *entered) {
	l.ring = append(l.ring, k)
	l.byID[k.ID] = k
	l.bodies += len(k.body.Args)
	if len(l.ring) > kept {
		old := l.ring[0]
		l.bodies -= len(old.body.Args) + len(old.body.Result)
		delete(l.byID, old.ID)
		l.ring[0] = nil
		l.ring = l.ring[1:]
	}
	l.touch(k)
	l.shed()
}

func (l *Log) touch(k *entered) {
	l.change++
	k.changed = l.change
}

// shed forgets the oldest bodies when there are too many bytes of them; the
// journal has them.
func (l *Log) shed() {
	for _, k := range l.ring {
		if l.bodies <= keptBodies {
			return
		}
		if k.Status == snapshot.Running {
			continue
		}
		l.bodies -= len(k.body.Args) + len(k.body.Result)
		k.body = snapshot.CallBody{}
	}
}

// Fill puts the newest calls into a snapshot and returns the count by server.
func (l *Log) Fill(s *snapshot.Snapshot) map[string]uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	from := max(0, len(l.ring)-snapshotCalls)
	s.Calls = make([]snapshot.Call, 0, len(l.ring)-from)
	for _, k := range l.ring[from:] {
		s.Calls = append(s.Calls, k.Call)
	}
	s.Total, s.Errors = l.total, l.errors
	out := make(map[string]uint64, len(l.servers))
	for name, n := range l.servers {
		out[name] = n
	}
	return out
}

// Since returns the calls that changed after the given change number, oldest
// first, and the number to pass next time. 0 asks for all that are kept: the
// newest 10,000.
func (l *Log) Since(since uint64) ([]snapshot.Call, uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if since == l.change {
		return nil, since
	}
	var out []snapshot.Call
	for _, k := range l.ring {
		if k.changed > since {
			out = append(out, k.Call)
		}
	}
	return out, l.change
}

// Body returns what a call carried, false if it is no longer in memory.
func (l *Log) Body(id uint64) (snapshot.CallBody, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.byID[id]
	if k == nil || k.body.Args == nil && k.body.Result == nil {
		return snapshot.CallBody{}, false
	}
	return k.body, true
}
