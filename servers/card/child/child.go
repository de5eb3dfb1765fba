// Package child is the connection to an MCP server, a program of the deck's or one that
// a link of another kind leads to: its start, its handshake in either era of the
// protocol, its lists, its life and its end. It knows no tool.
package child

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/process"
	"github.com/mcpdeck/mcpdeck/servers/rpc"
	"github.com/mcpdeck/mcpdeck/servers/safe"
)

const (
	pingEvery       = 30 * time.Second
	pingLimit       = 10 * time.Second
	drainLimit      = 100 * time.Millisecond // for what is in the pipe of a child that the deck ends
	lastWordsLimit  = 2 * time.Second        // of one that ends by itself, on a machine that is busy
	maxInstructions = 8000                   // characters
)

// Options are how a child is started and greeted, and who hears it.
type Options struct {
	Name         string                         // of the server, in the log and in the record of a panic
	Start        func() (*process.Child, error) // starts the program; nil: Open connects
	Open         func() (Link, error)           // connects to a server that is no program of the deck's
	Limit        time.Duration                  // for its start, the handshake and the first list
	Version      string                         // of the deck
	Capabilities json.RawMessage                // that the deck declares; nil: none
	Log          *Log

	Era        Era  // what to speak; "" finds out
	Remembered Era  // what the server spoke last time, which is tried first; "" is Modern
	Settle     bool // wait until the tools change no more; servers may list some later than others

	// Ask gets the requests of the child but pings, to be answered on the connection
	// at any time; nil: there are none. Told gets what it says to nobody in particular
	// and is not the connection's own. Both are called by the goroutine that reads, so
	// they must not wait.
	Ask  func(c *Conn, m rpc.Message)
	Told func(method string, params json.RawMessage)
}

// Conn is a child that has shaken hands.
type Conn struct {
	*rpc.Conn
	PID int // 0: it is no program of the deck's

	// What the child says of itself.
	Server, Version string
	Protocol        string
	Instructions    string // without control characters, cut
	Ready           time.Time

	Busy atomic.Int32 // calls sent and not ended

	o      Options
	strays atomic.Int32
	link   Link
	era    Era // "" until it is known
	hello  Hello
	early  chan struct{} // of one slot: the tools have changed before changed was set

	mu      sync.Mutex // guards what follows
	changed func()     // called when the child says that its tools have changed
	missed  bool       // it said so before changed was set
	listens listens
}

// Open starts a child, or connects to it, and reads what tools it lists, within the
// limit. It leaves nothing behind when it fails; the error is a reason for the user.
func Open(ctx context.Context, o Options) (*Conn, []json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, o.Limit)
	defer cancel()
	c := &Conn{o: o, early: make(chan struct{}, 1)}
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
		safe.Go(o.Name+" ping", func() { c.pings(p) })
	}
	return c, tools, nil
}

// explain turns a failed handshake into the reason a user reads.
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

// shake introduces the deck and lists the tools.
func (c *Conn) shake(ctx context.Context) ([]json.RawMessage, error) {
	if err := c.greet(ctx); err != nil {
		return nil, err
	}
	c.listenBefore(ctx)
	return c.first(ctx)
}

// Start sends a request without waiting for its reply. params is raw JSON, nil for
// none; progress is that of [rpc.Pending.Open]. What a server of its era must know of
// the deck is added, and what an agent's connection said of itself is taken out.
func (c *Conn) Start(ctx context.Context, method string, params func(id string) []byte, progress func(params json.RawMessage)) (*rpc.Request, error) {
	return c.Conn.Start(ctx, method, func(id string) []byte { return c.dress(params(id)) }, progress)
}

// Call sends a request and waits for its result. params is raw JSON, nil for none.
func (c *Conn) Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return c.Conn.Call(ctx, method, c.dress(params))
}

// Tell sends a notification. It is dropped when the server reads nothing.
func (c *Conn) Tell(method string, params json.RawMessage) {
	c.Offer(rpc.Message{Method: method, Params: params}.Line())
}

// Reply answers a request of the child with a result or, if failed is not nil, with
// that error. It returns when the answer is on its way, or the child gone.
func (c *Conn) Reply(id, result json.RawMessage, failed *rpc.Error) {
	if failed != nil {
		c.Send(rpc.Failure(id, *failed))
		return
	}
	c.Send(rpc.Message{ID: id, Result: result}.Line())
}

// Strays is how many lines the child has written that are no messages.
func (c *Conn) Strays() int { return int(c.strays.Load()) }

// Gone is closed when the child has ended, or is of no more use.
func (c *Conn) Gone() <-chan struct{} { return c.link.Gone() }

// Cause is why the child is gone, in words. It must be.
func (c *Conn) Cause() string { return c.link.Cause() }

// End ends the child and waits for that. It may be called any number of times.
func (c *Conn) End() { c.link.End(c.Busy.Load() > 0) }

// Quit is End for a deck that ends: it takes less than two seconds.
func (c *Conn) Quit() {
	if p, ok := c.link.(*program); ok {
		p.Quit()
		return
	}
	c.End()
}

// Kill ends the child at once, and does not wait for that.
func (c *Conn) Kill() { c.link.Kill() }

// pings ends a program that does not answer twice in a row, and shows no other sign
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

// NoMethod is the answer to a request that the deck does not take.
func NoMethod(m rpc.Message) []byte {
	return rpc.Failure(m.ID, rpc.Error{Code: rpc.CodeMethod, Message: "method not found"})
}

// notified takes a notification of the child.
func (c *Conn) notified(method string, params json.RawMessage) {
	switch method {
	case "notifications/tools/list_changed":
		c.mu.Lock()
		changed := c.changed
		c.missed = changed == nil
		c.mu.Unlock()
		if changed != nil {
			changed()
			return
		}
		select {
		case c.early <- struct{}{}:
		default:
		}
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

// OnChange sets what to do when the child says that its tools have changed. It is
// called by the goroutine that reads and must not wait.
func (c *Conn) OnChange(fn func()) {
	c.mu.Lock()
	c.changed = fn
	missed := c.missed
	c.mu.Unlock()
	if missed {
		fn()
	}
}
