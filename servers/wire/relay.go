package wire

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/reconnect"
	"github.com/mcpdeck/mcpdeck/servers/rpc"
	"github.com/mcpdeck/mcpdeck/servers/safe"
)

// Relay is what an agent's client starts: stdio on one side, the deck on the
// other. It never ends because the deck does. Without a deck it hosts the same
// view in its own process, and it moves to a deck when one appears.
type Relay struct {
	Hello Hello
	// Dial connects to the deck's socket; it fails when there is no deck.
	Dial func(ctx context.Context) (net.Conn, error)
	// Headless serves the view in this process over the returned stream, and names the
	// tools whose calls are to be sent again to another deck.
	Headless func() (s Stream, resumable []string, err error)
	// Moving is told before a view that this process hosts is left for a deck, and what
	// it returns when it has been left; nil tells nobody.
	Moving func() (left func())
	In     io.Reader
	Out    io.Writer
	// Patience is how long a lost deck is waited for before this process hosts
	// the view; 0: one second.
	Patience time.Duration

	look time.Duration // between looks for a deck while this process hosts

	outMu sync.Mutex // guards out
	out   *bufio.Writer

	mu     sync.Mutex // guards what follows
	link   *link
	linked sync.Cond // link changed; uses mu
	client replay
	// resumable names the tools whose calls are sent again, as the link in use or the
	// one before it has said.
	resumable []string
	flight    map[string]flying // requests without an answer, by id
	sent      int               // counts requests
	moves     int
	closing   bool
}

// flying is a request without an answer.
type flying struct {
	line []byte // of one that is sent again to another deck, else nil
	at   int    // counts up, to send in the same order
}

// Stream is a connection whose sending side can be closed alone.
type Stream interface {
	io.ReadWriteCloser
	CloseWrite() error
}

// How often a relay without a deck looks for one, and how often when a deck has
// said that it is none for this process.
const (
	lookEvery   = 500 * time.Millisecond
	lookRefused = time.Minute
)

// burst is how much is read and written at once: lines that come together go on
// together, which saves most of what several callers at a time would cost.
const burst = 64 << 10

// link is the present connection to a deck or to this process's own host.
type link struct {
	Stream
	lines    *bufio.Reader
	out      *bufio.Writer
	headless bool
	// resumable names the tools whose calls are sent again when the link is lost.
	resumable []string
	down      chan struct{}
}

// usageError marks a deck's refusal that is the caller's mistake.
type usageError struct{ error }

// IsUsage tells whether an error of Run is the caller's mistake.
func IsUsage(err error) bool {
	var u usageError
	return errors.As(err, &u)
}

// Run relays until In ends. The error is that of the first connection or of In.
func (r *Relay) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.linked.L = &r.mu
	r.flight = map[string]flying{}
	r.look = lookEvery
	r.out = bufio.NewWriterSize(r.Out, burst)
	first, err := r.connect(ctx)
	if err != nil {
		return err
	}
	r.adopt(first)
	safe.Go("relay link", func() { r.keepLinked(ctx, first) })
	err = r.fromClient(rpc.NewLines(r.In, rpc.MaxLine))
	r.mu.Lock()
	r.closing = true
	l := r.link
	r.linked.Broadcast()
	r.mu.Unlock()
	if l != nil {
		l.finish(90 * time.Millisecond)
	}
	return err
}

// finish lets the other side answer what it has read and end what it has begun,
// but not for longer than grace.
func (l *link) finish(grace time.Duration) {
	_ = l.CloseWrite() // it may be down already
	select {
	case <-l.down:
	case <-time.After(grace):
	}
	l.Close()
}

// connect opens a link to the deck or, without one, to this process.
func (r *Relay) connect(ctx context.Context) (*link, error) {
	l, err := r.dial(ctx)
	if err == nil {
		return l, nil
	}
	if IsUsage(err) {
		return nil, err
	}
	return r.host()
}

func (r *Relay) host() (*link, error) {
	s, resumable, err := r.Headless()
	if err != nil {
		return nil, fmt.Errorf("host without a deck: %w", err)
	}
	l := newLink(s, bufio.NewReaderSize(s, burst))
	l.headless, l.resumable = true, resumable
	return l, nil
}

func newLink(s Stream, lines *bufio.Reader) *link {
	return &link{Stream: s, lines: lines, out: bufio.NewWriterSize(s, burst), down: make(chan struct{})}
}

func (r *Relay) dial(ctx context.Context) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, helloTime)
	defer cancel()
	c, err := r.Dial(ctx)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { c.Close() })
	w, lines, err := Greet(c, r.Hello)
	if !stop() || err != nil || w.Error != "" {
		c.Close()
		if w.Final {
			r.look = lookRefused
		}
		if w.Usage {
			return nil, usageError{errors.New(w.Error)}
		}
		return nil, errors.Join(ErrNoDeck, err)
	}
	s, ok := c.(Stream)
	if !ok {
		s = halfClosed{c}
	}
	l := newLink(s, lines)
	l.resumable = w.Resumable
	return l, nil
}

// halfClosed ends the whole connection where one side alone cannot be closed.
type halfClosed struct{ net.Conn }

func (h halfClosed) CloseWrite() error { return h.Close() }

// adopt makes l the link in use: what the client has said before is said again,
// and what must not be lost is sent again.
func (r *Relay) adopt(l *link) {
	r.mu.Lock()
	for _, line := range r.client.again() {
		_, _ = l.out.Write(line) // a dead link is noticed by its reader
	}
	for _, f := range slices.SortedFunc(maps.Values(r.flight), func(a, b flying) int { return cmp.Compare(a.at, b.at) }) {
		if f.line != nil {
			_, _ = l.out.Write(sentAgain(f.line, r.moves > 0)) // the same
		}
	}
	_ = l.out.Flush() // the same
	r.link, r.resumable = l, l.resumable
	r.moves++
	var news [][]byte
	if r.moves > 1 {
		news = r.client.changed()
	}
	r.linked.Broadcast()
	r.mu.Unlock()
	safe.Go("relay reader", func() { r.fromDeck(l) })
	for _, line := range news {
		r.write(line)
	}
}

// keepLinked replaces a lost link.
func (r *Relay) keepLinked(ctx context.Context, first *link) {
	// The error is that of ctx: without a deck and a host, a deck is looked for.
	_ = reconnect.Keep(first, func(l *link) bool { return r.use(ctx, l) }, func() (*link, error) {
		l, err := r.redial(ctx)
		if err == nil {
			r.adopt(l)
		}
		return l, err
	})
}

// use waits until the link in use is lost, or the relay is ending. From a headless
// one it moves to a deck that appears.
func (r *Relay) use(ctx context.Context, l *link) (lost bool) {
	for {
		var look <-chan time.Time
		if l.headless {
			look = time.After(r.look)
		}
		select {
		case <-ctx.Done():
			return false
		case <-l.down:
			return r.lost(l)
		case <-look:
			l = r.moveToDeck(ctx, l)
		}
	}
}

// lost takes a dead link out of use; false when the relay is ending.
func (r *Relay) lost(l *link) bool {
	l.Close()
	r.mu.Lock()
	r.link = nil
	closing := r.closing
	var failed []string
	for id, f := range r.flight {
		if f.line == nil {
			failed = append(failed, id)
			delete(r.flight, id)
		}
	}
	r.mu.Unlock()
	for _, id := range failed {
		r.write(rpc.Failure(json.RawMessage(id), rpc.Error{
			Code: rpc.CodeGone, Message: goneMessage,
			Data: map[string]bool{"retryable": true},
		}))
	}
	return !closing
}

// redial looks for a deck, and after a while hosts the view here.
func (r *Relay) redial(ctx context.Context) (*link, error) {
	const most = 200 * time.Millisecond
	l, err := reconnect.Dial(ctx, reconnect.Pauses{First: 10 * time.Millisecond, Most: most}, cmp.Or(r.Patience, time.Second), r.dial)
	if err == nil || ctx.Err() != nil {
		return l, err
	}
	if l, err = r.host(); err == nil {
		return l, nil
	}
	return reconnect.Dial(ctx, reconnect.Pauses{First: most, Most: most}, reconnect.Forever, r.dial)
}

// moveToDeck changes from a headless link to a deck that has appeared, at a
// moment when no call is under way but those that wait for a user: they are
// sent again, so that the deck shows who asks. It returns the link in use then.
func (r *Relay) moveToDeck(ctx context.Context, old *link) *link {
	r.mu.Lock()
	free := r.movable(old)
	r.mu.Unlock()
	if !free { // without a look at the deck, where it would show as an agent that comes and goes
		return old
	}
	l, err := r.dial(ctx)
	if err != nil {
		return old
	}
	r.mu.Lock()
	if !r.movable(old) {
		r.mu.Unlock()
		l.Close()
		return old
	}
	r.link = nil // lines from the client wait
	r.mu.Unlock()
	left := func() {}
	if r.Moving != nil {
		left = r.Moving()
	}
	old.finish(time.Second) // first, so that a question is not asked twice
	<-old.down
	left()
	r.adopt(l)
	return l
}

// movable tells whether the link is in use and may be left now. The caller
// holds mu.
func (r *Relay) movable(l *link) bool {
	for _, f := range r.flight {
		if f.line == nil {
			return false
		}
	}
	return !r.closing && r.link == l
}

// fromClient hands lines to the link in use.
func (r *Relay) fromClient(lines *rpc.Lines) error {
	for {
		if !lines.Whole() {
			r.send()
		}
		line, err := lines.Next()
		switch {
		case errors.Is(err, rpc.ErrLineTooLong):
			r.write(rpc.Failure(nil, rpc.Error{Code: rpc.CodeInvalid, Message: fmt.Sprintf("message is longer than %d bytes", rpc.MaxLine)}))
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read from the client: %w", err)
		}
		e, bad := decodeEnvelope(line)
		if bad != nil {
			r.write(rpc.Failure(e.ID, *bad))
			continue
		}
		r.forward(e, line)
	}
}

func (r *Relay) forward(e envelope, line []byte) {
	again := r.resumes(e)
	if again {
		line = withResumeKey(e)
	}
	line = append(line, '\n')
	if l := r.enter(e, line, again); l != nil {
		// Without the lock: a deck that first wants to be heard must be.
		_, _ = l.out.Write(line) // a dead link is noticed by its reader, which ends the call
	}
}

// resumes tells whether a request is a call that is sent again when the deck is lost.
func (r *Relay) resumes(e envelope) bool {
	tool := toolOf(e)
	if tool == "" || e.ID == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.resumable, tool)
}

// enter waits for a link and notes what goes over it; nil when the relay ends. Only
// forward and send, on one goroutine, write to a link in use.
func (r *Relay) enter(e envelope, line []byte, again bool) *link {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.link == nil && !r.closing {
		r.linked.Wait()
	}
	if r.link == nil {
		return nil
	}
	if id := r.client.note(e, line); id != "" {
		delete(r.flight, id)
	}
	if e.ID != nil && e.Method != "" && e.Method != listenMethod {
		r.sent++
		f := flying{at: r.sent}
		if again {
			f.line = line
		}
		r.flight[string(e.ID)] = f
	}
	return r.link
}

// send lets the link's lines go.
func (r *Relay) send() {
	r.mu.Lock()
	l := r.link
	r.mu.Unlock()
	if l != nil {
		_ = l.out.Flush() // as above
	}
}

// fromDeck hands the link's lines to the client.
func (r *Relay) fromDeck(l *link) {
	defer close(l.down)
	for {
		if !rpc.WholeLine(l.lines) {
			r.deliver()
		}
		line, err := l.lines.ReadBytes('\n')
		if err != nil {
			return
		}
		id := answerID(line)
		r.mu.Lock()
		stale := r.link != l && r.link != nil
		retry := id != "" && r.flight[id].line != nil && bytes.Contains(line, []byte(retryMark))
		if id != "" && !retry {
			delete(r.flight, id)
		}
		drop := stale || retry || r.client.swallow(id, line)
		r.mu.Unlock()
		if !drop {
			r.outMu.Lock()
			_, _ = r.out.Write(line) // the end of the client's input ends the relay
			r.outMu.Unlock()
		}
	}
}

// write hands a line of the relay's own to the client.
func (r *Relay) write(line []byte) {
	r.outMu.Lock()
	_, _ = r.out.Write(line) // as above
	r.outMu.Unlock()
	r.deliver()
}

// deliver lets the client's lines go.
func (r *Relay) deliver() {
	r.outMu.Lock()
	defer r.outMu.Unlock()
	_ = r.out.Flush() // as above
}

// answerID returns the raw id of an answer the deck wrote, "" for another
// message. The deck writes the id right behind the version.
func answerID(line []byte) string {
	const before = `{"jsonrpc":"2.0","id":`
	if len(line) <= len(before) || string(line[:len(before)]) != before {
		return ""
	}
	end := rawjson.End(line, len(before))
	rest := line[end:]
	if len(rest) > 9 && string(rest[:9]) == `,"method"` {
		return ""
	}
	return string(line[len(before):end])
}
