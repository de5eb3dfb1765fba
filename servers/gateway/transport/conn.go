package transport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// maxInFlight is how many calls of one connection may run at once.
const maxInFlight = 64

// Conn serves one client over a byte stream: one JSON-RPC message a line.
type Conn struct {
	view  *router.View
	agent *router.Agent
	sess  *session
	out   chan outgoing
	ctx   context.Context
	stop  context.CancelFunc
	work  sync.WaitGroup
	turns router.Turns // of questions; used by the reading goroutine

	pending rpc.Pending // our own requests
	replies deliveries

	learning  sync.Mutex // held while the client is asked for its roots; guards what follows
	announced bool       // the project is one of them

	mu     sync.Mutex // guards what follows
	flight map[string]*inFlight
}

// inFlight is a request being answered.
type inFlight struct {
	*backend.Request
	cancel context.CancelFunc
	token  string // progress token as JSON; "" without one
}

// outgoing is a line for the writer. Progress for the token ends with it.
type outgoing struct {
	line  []byte
	id    string // of the request it answers; "" for none
	after func() // called when it was written; may be nil
	sent  func() // called when the client can read it; may be nil
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
	if e, bad := decode(first); firstErr == nil && bad == nil {
		client := clientOf(e)
		agent.Claim(client.Name, client.Version, "")
	}
	view = view.For(agent.Caller())
	c := &Conn{
		view: view, agent: agent, out: make(chan outgoing, maxInFlight),
		flight: map[string]*inFlight{}, pending: rpc.Pending{Prefix: "deck-"},
	}
	c.sess = newSession(c, agent)
	c.ctx, c.stop = context.WithCancel(agent.Context(ctx))
	c.ctx = view.MCP.WithContext(c.ctx, c.sess)
	if err := view.MCP.RegisterSession(c.ctx, c.sess); err != nil {
		return fmt.Errorf("serve connection: %w", err)
	}
	defer view.MCP.UnregisterSession(context.WithoutCancel(c.ctx), c.sess.id)

	written := make(chan error, 1)
	recovery.Go("connection writer", func() {
		err := c.write(w)
		c.stop() // the client no longer reads
		written <- err
	})
	err := c.read(lines, first, firstErr)
	awaitAnswers(c.ctx, w, c.unanswered)
	c.stop()
	c.work.Wait()
	close(c.out)
	err = errors.Join(err, <-written)
	c.replies.heard(false)
	return err
}

// unanswered returns the number of requests in flight that the client may still wait for.
func (c *Conn) unanswered(waited time.Duration) (n int) {
	questions := c.view.Resumable()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.flight {
		if f.Method != listenMethod && awaited(waited, slices.Contains(questions, f.Tool())) {
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
			if reply, answer := tooLong(line); reply != nil {
				c.send(outgoing{line: reply})
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
		e, bad := decode(line)
		if bad != nil {
			c.send(outgoing{line: rpc.Failure(e.ID, *bad)})
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
	case e.Method == "notifications/cancelled":
		c.cancelled(string(e.Params.Get("requestId")))
	case e.ID == nil:
		c.view.MCP.HandleMessage(c.ctx, e.Line)
		if e.Method == "notifications/initialized" || e.Method == "notifications/roots/list_changed" {
			c.work.Go(func() { defer recovery.Recover("announced root"); c.learnRoot() })
		}
	default:
		c.request(e)
	}
}

func (c *Conn) request(e *backend.Request) {
	if e.Method == "initialize" {
		c.sess.legacy.Store(true)
	}
	ctx, cancel := context.WithCancel(c.ctx)
	ctx = c.agent.Context(ctx)
	if why := c.enter(e, cancel); why != nil {
		cancel()
		c.send(outgoing{line: rpc.Failure(e.ID, *why)})
		return
	}
	release := c.hold(e)
	if release == nil {
		cancel()
		c.send(outgoing{line: rpc.Failure(e.ID, rpc.Error{Code: rpc.CodeBusy, Message: busyBytes}), id: string(e.ID)})
		return
	}
	if c.view.InTurn(e.Tool()) {
		ctx = c.turns.Next(ctx)
	}
	c.work.Add(1)
	run := c.view.Go
	if e.Method == "initialize" { // later messages need the session
		run = func(fn func()) { fn() }
	}
	c.acknowledge(e) // later changes must reach the subscription
	ctx, reply := c.replies.open(ctx)
	run(func() {
		defer c.work.Done()
		defer cancel()
		var line []byte
		err := recovery.Call("request", func() error {
			line = c.answer(ctx, e)
			return nil
		})
		release() // before the client can send the next
		if err != nil {
			line = rpc.Failure(e.ID, rpc.Error{Code: rpc.CodeInternal, Message: err.Error()})
		}
		if ctx.Err() != nil {
			reply.tell(false)
			return // cancelled, or the connection is ending: the answer must not be sent
		}
		c.send(outgoing{line: line, id: string(e.ID), sent: reply.wrote})
	})
}

// busyBytes is the error for a request that the deck has no memory for.
const busyBytes = "mcpdeck is busy: too many large requests are in flight. The call was not run; retry when one has finished"

// hold reserves the bytes of a request until it is answered. It returns nil if there are
// too many.
func (c *Conn) hold(e *backend.Request) (release func()) {
	release, ok := c.agent.Hold(len(e.Message.Params))
	if !ok {
		return nil
	}
	return release
}

// enter adds a request to the in-flight map before the next line is read, so that a
// cancellation sent right after it finds it.
func (c *Conn) enter(e *backend.Request, cancel context.CancelFunc) *rpc.Error {
	f := &inFlight{Request: e, cancel: cancel, token: progressToken(e)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.flight[string(e.ID)]; taken {
		return &rpc.Error{Code: rpc.CodeInvalid, Message: "a request with this id is already in flight"}
	}
	if len(c.flight) >= maxInFlight {
		return &rpc.Error{Code: rpc.CodeBusy, Message: fmt.Sprintf("too many calls in flight (limit %d); wait for one to finish", maxInFlight)}
	}
	c.flight[string(e.ID)] = f
	return nil
}

func (c *Conn) answer(ctx context.Context, e *backend.Request) []byte {
	if e.Method == string(mcp.MethodSubscriptionsListen) && e.Stateless() {
		return c.listen(ctx, e)
	}
	c.noteProtocol(e)
	if serve := served(c.view, e, nil); serve != nil {
		return replyMessage(e, serve(ctx)).Line()
	}
	reply := c.view.MCP.HandleMessage(ctx, e.Line)
	var line []byte
	var err error
	switch r := reply.(type) {
	case mcp.JSONRPCResponse:
		line, err = rpc.Result(e.ID, r.Result)
		line = introduced(c.view, e, line)
	case mcp.JSONRPCError:
		line = rpc.Failure(e.ID, withAddress(e, rpc.Error{Code: r.Error.Code, Message: r.Error.Message, Data: r.Error.Data}))
	default:
		err = fmt.Errorf("unexpected response %T", reply)
	}
	if err != nil {
		line = rpc.Failure(e.ID, rpc.Error{Code: rpc.CodeInternal, Message: err.Error()})
	}
	return line
}

// acknowledge answers a subscriptions/listen request with the filter that applies. The
// filter takes effect when the answer is written.
func (c *Conn) acknowledge(e *backend.Request) {
	filter, err := filterOf(e)
	if err != nil {
		return
	}
	c.sess.Initialize()
	ack, err := rpc.Notification(mcp.MethodNotificationSubscriptionsAcknowledged,
		map[string]any{"_meta": map[string]any{mcp.MetaKeySubscriptionID: e.ID}, "notifications": filter})
	if err == nil {
		c.send(outgoing{line: ack, after: func() { c.listening(e.ID, filter) }})
	}
}

// listening activates a filter, unless its request was cancelled meanwhile.
func (c *Conn) listening(id json.RawMessage, filter mcp.SubscriptionFilter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.flight[string(id)] != nil {
		c.sess.listen(id, filter)
	}
}

// listen serves subscriptions/listen until the request is cancelled or the connection
// ends. mcp-go keeps only one filter per session and does not tag what it delivers.
func (c *Conn) listen(ctx context.Context, e *backend.Request) []byte {
	filter, err := filterOf(e)
	if err != nil {
		return rpc.Failure(e.ID, rpc.Error{Code: rpc.CodeParams, Message: err.Error()})
	}
	c.noteProtocol(e)
	if !filter.IsEmpty() {
		done := c.agent.Listen(filter.ResourceSubscriptions)
		defer done()
		<-ctx.Done()
		return nil
	}
	line, _ := rpc.Result(e.ID, map[string]any{ // always encodes
		"resultType": mcp.ResultTypeComplete, "_meta": map[string]any{mcp.MetaKeySubscriptionID: e.ID},
	})
	return line
}

func filterOf(e *backend.Request) (mcp.SubscriptionFilter, error) {
	var p struct {
		Notifications mcp.SubscriptionFilter `json:"notifications"`
	}
	if e.Method != listenMethod || !e.Stateless() {
		return p.Notifications, errors.New("not a subscription")
	}
	if err := json.Unmarshal(e.Message.Params, &p); err != nil {
		return p.Notifications, errors.New("notifications must be an object with the wanted kinds as keys")
	}
	return p.Notifications, nil
}

func (c *Conn) cancelled(id string) {
	c.mu.Lock()
	f := c.flight[id]
	delete(c.flight, id)
	c.sess.unlisten(id)
	c.mu.Unlock()
	if f != nil {
		f.cancel()
	}
}

// ask sends a request to the client and waits for its answer.
func (c *Conn) ask(ctx context.Context, method string, params, result any) error {
	r, err := c.pending.Open(nil)
	if err != nil {
		return err
	}
	defer r.Forget()
	line, err := rpc.Call(r.RawID(), method, params)
	if err != nil {
		return err
	}
	c.send(outgoing{line: line})
	select {
	case a := <-r.Reply:
		if a.Err != nil {
			return fmt.Errorf("%s: the client responded: %w", method, a.Err)
		}
		return json.Unmarshal(a.Result, result)
	case <-ctx.Done():
		c.send(outgoing{line: r.Cancelled("")})
		return ctx.Err()
	case <-c.ctx.Done():
		return c.ctx.Err()
	}
}

func (c *Conn) send(o outgoing) {
	select {
	case c.out <- o:
	case <-c.ctx.Done():
	}
}

// noteProtocol records the protocol version that a modern request states.
func (c *Conn) noteProtocol(e *backend.Request) {
	if c.sess.legacy.Load() || c.sess.ProtocolVersion() != "" || !e.Stateless() {
		return
	}
	client := clientOf(e)
	c.sess.SetProtocolVersion(e.Version)
	c.agent.Claim(client.Name, client.Version, "")
}
