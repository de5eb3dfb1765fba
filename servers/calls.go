package servers

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/servers/safe"
)

const (
	keptCalls  = 10_000
	keptBodies = 16 << 20 // bytes of arguments and results in memory
	keptQueue  = 64 << 20 // bytes waiting to be written down; beyond, bodies are dropped
	bodyLimit  = 4 << 20  // of one body
	preview    = 200      // runes
	gather     = 8 * time.Millisecond
)

// callLog is what was and is being called. The request path only appends to a
// queue; one goroutine redacts, cuts and hands finished calls to the recorder.
type callLog struct {
	host *Host
	wake chan struct{}
	done chan struct{}

	queueMu sync.Mutex
	queue   []entry
	queued  int // bytes
	flight  int // calls in flight
	idle    chan struct{}
	lastID  uint64

	working sync.Mutex // a call's steps are taken in their order

	mu      sync.Mutex // guards what follows
	ring    []*kept    // by id, at most keptCalls
	byID    map[uint64]*kept
	change  uint64
	total   uint64
	errors  uint64
	servers map[string]uint64
	bodies  int // bytes
}

type kept struct {
	Call
	body    CallBody
	changed uint64
}

// entry is one step of a call on its way to the log.
type entry struct {
	call   Call
	args   json.RawMessage     // at the start
	result *mcp.CallToolResult // at the end
	step   step
}

type step int

const (
	begins step = iota
	waits
	ends
)

// record is a call in flight.
type record struct {
	call  Call
	agent *Agent
}

func newCallLog(h *Host) *callLog {
	return &callLog{
		host: h, wake: make(chan struct{}, 1), done: make(chan struct{}),
		byID: map[uint64]*kept{}, servers: map[string]uint64{},
	}
}

func (l *callLog) start() {
	safe.Go("call log", func() {
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

// stop writes down what is queued and ends the goroutine.
func (l *callLog) stop(context.Context) {
	l.work()
	select {
	case <-l.done:
	default:
		close(l.done)
	}
}

// drain waits until no call is in flight, or ctx ends.
func (l *callLog) drain(ctx context.Context) {
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

func (l *callLog) push(e entry) {
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
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
}

func (l *callLog) begin(a *Agent, module, tool string, args json.RawMessage) *record {
	caller := a.Caller()
	r := &record{agent: a, call: Call{
		Agent: caller.Agent, AgentName: caller.Name(), Server: module,
		Tool: plain.Cut(plain.Line(tool), 128), Status: Running, Started: time.Now(), ArgsBytes: len(args),
	}}
	l.queueMu.Lock()
	l.lastID++
	r.call.ID = l.lastID
	l.flight++
	l.queueMu.Unlock()
	a.mu.Lock()
	a.calls++
	a.flight = append(a.flight, r)
	a.lastCall, a.lastTool = r.call.Started, r.call.Tool
	a.mu.Unlock()
	l.push(entry{call: r.call, args: args, step: begins})
	return r
}

func (l *callLog) finish(r *record, status CallStatus, result *mcp.CallToolResult, failure string) {
	c := r.call
	c.Status, c.Result, c.Waiting = status, failure, false
	c.Duration = max(time.Since(c.Started), 1)
	a := r.agent
	a.mu.Lock()
	for i, o := range a.flight {
		if o == r {
			a.flight = append(a.flight[:i:i], a.flight[i+1:]...)
			break
		}
	}
	if status.Failed() {
		a.errors++
	}
	a.mu.Unlock()
	if result != nil {
		// The response gets its metadata while the log reads the result.
		copied := *result
		copied.Meta = nil
		result = &copied
	}
	l.push(entry{call: c, result: result, step: ends})
	l.queueMu.Lock()
	l.flight--
	if l.flight == 0 && l.idle != nil {
		close(l.idle)
		l.idle = nil
	}
	l.queueMu.Unlock()
}

func (l *callLog) setWaiting(r *record, on bool) {
	a := r.agent
	a.mu.Lock()
	if on {
		a.waiting++
	} else {
		a.waiting--
	}
	a.mu.Unlock()
	c := r.call
	c.Waiting = on
	l.push(entry{call: c, step: waits})
}

// work takes everything queued into the log and tells the screen once.
func (l *callLog) work() {
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
			_ = safe.Call("call log", func() error { l.take(&batch[i]); return nil })
		}
		l.host.tell()
	}
}

func (l *callLog) take(e *entry) {
	switch e.step {
	case begins:
		e.call.Args, e.args = l.redactArgs(e)
		l.mu.Lock()
		k := &kept{Call: e.call, body: CallBody{Args: e.args}}
		l.add(k)
		call, body := k.Call, k.body
		l.mu.Unlock()
		if l.host.opts.Recorder != nil {
			l.host.opts.Recorder.Begin(call, body)
		}
	case waits:
		l.mu.Lock()
		if k := l.byID[e.call.ID]; k != nil && k.Status == Running {
			k.Waiting = e.call.Waiting
			l.touch(k)
		}
		l.mu.Unlock()
	case ends:
		l.end(e)
	}
}

func (l *callLog) end(e *entry) {
	text, body, cut := l.describe(e)
	l.host.pictures.add(&e.call, e.result)
	l.mu.Lock()
	k := l.byID[e.call.ID]
	if k == nil { // pushed out of the ring while it ran
		k = &kept{Call: e.call}
	}
	args := k.Args
	k.Call = e.call
	k.Args = args
	k.Call.Result = text
	k.Call.ResultBytes = len(body)
	k.Call.Images = images(e.result)
	k.body.Result, k.body.Cut = body, k.body.Cut || cut
	l.bodies += len(body)
	l.total++
	l.servers[k.Server]++
	if k.Status.Failed() {
		l.errors++
	}
	l.touch(k)
	l.shed()
	call, both := k.Call, k.body
	l.mu.Unlock()
	if l.host.opts.Recorder != nil {
		l.host.opts.Recorder.Record(call, both)
	}
}

func (l *callLog) add(k *kept) {
	l.ring = append(l.ring, k)
	l.byID[k.ID] = k
	l.bodies += len(k.body.Args)
	if len(l.ring) > keptCalls {
		old := l.ring[0]
		l.bodies -= len(old.body.Args) + len(old.body.Result)
		delete(l.byID, old.ID)
		l.ring[0] = nil
		l.ring = l.ring[1:]
	}
	l.touch(k)
	l.shed()
}

func (l *callLog) touch(k *kept) {
	l.change++
	k.changed = l.change
}

// shed forgets the oldest bodies when there are too many bytes of them; the
// journal has them.
func (l *callLog) shed() {
	for _, k := range l.ring {
		if l.bodies <= keptBodies {
			return
		}
		if k.Status == Running {
			continue
		}
		l.bodies -= len(k.body.Args) + len(k.body.Result)
		k.body = CallBody{}
	}
}

// fill puts the newest calls into a snapshot and returns the count by server.
func (l *callLog) fill(s *Snapshot) map[string]uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	from := max(0, len(l.ring)-snapshotCalls)
	s.Calls = make([]Call, 0, len(l.ring)-from)
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

// Calls returns the calls that changed after the given change number, oldest
// first, and the number to pass next time. 0 asks for all that are kept: the
// newest 10,000.
func (h *Host) Calls(since uint64) ([]Call, uint64) {
	l := h.calls
	l.mu.Lock()
	defer l.mu.Unlock()
	if since == l.change {
		return nil, since
	}
	var out []Call
	for _, k := range l.ring {
		if k.changed > since {
			out = append(out, k.Call)
		}
	}
	return out, l.change
}

// Body returns what a call carried, false if it is no longer in memory.
func (h *Host) Body(id uint64) (CallBody, bool) {
	l := h.calls
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.byID[id]
	if k == nil || k.body.Args == nil && k.body.Result == nil {
		return CallBody{}, false
	}
	return k.body, true
}
