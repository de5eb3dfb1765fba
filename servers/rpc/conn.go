package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/mcpdeck/mcpdeck/servers/safe"
)

// ErrGone says that a connection has ended.
var ErrGone = errors.New("connection closed")

// errTooLarge is how requests end when a line is over the limit.
var errTooLarge = fmt.Errorf("the answer is larger than %d MiB", MaxLine>>20)

// Options are how a connection deals with the other side. The functions are called
// by the goroutine that reads, so they must not wait; each may be nil.
type Options struct {
	Name   string // of its goroutines, in the record of a panic
	Notify func(method string, params json.RawMessage)
	Serve  func(m Message)     // a request of the other side
	Stray  func(line []byte)   // a line that is no message
	Note   func(remark string) // what else is odd, for a log
}

// Conn is the connection to a server over a pair of byte streams. The server may be
// any program, so it is read leniently. A line over the limit ends all requests that
// wait: the answer that was too long to read cannot be told from the others.
type Conn struct {
	o       Options
	pending Pending
	out     chan []byte
	done    chan struct{}
}

// New makes a connection that does nothing before Begin.
func New(o Options) *Conn {
	if o.Notify == nil {
		o.Notify = func(string, json.RawMessage) {}
	}
	if o.Serve == nil {
		o.Serve = func(Message) {}
	}
	if o.Stray == nil {
		o.Stray = func([]byte) {}
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	return &Conn{o: o, out: make(chan []byte, 64), done: make(chan struct{})}
}

// Begin connects it: in is what the server reads, out what it writes.
func (c *Conn) Begin(in io.Writer, out io.Reader) {
	safe.Go(c.o.Name+" writer", func() { c.write(in) })
	safe.Go(c.o.Name+" reader", func() {
		defer c.finish()
		c.read(out)
	})
}

// Done is closed when nothing more will be read.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Start sends a request without waiting for its reply. params is raw JSON, nil for
// none; progress is that of Pending.Open.
func (c *Conn) Start(ctx context.Context, method string, params func(id string) []byte, progress func(params json.RawMessage)) (*Request, error) {
	r, err := c.pending.Open(progress)
	if err != nil {
		return nil, err
	}
	line := Message{ID: r.RawID(), Method: method, Params: params(r.ID)}.Line()
	select {
	case c.out <- line:
		return r, nil
	case <-c.done:
		err = ErrGone
	case <-ctx.Done():
		err = ctx.Err()
	}
	r.Forget()
	return nil, err
}

// Call sends a request and waits for its result. params is raw JSON, nil for none.
func (c *Conn) Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	r, err := c.Start(ctx, method, func(string) []byte { return params }, nil)
	if err != nil {
		return nil, err
	}
	select {
	case a := <-r.Reply:
		return a.Result, a.Err
	case <-ctx.Done():
		r.Forget()
		return nil, ctx.Err()
	}
}

// Offer sends a line; it is dropped when the server reads nothing.
func (c *Conn) Offer(line []byte) {
	select {
	case c.out <- line:
	default:
		c.o.Note("message dropped: the program reads nothing")
	}
}

// Send waits until the line is on its way, or the server gone.
func (c *Conn) Send(line []byte) {
	select {
	case c.out <- line:
	case <-c.done:
	}
}

func (c *Conn) write(in io.Writer) {
	for {
		select {
		case line := <-c.out:
			if _, err := in.Write(line); err != nil {
				return
			}
		case <-c.done:
			return
		}
	}
}

// finish fails what still waits.
func (c *Conn) finish() {
	c.pending.Close(ErrGone)
	close(c.done)
}

func (c *Conn) read(out io.Reader) {
	lines := NewLines(out, MaxLine)
	for {
		line, err := lines.Next()
		switch {
		case errors.Is(err, ErrLineTooLong):
			c.o.Note("line on stdout skipped: " + errTooLarge.Error())
			c.pending.Fail(errTooLarge)
		case err != nil:
			return
		default:
			c.take(line)
		}
	}
}

// take handles one line of the server.
func (c *Conn) take(line []byte) {
	m, bad := Rules{Lenient: true}.Decode(line)
	switch {
	case bad != nil:
		c.o.Stray(line)
	case m.Method == "":
		c.pending.Settle(m)
	case m.ID != nil:
		c.o.Serve(m)
	case m.Method == "notifications/progress":
		c.pending.Progress(m.Params)
	default:
		c.o.Notify(m.Method, m.Params)
	}
}
