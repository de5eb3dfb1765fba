// Package relay is the server that an agent's client starts: it passes messages on to the deck, and
// outlives it.
package relay

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/drain"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/reconnect"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// Relay is the server that an agent's client starts, with stdio on one side and the deck
// on the other. It outlives the deck: without a deck it hosts the same view in its own
// process, and it moves to a deck when one appears.
type Relay struct {
	Hello transport.Hello
	// Dial connects to the deck's socket; it fails when there is no deck.
	Dial func(ctx context.Context) (net.Conn, error)
	// Headless serves the view in this process over the returned stream, and names the
	// tools whose calls are resent to the next deck.
	Headless func() (s transport.Stream, resumable []string, err error)
	// Moving is called before the relay leaves a view in this process for a deck; the
	// function it returns is called when the view has been left. It may be nil.
	Moving func() (left func())
	In     io.Reader
	Out    io.Writer
	// Patience is how long to wait for a lost deck before hosting the view in this
	// process; 0: one second.
	Patience time.Duration

	look time.Duration // interval of looking for a deck while this process hosts

	outMu sync.Mutex // guards out
	out   *bufio.Writer

	mu      sync.Mutex // guards what follows
	link    *link
	linked  sync.Cond // link changed; uses mu
	client  replay
	moves   int
	closing bool
}

// How often a relay without a deck looks for one, and how often after a deck has refused
// this process for good.
const (
	lookEvery   = 500 * time.Millisecond
	lookRefused = time.Minute
)

// dialTime is how long a deck may take to answer the greeting.
const dialTime = 5 * time.Second

// The methods that mean something to a relay.
const (
	listenMethod = "subscriptions/listen"
	toolsChanged = "notifications/tools/list_changed"
)

// burst is the size of reads and writes. Lines that arrive together are forwarded
// together, which saves most of the cost of concurrent callers.
const burst = 64 << 10

// link is a connection to a deck or to this process's own host.
type link struct {
	transport.Stream
	lines    *bufio.Reader
	out      *bufio.Writer
	headless bool
	// resumable names the tools whose calls are resent when the link is lost.
	resumable []string
	down      chan struct{}
}

// usageError marks a refusal by the deck that is a usage error of the caller.
type usageError struct{ error }

// IsUsage reports whether an error of Run is a usage error of the caller.
func IsUsage(err error) bool {
	var u usageError
	return errors.As(err, &u)
}

// Run relays messages until In ends and, if Out is a file that is still read, the requests
// before that are answered; or until ctx ends, or the client has gone. It returns an error of
// the first connection or of In.
func (r *Relay) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.linked.L, r.client = &r.mu, newReplay()
	r.look = lookEvery
	r.out = bufio.NewWriterSize(r.Out, burst)
	first, err := r.connect(ctx)
	if err != nil {
		return err
	}
	r.adopt(first)
	recovery.Go("relay link", func() { r.keepLinked(ctx, first) })
	if err = r.input(ctx); ctx.Err() == nil {
		drain.Answers(ctx, r.Out, r.unanswered)
	}
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

// input forwards what the client says until that ends. A read that blocks, or a deck that is
// stuck, does not keep the relay once ctx has ended or the client has gone.
func (r *Relay) input(ctx context.Context) error {
	read, gone := make(chan error, 1), make(chan struct{})
	recovery.Go("relay input", func() { read <- r.fromClient(rpc.NewLines(r.In, rpc.MaxLine)) })
	recovery.Go("relay client", func() {
		if drain.HungUp(r.In) && drain.HungUp(r.Out) && process.Pause(ctx, drain.Unread) == nil { // what it has sent may be read meanwhile
			close(gone)
		}
	})
	select {
	case err := <-read:
		return err
	case <-gone:
	case <-ctx.Done():
	}
	return nil
}

// unanswered returns the number of requests whose answers the client may still wait for.
func (r *Relay) unanswered(waited time.Duration) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.client.flight {
		if drain.Awaited(waited, f.line != nil) {
			n++
		}
	}
	return n
}

// finish lets the other side finish its work and answer, for at most grace.
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

func newLink(s transport.Stream, lines *bufio.Reader) *link {
	return &link{Stream: s, lines: lines, out: bufio.NewWriterSize(s, burst), down: make(chan struct{})}
}

func (r *Relay) dial(ctx context.Context) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	c, err := r.Dial(ctx)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { c.Close() })
	w, lines, err := transport.Greet(c, r.Hello)
	if !stop() || err != nil || w.Error != "" {
		c.Close()
		if w.Final {
			r.look = lookRefused
		}
		if w.Usage {
			return nil, usageError{errors.New(w.Error)}
		}
		return nil, errors.Join(transport.ErrNoDeck, err)
	}
	s, ok := c.(transport.Stream)
	if !ok {
		s = halfClosed{c}
	}
	l := newLink(s, lines)
	l.resumable = w.Resumable
	return l, nil
}

// halfClosed closes the whole connection if one side cannot be closed separately.
type halfClosed struct{ net.Conn }

func (h halfClosed) CloseWrite() error { return h.Close() }

// adopt makes l the current link. It replays the state of the client's session and
// resends the requests that must not be lost.
func (r *Relay) adopt(l *link) {
	r.mu.Lock()
	for _, line := range r.client.again(r.moves > 0) {
		_, _ = l.out.Write(line) // the link's reader notices errors
	}
	_ = l.out.Flush() // the same
	r.link, r.client.resumable = l, l.resumable
	r.moves++
	var news [][]byte
	if r.moves > 1 {
		news = r.client.changed()
	}
	r.linked.Broadcast()
	r.mu.Unlock()
	recovery.Go("relay reader", func() { r.fromDeck(l) })
	for _, line := range news {
		r.write(line)
	}
}

// keepLinked replaces a lost link.
func (r *Relay) keepLinked(ctx context.Context, first *link) {
	// The only error is that of ctx: if there is neither a deck nor a host, connect retries.
	_ = reconnect.Keep(first, func(l *link) bool { return r.use(ctx, l) }, func() (*link, error) {
		l, err := r.redial(ctx)
		if err == nil {
			r.adopt(l)
		}
		return l, err
	})
}

// use waits until the current link is lost or the relay is ending. It moves from a
// headless link to a deck that appears.
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

// lost drops a dead link. It reports false if the relay is ending.
func (r *Relay) lost(l *link) bool {
	l.Close()
	r.mu.Lock()
	r.link = nil
	closing, failed := r.closing, r.client.lost()
	r.mu.Unlock()
	for _, id := range failed {
		r.write(rpc.Failure(json.RawMessage(id), rpc.Error{
			Code: rpc.CodeGone, Message: transport.ErrGone.Error(),
			Data: map[string]bool{"retryable": true},
		}))
	}
	return !closing
}

// redial looks for a deck, and after a while hosts the view in this process.
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

// moveToDeck moves from a headless link to a deck that has appeared, when no calls are
// in flight except those that wait for the user. These are resent, so that the deck shows
// their questions. It returns the link that is then current.
func (r *Relay) moveToDeck(ctx context.Context, old *link) *link {
	r.mu.Lock()
	free := r.movable(old)
	r.mu.Unlock()
	if !free { // without connecting to the deck, which would show an agent that comes and goes
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
	r.link = nil // lines from the client wait meanwhile
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

// movable reports whether the link is current and may be left now. The caller holds mu.
func (r *Relay) movable(l *link) bool {
	for _, f := range r.client.flight {
		if f.line == nil {
			return false
		}
	}
	return !r.closing && r.link == l
}

// fromClient forwards lines from the client to the current link.
func (r *Relay) fromClient(lines *rpc.Lines) error {
	for {
		if !lines.Whole() {
			r.send()
		}
		line, err := lines.Next()
		switch {
		case errors.Is(err, rpc.ErrLineTooLong):
			reply, answer := transport.TooLong(line)
			if reply != nil {
				r.write(reply)
				continue
			}
			line = bytes.TrimSuffix(answer.Line(), []byte("\n"))
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read from the client: %w", err)
		}
		e, bad := transport.Decode(line)
		if bad != nil {
			r.write(rpc.Failure(e.ID, *bad))
			continue
		}
		r.forward(e, line)
	}
}

// forward sends a line over the link, once there is one, and records what must be sent again when
// that is lost. Only forward and send, on one goroutine, write to the current link.
func (r *Relay) forward(e *backend.Request, line []byte) {
	r.mu.Lock()
	for r.link == nil && !r.closing {
		r.linked.Wait()
	}
	l := r.link
	if l == nil {
		r.mu.Unlock()
		return
	}
	line = r.client.note(e, line)
	r.mu.Unlock()
	// Write without the lock, since the deck may be blocked until its own output is read.
	_, _ = l.out.Write(line) // the link's reader notices errors and ends the call
}

// send flushes the lines written to the link.
func (r *Relay) send() {
	r.mu.Lock()
	l := r.link
	r.mu.Unlock()
	if l != nil {
		_ = l.out.Flush() // as above
	}
}

// fromDeck forwards lines from the link to the client.
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
		r.mu.Lock()
		drop := r.link != l && r.link != nil || r.client.swallow(line)
		r.mu.Unlock()
		if !drop {
			r.outMu.Lock()
			_, _ = r.out.Write(line) // the end of the client's input ends the relay
			r.outMu.Unlock()
		}
	}
}

// write sends the client a line of the relay's own.
func (r *Relay) write(line []byte) {
	r.outMu.Lock()
	_, _ = r.out.Write(line) // as above
	r.outMu.Unlock()
	r.deliver()
}

// deliver flushes the lines written to the client.
func (r *Relay) deliver() {
	r.outMu.Lock()
	defer r.outMu.Unlock()
	_ = r.out.Flush() // as above
}
