// Package child is the connection to an MCP server that the deck starts as a program or
// reaches over another kind of link: start, handshake in either era of the protocol,
// lists, liveness and end. It does not know any particular tool.
package child

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

const (
	pingEvery       = 30 * time.Second
	pingLimit       = 10 * time.Second
	drainLimit      = 100 * time.Millisecond // for reading the rest of the pipe of a child that the deck ends
	lastWordsLimit  = 2 * time.Second        // the same for a child that ends by itself, on a busy machine
	maxInstructions = 8000                   // characters
)

// Options configures a child: how it is started and initialized, and who receives its
// messages.
type Options struct {
	Name         string                         // of the server, for the log and for panic reports
	Start        func() (*process.Child, error) // starts the program; nil: Open connects
	Open         func() (Link, error)           // connects to a server that the deck does not start
	Limit        time.Duration                  // timeout for the start, the handshake and the first list
	Version      string                         // of the deck
	Capabilities json.RawMessage                // that the deck declares; nil: none
	Handshake    json.RawMessage                // those for a server of the older era; nil: the same
	Log          *Log

	Era        Era  // protocol era to use; "" detects it
	Remembered Era  // era that the server used last time, which is tried first; "" is Modern
	Settle     bool // wait until the list of tools stops changing, since servers may register tools late

	// Ask receives the requests of the child except pings, which may be answered on the
	// connection at any time; nil refuses them. Told receives the notifications that
	// the connection does not handle itself. Both are called by the reading goroutine
	// and must not block.
	Ask  func(c *Conn, m rpc.Message)
	Told func(method string, params json.RawMessage)
}

// Conn is a connection to a child after the handshake.
type Conn struct {
	*rpc.Conn
	PID int // 0 if the deck did not start the server

	// What the child reports about itself.
	Server, Version string
	Protocol        string
	Instructions    string // without control characters, truncated
	Ready           time.Time

	Busy atomic.Int32 // calls in flight

	o       Options
	strays  atomic.Int32
	link    Link
	me      json.RawMessage // what the server is told about the deck
	era     Era             // "" until it is known
	hello   Hello
	changes chan struct{} // one slot: a list has changed
	listens listens
}

// Open starts a child, or connects to it, and reads its list of tools within the limit.
// On failure it leaves nothing running; the error is a reason to show the user.
func Open(ctx context.Context, o Options) (*Conn, []json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, o.Limit)
	defer cancel()
	c := &Conn{o: o, me: client(o.Version), changes: make(chan struct{}, 1)}
	if o.Start == nil {
		link, err := o.Open()
		if err != nil {
			return nil, nil, err
		}
		c.link = link
	} else {
		p, err := startProgram(o)
		if err != nil {
			return nil, nil, err
		}
		c.link, c.PID = p, p.PID
	}
	c.Conn = rpc.New(rpc.Options{
		Name: o.Name, Notify: c.notified, Serve: c.asked, Note: o.Log.Note,
		Stray: func(line []byte) {
			c.strays.Add(1)
			o.Log.hear("link", "stdout: "+string(line[:min(len(line), 4*MaxRunes)]))
		},
	})
	c.link.Begin(c.Conn)
	tools, err := c.shake(ctx)
	if err != nil {
		err = c.explain(ctx, err)
		c.link.End(true)
		<-c.Done()
		return nil, nil, err
	}
	c.Ready = time.Now()
	if p, ok := c.link.(*program); ok && c.era == Legacy {
		recovery.Go(o.Name+" ping", func() { c.pings(p) })
	}
	return c, tools, nil
}

// explain converts the error of a failed handshake into a reason to show the user.
func (c *Conn) explain(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no answer within %d s", int(c.o.Limit.Seconds()))
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, rpc.ErrGone):
		return errors.New(c.link.Fault())
	}
	return err
}

// shake performs the handshake and lists the tools.
func (c *Conn) shake(ctx context.Context) ([]json.RawMessage, error) {
	if err := c.greet(ctx); err != nil {
		return nil, err
	}
	c.listenBefore(ctx)
	return c.first(ctx)
}

// Start sends a request without waiting for its reply. The params are nil for none;
// progress is that of [rpc.Pending.Open]. Start adds what a server of its era must know
// about the deck, and removes what an agent's client says about its own connection.
func (c *Conn) Start(ctx context.Context, method string, params func(id string) rawjson.Object, progress func(params json.RawMessage)) (*rpc.Request, error) {
	return c.Conn.Start(ctx, method, func(id string) []byte { return c.dress(params(id)) }, progress)
}

// Call sends a request and waits for its result. The params are nil for none.
func (c *Conn) Call(ctx context.Context, method string, params rawjson.Object) (json.RawMessage, error) {
	return c.Conn.Call(ctx, method, c.dress(params))
}

// Tell sends a notification. It is dropped if the server is not reading.
func (c *Conn) Tell(method string, params json.RawMessage) {
	c.Offer(rpc.Message{Method: method, Params: params}.Line())
}

// Strays returns the number of lines from the child that are not messages.
func (c *Conn) Strays() int { return int(c.strays.Load()) }

// Gone returns a channel that is closed when the child has ended or become unusable.
func (c *Conn) Gone() <-chan struct{} { return c.link.Gone() }

// Cause returns why the child is gone, as text. Call it only after Gone is closed.
func (c *Conn) Cause() string { return c.link.Cause() }

// Why returns the cause with what the server wrote about it, for the user.
func (c *Conn) Why() string {
	if said := c.link.Reason(); said != "" {
		return c.link.Cause() + ": " + said
	}
	return c.link.Cause()
}

// End ends the child and waits until it is gone. It may be called any number of times.
func (c *Conn) End() { c.link.End(c.Busy.Load() > 0) }

// Quit is End for a deck that ends: it takes less than two seconds.
func (c *Conn) Quit() {
	if p, ok := c.link.(*program); ok {
		p.Quit()
		return
	}
	c.End()
}

// Kill ends the child at once, without waiting until it is gone.
func (c *Conn) Kill() { c.link.Kill() }

// pings ends a program that fails to answer two pings in a row and shows no other sign
// of working on a call.
func (c *Conn) pings(p *program) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	misses := 0
	for {
		select {
		case <-c.Gone():
			return
		case <-tick.C:
		}
		said, worked := c.Heard(), p.Worked()
		ctx, cancel := context.WithTimeout(context.Background(), pingLimit)
		_, err := c.Call(ctx, "ping", nil)
		cancel()
		if err == nil || !errors.Is(err, context.DeadlineExceeded) {
			misses = 0
			continue
		}
		if c.Busy.Load() > 0 && (c.Heard() != said || p.Worked() != worked) {
			continue
		}
		if misses++; misses == 2 {
			c.o.Log.Note("no answer to two pings: ending it")
			c.Kill()
			return
		}
	}
}

// asked answers a request of the child.
func (c *Conn) asked(m rpc.Message) {
	switch {
	case m.Method == "ping":
		c.Offer(rpc.Message{ID: m.ID, Result: json.RawMessage("{}")}.Line())
	case c.o.Ask == nil:
		c.Offer(NoMethod(m))
	default:
		c.o.Ask(c, m)
	}
}

// NoMethod returns the answer to a request that the deck does not support.
func NoMethod(m rpc.Message) []byte {
	return rpc.Failure(m.ID, rpc.Error{Code: rpc.CodeMethod, Message: "method not found"})
}

// notified handles a notification from the child.
func (c *Conn) notified(method string, params json.RawMessage) {
	switch method {
	case "notifications/tools/list_changed", "notifications/prompts/list_changed", "notifications/resources/list_changed":
		c.Renewed()
		return
	case "notifications/subscriptions/acknowledged":
		c.listens.acknowledged(params)
		return
	case "notifications/message":
		c.o.Log.Note("message: " + string(params[:min(len(params), MaxRunes)]))
	}
	if c.o.Told != nil {
		c.o.Told(method, params)
	}
}

// Changed returns a channel of one slot that gets a value when lists of the child have changed.
func (c *Conn) Changed() <-chan struct{} { return c.changes }

// Renewed causes all lists to be read again: they have changed, or may have.
func (c *Conn) Renewed() { notify.Poke(c.changes) }
