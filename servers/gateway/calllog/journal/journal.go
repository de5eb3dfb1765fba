// Package journal stores every finished tool call in a database file, off the
// request path, and searches them.
package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/gateway/calllog"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

var _ calllog.Recorder = (*Journal)(nil)

// Options say where the journal is and how much it keeps. Zero values mean the
// usual ones.
type Options struct {
	Path     string                // of the file; its folder is made, 0700
	Spool    string                // of the file in which calls wait that were made without a deck; "" for none
	MaxCalls int                   // 50,000
	MaxAge   time.Duration         // 30 days
	MaxBytes int64                 // of arguments and results; 256 MiB
	Warn     func(sentence string) // tells the user; nil: nobody
}

const (
	queueCalls = 10_000 // wait to be written at most
	queueBytes = 64 << 20
	batchCalls = 512
	batchWait  = 250 * time.Millisecond // a kill loses at most this and one write
	retryWait  = 30 * time.Second       // from memory back to the disk
	pruneCalls = 500                    // written since the last look for too many
	pruneBytes = 16 << 20
)

// Journal takes calls at any time; they are kept once it is open. Its methods
// may be called from any goroutine.
type Journal struct {
	opt Options
	run int64 // start of this run in microseconds since 1970

	maxCalls, maxBytes int // in the queue
	tickEvery          time.Duration

	wake chan struct{}
	quit chan struct{}
	done chan struct{}

	mu     sync.Mutex // guards what follows
	queue  []item
	bytes  int
	lost   int             // calls that did not fit into the queue
	begun  map[uint64]bool // those that are written without their end
	opened bool
	spools bool // into the spool instead of the store
	closed bool
	store  *store // nil before Open
	flush  []chan struct{}
}

type item struct {
	call  snapshot.Call
	body  snapshot.CallBody
	again bool // it may have been written before
	size  int
}

// New makes a journal that is not open yet; it touches no file.
func New(opt Options) *Journal {
	if opt.MaxCalls <= 0 {
		opt.MaxCalls = 50_000
	}
	if opt.MaxAge <= 0 {
		opt.MaxAge = 30 * 24 * time.Hour
	}
	if opt.MaxBytes <= 0 {
		opt.MaxBytes = 256 << 20
	}
	if opt.Warn == nil {
		opt.Warn = func(string) {}
	}
	return &Journal{
		opt: opt, run: time.Now().UnixMicro(), maxCalls: queueCalls, maxBytes: queueBytes, tickEvery: retryWait,
		begun: map[uint64]bool{}, wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
	}
}

// Run is what Entry.Run is for the calls of this process.
func (j *Journal) Run() int64 { return j.run }

// Record takes a call that has ended, or that runs and is found by the next deck if this
// one ends before it, redacted already. It returns at once. Bodies are dropped while more
// waits to be written than memory should hold, and then calls.
func (j *Journal) Record(call snapshot.Call, body snapshot.CallBody) {
	j.mu.Lock()
	defer j.mu.Unlock()
	it := item{call: call, body: body, again: j.begun[call.ID], size: len(body.Args) + len(body.Result) + 256}
	if call.Status == snapshot.Running {
		j.begun[call.ID] = true
	} else {
		delete(j.begun, call.ID)
	}
	switch {
	case j.closed:
		return
	case len(j.queue) >= j.maxCalls:
		j.lost++
		return
	case j.bytes+it.size > j.maxBytes:
		it.body, it.size = snapshot.CallBody{Cut: true}, 256
		fallthrough
	default:
		j.queue = append(j.queue, it)
		j.bytes += it.size
	}
	// The writer waits for more after the first; waking it for each would cost more
	// than writing.
	if n := len(j.queue); n == 1 || n == batchCalls {
		notify.Poke(j.wake)
	}
}

// Open opens the file and starts writing. A file that cannot be used makes the
// journal go on in memory with a warning; the error is nil then. Open is meant
// to be called once, after the screen is up: it costs some milliseconds.
func (j *Journal) Open(ctx context.Context) error {
	j.mu.Lock()
	if j.opened || j.closed {
		j.mu.Unlock()
		return errors.New("open journal: already open")
	}
	j.opened = true
	j.mu.Unlock()
	s, warning, err := openBest(ctx, j.opt)
	if err != nil {
		close(j.done)
		return fmt.Errorf("open journal: %w", err)
	}
	if warning != "" {
		j.opt.Warn(warning)
	}
	j.takeSpooled(ctx, s)
	j.loseEarlier(ctx, s)
	j.mu.Lock()
	j.store = s
	j.mu.Unlock()
	recovery.Go("journal", func() {
		defer close(j.done)
		j.write()
	})
	return nil
}

// InMemory reports whether calls are kept in memory only.
func (j *Journal) InMemory() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.store == nil || j.store.memory
}

// Close writes down what is queued, within ctx, and closes the file.
func (j *Journal) Close(ctx context.Context) error {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return nil
	}
	j.closed = true
	opened := j.opened
	j.mu.Unlock()
	close(j.quit)
	if !opened {
		return nil
	}
	select {
	case <-j.done:
	case <-ctx.Done():
		return fmt.Errorf("close journal: %w", ctx.Err())
	}
	if s := j.current(); s != nil {
		return s.close()
	}
	return nil
}

func (j *Journal) current() *store {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.store
}

// Sync returns once everything recorded before has been written, or ctx ends.
func (j *Journal) Sync(ctx context.Context) error {
	ch := make(chan struct{})
	j.mu.Lock()
	if j.store == nil && !j.spools || j.closed {
		j.mu.Unlock()
		return errors.New("sync journal: not open")
	}
	j.flush = append(j.flush, ch)
	j.mu.Unlock()
	notify.Poke(j.wake)
	select {
	case <-ch:
		return nil
	case <-j.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// write is the one goroutine that changes the store.
func (j *Journal) write() {
	retry := time.NewTicker(j.tickEvery)
	defer retry.Stop()
	calls, bytes := pruneCalls, 0 // prune at the start
	for {
		batch, size, lost, flush := j.take()
		if lost > 0 {
			j.opt.Warn("the call log could not keep up and lacks " + humanize.Count(lost, "call"))
		}
		if len(batch) > 0 {
			j.keep(batch)
			calls += len(batch)
		}
		bytes += size
		if calls >= pruneCalls || bytes >= pruneBytes {
			calls, bytes = 0, 0
			j.prune()
		}
		for _, ch := range flush {
			close(ch)
		}
		if len(batch) == batchCalls {
			continue
		}
		select {
		case <-j.wake:
			// Wait for more, so that a busy minute is few transactions.
			if !j.pause(batchWait) {
				j.finish()
				return
			}
		case <-retry.C:
			j.tick()
		case <-j.quit:
			j.finish()
			return
		}
	}
}

// pause waits, unless somebody asked for everything to be written. It is false
// when the journal is being closed.
func (j *Journal) pause(d time.Duration) bool {
	j.mu.Lock()
	hurry := len(j.flush) > 0 || len(j.queue) >= batchCalls
	j.mu.Unlock()
	if hurry {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			return true
		case <-j.quit:
			return false
		case <-j.wake:
			j.mu.Lock()
			hurry := len(j.flush) > 0 || len(j.queue) >= batchCalls
			j.mu.Unlock()
			if hurry {
				return true
			}
		}
	}
}

// finish writes all that is queued.
func (j *Journal) finish() {
	for {
		batch, _, _, flush := j.take()
		for _, ch := range flush {
			close(ch)
		}
		if len(batch) == 0 {
			return
		}
		j.keep(batch)
	}
}

// take returns the oldest of the queue and its size, and who waits for the queue to be
// empty once it is.
func (j *Journal) take() (batch []item, size, lost int, flush []chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := min(len(j.queue), batchCalls)
	batch = j.queue[:n:n]
	j.queue = j.queue[n:]
	for _, it := range batch {
		size += it.size
	}
	j.bytes -= size
	lost, j.lost = j.lost, 0
	if len(j.queue) == 0 {
		j.queue = nil
		flush, j.flush = j.flush, nil
	}
	return batch, size, lost, flush
}

// keep writes a batch. When the file turns out to be damaged a new one is begun;
// when the disk refuses, the journal goes on in memory.
func (j *Journal) keep(batch []item) {
	if j.spools {
		j.keepSpooled(batch)
		return
	}
	ctx := context.Background()
	s := j.current()
	if s.gone(j.opt.Path) {
		s = j.renew(ctx, s)
	}
	err := s.insert(ctx, j.run, batch)
	if err == nil || s.memory {
		return
	}
	if isDamage(err) {
		_ = s.close() // before the file is renamed
	}
	next, warning, oerr := openNext(ctx, j.opt, err)
	if oerr != nil {
		j.opt.Warn("the call log cannot be kept: " + reason(err))
		return
	}
	j.opt.Warn(warning)
	if err := next.insert(ctx, j.run, batch); err != nil {
		j.opt.Warn("calls are missing from the call log: " + reason(err))
	}
	j.replace(next)
}

// renew begins a new file where somebody has deleted the one that was written.
func (j *Journal) renew(ctx context.Context, s *store) *store {
	_ = s.close() // first: its end removes what belongs to a file of the name
	next, warning, err := openBest(ctx, j.opt)
	if err != nil {
		return s // whose errors are told
	}
	warning = cmp.Or(warning, "the call log was deleted; started a new one")
	j.opt.Warn(warning)
	j.replace(next)
	return next
}

func (j *Journal) replace(s *store) {
	j.mu.Lock()
	old := j.store
	j.store = s
	j.mu.Unlock()
	// Readers of the old one get an error and ask again.
	_ = old.close()
}

// tick does what is due now and then.
func (j *Journal) tick() {
	if j.spools {
		return
	}
	j.returnToDisk()
	j.takeSpooled(context.Background(), j.current())
}

// returnToDisk tries the file again and moves what memory holds into it.
func (j *Journal) returnToDisk() {
	s := j.current()
	if !s.memory || j.opt.Path == "" {
		return
	}
	ctx := context.Background()
	d, err := openDisk(ctx, j.opt)
	if err != nil {
		return
	}
	if err := s.moveTo(ctx, d); err != nil {
		_ = d.close()
		return
	}
	j.loseEarlier(ctx, d)
	j.replace(d)
	j.opt.Warn("the call log is saved to disk again")
}

func (j *Journal) prune() {
	if j.spools {
		return
	}
	s := j.current()
	_ = s.prune(context.Background(), time.Now(), j.opt) // what stays too long goes next time
}
