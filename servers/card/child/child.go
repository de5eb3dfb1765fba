// Package child is the connection to an MCP server that runs as a program of the
// deck's: its start, its handshake, its list of tools, its life and its end. It knows
// no tool.
package child

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/servers/process"
	"github.com/mcpdeck/mcpdeck/servers/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/rpc"
	"github.com/mcpdeck/mcpdeck/servers/safe"
)

const (
	maxPages        = 50
	pingEvery       = 30 * time.Second
	pingLimit       = 10 * time.Second
	drainLimit      = 100 * time.Millisecond // for what is in the pipe when the child is gone
	maxInstructions = 8000                   // characters
	wantProtocol    = "2025-11-25"
)

// Options are how a child is started and greeted, and who hears it.
type Options struct {
	Name         string                         // of the program, in the log and in the record of a panic
	Start        func() (*process.Child, error) // starts the program
	Limit        time.Duration                  // for its start, the handshake and the first list
	Version      string                         // of the deck
	Capabilities json.RawMessage                // that the deck declares; nil: none
	Log          *Log

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
	PID int

	// What the child says of itself.
	Server, Version string
	Protocol        string
	Instructions    string // without control characters, cut
	Ready           time.Time

	Busy atomic.Int32 // calls sent and not ended

	o       Options
	proc    *process.Child
	drained chan struct{} // closed when all of its stderr was read
	gone    chan struct{} // closed when the child is of no more use
	cause   string        // after gone

	mu      sync.Mutex // guards what follows
	changed func()     // called when the child says that its tools have changed
	missed  bool       // it said so before changed was set
}

// Open starts a child and reads what tools it lists, within the limit. It leaves
// nothing behind when it fails; the error is a reason for the user.
func Open(ctx context.Context, o Options) (*Conn, []json.RawMessage, error) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, o.Limit)
	defer cancel()
	proc, err := o.Start()
	if err != nil {
		return nil, nil, err
	}
	o.Log.Note(fmt.Sprintf("started, process %d", proc.PID))
	c := &Conn{PID: proc.PID, o: o, proc: proc, gone: make(chan struct{}), drained: make(chan struct{})}
	c.Conn = rpc.New(rpc.Options{
		Name: o.Name, Notify: c.notified, Serve: c.asked, Note: o.Log.Note,
		Stray: func(line []byte) { o.Log.Note("stdout: " + string(line[:min(len(line), MaxRunes)])) },
	})
	safe.Go(o.Name+" stderr", func() {
		defer close(c.drained)
		o.Log.drain(o.Name, proc.Err)
	})
	c.Begin(proc.In, proc.Out)
	tools, err := c.shake(ctx)
	if err != nil {
		err = c.explain(ctx, err, began)
		proc.End(true)
		proc.Out.Close()
		proc.Err.Close()
		<-c.Done()
		return nil, nil, err
	}
	c.Ready = time.Now()
	safe.Go(o.Name+" watch", c.watch)
	safe.Go(o.Name+" ping", c.pings)
	return c, tools, nil
}

// explain turns a failed handshake into the reason a user reads.
func (c *Conn) explain(ctx context.Context, err error, began time.Time) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no answer within %d s", int(c.o.Limit.Seconds()))
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, rpc.ErrGone):
		if !c.proc.GoneWithin(drainLimit) {
			return errors.New("it closed its output")
		}
		text := "it exited with " + c.proc.Code()
		select {
		case <-c.drained:
		case <-time.After(drainLimit): // something it has started holds the pipe
		}
		if last := c.o.Log.lastWords(c.o.Name, began); last != "" {
			text += ": " + last
		}
		return errors.New(text)
	}
	return err
}

// shake introduces the deck and lists the tools.
func (c *Conn) shake(ctx context.Context) ([]json.RawMessage, error) {
	capabilities := c.o.Capabilities
	if capabilities == nil {
		capabilities = json.RawMessage("{}")
	}
	hello, err := c.Call(ctx, "initialize", json.RawMessage(`{"protocolVersion":"`+wantProtocol+
		`","capabilities":`+string(capabilities)+`,"clientInfo":{"name":"mcpdeck","version":`+string(rawjson.Quote(c.o.Version))+`}}`))
	if err != nil {
		return nil, err
	}
	o, err := rawjson.SplitObject(hello)
	if err != nil {
		return nil, fmt.Errorf("its introduction is %w", err)
	}
	c.Protocol = o.Str("protocolVersion")
	if !slices.Contains([]string{"2024-11-05", "2025-03-26", "2025-06-18", wantProtocol}, c.Protocol) {
		return nil, fmt.Errorf("it speaks protocol %q, which mcpdeck does not know", c.Protocol)
	}
	if info, err := rawjson.SplitObject(o.Get("serverInfo")); err == nil {
		c.Server, c.Version = info.Str("name"), info.Str("version")
	}
	c.Instructions = strings.TrimSpace(plain.Passed(o.Str("instructions"), maxInstructions))
	c.Offer(rpc.Message{Method: "notifications/initialized"}.Line())
	return c.ListTools(ctx)
}

// ListTools reads all pages of the tool list.
func (c *Conn) ListTools(ctx context.Context) ([]json.RawMessage, error) {
	var all []json.RawMessage
	var seen []string
	params := json.RawMessage(`{}`)
	for range maxPages {
		page, err := c.Call(ctx, "tools/list", params)
		if err != nil {
			return nil, err
		}
		o, err := rawjson.SplitObject(page)
		if err != nil {
			return nil, fmt.Errorf("its tool list is %w", err)
		}
		tools, ok := rawjson.SplitArray(o.Get("tools"))
		if !ok {
			return nil, errors.New("its tool list has no tools member")
		}
		all = append(all, tools...)
		next := o.Str("nextCursor")
		if next == "" || slices.Contains(seen, next) {
			break
		}
		seen = append(seen, next)
		params = json.RawMessage(`{"cursor":` + string(rawjson.Quote(next)) + `}`)
	}
	return all, nil
}

// Gone is closed when the child has ended, or is of no more use.
func (c *Conn) Gone() <-chan struct{} { return c.gone }

// Cause is why the child is gone, in words. It must be.
func (c *Conn) Cause() string { return c.cause }

// watch notices the end of the child.
func (c *Conn) watch() {
	select {
	case <-c.proc.Exited:
		select {
		case <-c.Done():
		case <-time.After(drainLimit): // something it has started holds the pipe
		}
		c.cause = "it ended with " + c.proc.Code()
	case <-c.Done():
		c.cause = "it closed its output"
		if c.proc.GoneWithin(drainLimit) {
			c.cause = "it ended with " + c.proc.Code()
		} else {
			c.proc.End(true)
		}
	}
	c.proc.In.Close()
	c.proc.Out.Close()
	c.proc.Err.Close()
	<-c.Done()
	close(c.gone)
}

// End ends the child and waits for that. It may be called any number of times.
func (c *Conn) End() {
	c.proc.End(c.Busy.Load() > 0)
	<-c.gone
}

// Kill ends the child at once, and does not wait for that.
func (c *Conn) Kill() { c.proc.Kill() }

// pings ends a child that does not answer twice in a row.
func (c *Conn) pings() {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	misses := 0
	for {
		select {
		case <-c.gone:
			return
		case <-tick.C:
		}
		ctx, cancel := context.WithTimeout(context.Background(), pingLimit)
		_, err := c.Call(ctx, "ping", nil)
		cancel()
		if err == nil || !errors.Is(err, context.DeadlineExceeded) {
			misses = 0
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
		}
	case "notifications/message":
		c.o.Log.Note("message: " + string(params[:min(len(params), MaxRunes)]))
	default:
		if c.o.Told != nil {
			c.o.Told(method, params)
		}
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
