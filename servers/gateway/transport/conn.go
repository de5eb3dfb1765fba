package transport

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/support/drain"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// How much waits for a client that does not read, of messages that it may miss.
const (
	maxUnread     = 4096
	maxUnreadSize = 4 << 20
)

// maxInFlight is how many calls of one connection may run at once.
const maxInFlight = 64

// The methods that mean something to a transport.
const (
	initializeMethod = "initialize"
	listenMethod     = "subscriptions/listen"
	cancelledMethod  = "notifications/cancelled"
)

// Conn serves one client over a byte stream: one JSON-RPC message a line.
type Conn struct {
	view  *router.View
	agent *router.Agent
	out   rpc.Outbox
	ctx   context.Context
	stop  context.CancelFunc
	work  sync.WaitGroup
	pool  *recovery.Pool // of requests

	// Used by the reading goroutine.
	turns backend.Sequencer // of questions
	known bool              // what the client says of itself

	pending rpc.Pending // our own requests
	replies deliveries

	learning  sync.Mutex // held while the client is asked for its roots; guards what follows
	announced bool       // the project is one of them

	mu     sync.Mutex // guards what follows
	flight map[string]*inFlight
}

// inFlight is a request being answered, and its client.
type inFlight struct {
	*backend.Request
	delivery
	conn   *Conn
	cancel context.CancelFunc

	saying sync.Mutex
	over   bool // nothing more is said about it
}

// Notify implements [backend.Client].
func (f *inFlight) Notify(method string, params json.RawMessage) {
	f.saying.Lock()
	defer f.saying.Unlock()
	if !f.over {
		f.conn.offer(method, params)
	}
}

// Ask implements [backend.Client].
func (f *inFlight) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return f.conn.ask(ctx, method, params)
}

// finish has nothing more said about the request.
func (f *inFlight) finish() {
	f.saying.Lock()
	f.over = true
	f.saying.Unlock()
}

// Serve answers the messages from r on w until r ends or ctx is done, and returns when
// all work of the connection has ended. Reads must fail once ctx is done, so the caller
// closes the stream then.
//
// The view may be that of a profile which fits the connection: the first message says
// which client it is.
func Serve(ctx context.Context, r io.Reader, w io.Writer, view *router.View, agent *router.Agent) error {
	lines := rpc.NewLines(r, rpc.MaxLine)
	first, firstErr := lines.Next()
	if e, bad := Decode(first); firstErr == nil && bad == nil {
		client := clientOf(e)
		agent.Claim(client.Name, client.Version, "")
	}
	view = view.For(agent.Caller())
	c := &Conn{view: view, agent: agent, flight: map[string]*inFlight{}, pending: rpc.Pending{Prefix: "deck-"}, pool: recovery.NewPool("request")}
	c.ctx, c.stop = context.WithCancel(ctx)
	defer c.stop()
	b := bufio.NewWriterSize(w, 64<<10)
	c.out = rpc.Outbox{Name: "connection writer", Flush: b.Flush, Ended: c.stop, Write: func(o rpc.Outgoing) error {
		c.left(o.ID) // before the client can use the ID again
		_, err := b.Write(o.Line)
		return err
	}}
	defer context.AfterFunc(c.ctx, c.out.Stop)()
	agent.Attach(view, c.offer)
	err := c.read(lines, first, firstErr)
	drain.Answers(c.ctx, w, c.unanswered)
	c.stop()
	c.work.Wait()
	if failed := c.out.Close(); failed != nil {
		err = errors.Join(err, fmt.Errorf("write message: %w", failed))
	}
	c.replies.heard(false)
	return err
}

// offer sends a notification, which a client that reads too slowly misses.
func (c *Conn) offer(method string, params json.RawMessage) {
	c.out.Offer(rpc.Message{Method: method, Params: params}.Line(), maxUnread, maxUnreadSize)
}

// unanswered returns the number of requests in flight that the client may still wait for.
func (c *Conn) unanswered(waited time.Duration) (n int) {
	questions := c.view.Resumable()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.flight {
		if f.Method != listenMethod && drain.Awaited(waited, f.Kind == backend.Tool && slices.Contains(questions, f.Key)) {
			n++
		}
	}
	return n
}

// read handles a line, or why there is none, and those that follow.
func (c *Conn) read(lines *rpc.Lines, line []byte, err error) error {
	for ; ; line, err = lines.Next() {
		switch {
		case errors.Is(err, rpc.ErrLineTooLong):
			if reply, answer := TooLong(line); reply != nil {
				c.out.Post(nil, rpc.Outgoing{Line: reply})
			} else {
				c.pending.Resolve(answer)
			}
			continue
		case errors.Is(err, io.EOF) || c.ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("read message: %w", err)
		}
		c.replies.heard(true)
		e, bad := Decode(line)
		if bad != nil {
			c.out.Post(nil, rpc.Outgoing{Line: rpc.Failure(e.ID, *bad)})
			continue
		}
		c.route(e)
	}
}

// route dispatches a message. It handles notifications and answers to our own requests
// itself; requests run on their own goroutines.
func (c *Conn) route(e *backend.Request) {
	switch {
	case e.Method == "":
		c.pending.Resolve(e.Message)
	case e.Method == cancelledMethod:
		c.cancelled(string(e.Params.Get("requestId")))
	case e.ID != nil:
		c.request(e)
	case e.Method == "notifications/initialized" || e.Method == "notifications/roots/list_changed":
		c.work.Go(func() { defer recovery.Recover("announced root"); c.learnRoot() })
	}
}

func (c *Conn) request(e *backend.Request) {
	ctx, cancel := context.WithCancel(c.ctx)
	f := &inFlight{Request: e, delivery: delivery{of: &c.replies}, conn: c, cancel: cancel}
	if why := c.enter(f); why != nil {
		cancel()
		c.out.Post(nil, rpc.Outgoing{Line: rpc.Failure(e.ID, *why)})
		return
	}
	release, ok := c.agent.Hold(len(e.Message.Params)) // until it is answered
	if !ok {
		cancel()
		c.out.Post(nil, rpc.Outgoing{Line: rpc.Failure(e.ID, rpc.Error{Code: rpc.CodeBusy, Message: busyBytes}), ID: string(e.ID)})
		return
	}
	c.identify(e)
	e.Client = f
	serve := c.view.Route(c.agent, e)
	if e.Ordered {
		ctx = c.turns.Next(ctx)
	}
	c.work.Add(1)
	first := e.Method == initializeMethod // later messages need what it settles
	answer := func() {
		defer c.work.Done()
		defer cancel()
		var reply backend.Reply
		if err := recovery.Call("request", func() error { reply = serve(ctx); return nil }); err != nil {
			reply = backend.Failed(rpc.CodeInternal, err.Error())
		}
		release() // before the client can send the next
		f.finish()
		if ctx.Err() != nil {
			f.tell(false)
			return // cancelled, or the connection is ending: the answer must not be sent
		}
		m := rpc.Outgoing{Line: rpc.Message{ID: e.ID, Result: reply.Result, Err: reply.Error}.Line(), ID: string(e.ID), Sent: f.wrote}
		if first { // the reading goroutine must not write
			c.out.Post(nil, m)
			return
		}
		c.out.Send(m)
	}
	if first {
		answer()
		return
	}
	c.pool.Go(answer)
}

// identify records what a client that makes no handshake says of itself, once.
func (c *Conn) identify(e *backend.Request) {
	if c.known || e.Method != initializeMethod && !e.Stateless {
		return
	}
	c.known = true
	if e.Stateless {
		client := clientOf(e)
		c.agent.Claim(client.Name, client.Version, e.Version)
	}
}

// busyBytes is the error for a request that the deck has no memory for.
const busyBytes = "mcpdeck is busy: too many large requests are in flight. The call was not run; retry when one has finished"

// enter adds a request to the in-flight map before the next line is read, so that a
// cancellation sent right after it finds it.
func (c *Conn) enter(f *inFlight) *rpc.Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.flight[string(f.ID)]; taken {
		return &rpc.Error{Code: rpc.CodeInvalid, Message: "a request with this id is already in flight"}
	}
	if len(c.flight) >= maxInFlight {
		return &rpc.Error{Code: rpc.CodeBusy, Message: fmt.Sprintf("too many calls in flight (limit %d); wait for one to finish", maxInFlight)}
	}
	c.flight[string(f.ID)] = f
	return nil
}

// left removes an answered request.
func (c *Conn) left(id string) {
	if id == "" {
		return
	}
	c.mu.Lock()
	delete(c.flight, id)
	c.mu.Unlock()
}

func (c *Conn) cancelled(id string) {
	c.mu.Lock()
	f := c.flight[id]
	delete(c.flight, id)
	c.mu.Unlock()
	if f != nil {
		f.finish()
		f.cancel()
	}
}

// ask sends a request to the client and waits for its answer.
func (c *Conn) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	r, err := c.pending.Open(nil)
	if err != nil {
		return nil, err
	}
	defer r.Forget()
	c.out.Put(rpc.Outgoing{Line: rpc.Message{ID: r.RawID(), Method: method, Params: params}.Line()})
	select {
	case a := <-r.Reply:
		if a.Err != nil {
			return nil, fmt.Errorf("%s: the client responded: %w", method, a.Err)
		}
		return a.Result, nil
	case <-ctx.Done():
		c.out.Put(rpc.Outgoing{Line: r.Cancelled("")})
		return nil, ctx.Err()
	case <-c.ctx.Done():
		return nil, c.ctx.Err()
	}
}
