package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// ErrGone says that a connection has ended.
var ErrGone = errors.New("connection closed")

// ErrTooLarge is how requests end whose answer is over the limit.
var ErrTooLarge = errors.New("the response is larger than " + humanize.Bytes(MaxLine))

// ErrUndecodable is how a request ends whose answer cannot be read.
var ErrUndecodable = errors.New("the server's response is not valid JSON-RPC")

// ErrSeveralLines is how a request ends whose answer is printed over several lines.
var ErrSeveralLines = errors.New("the server prints its response over several lines; in MCP a message is one line")

var errLongRequest = errors.New("the request is larger than " + humanize.Bytes(MaxLine))

// Options are how a connection deals with the other side. The functions are called
// by the goroutine that reads, so they must not wait; each may be nil.
type Options struct {
	Name   string // of its goroutines, in the record of a panic
	Bare   bool   // messages do not say which version of JSON-RPC they are
	Notify func(method string, params json.RawMessage)
	Serve  func(m Message)     // a request of the other side
	Stray  func(line []byte)   // a line that is no message
	Note   func(remark string) // what else is odd, for a log
}

// Conn is the connection to a server. The server may be any program, so it is read
// leniently: of a line that ends in a message only the message is taken. A line over
// the limit ends the request that it answers or, if it does not say which, all that wait; one
// that cannot be decoded, or several that are one answer, end the request that they answer, if
// they say which.
type Conn struct {
	o       Options
	pending Pending
	out     Outbox
	hears   sync.Mutex    // held while a message is taken
	printed printed       // over several lines; guarded by hears
	heard   atomic.Uint64 // lines
	once    sync.Once
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
	return &Conn{o: o, out: Outbox{Name: o.Name + " writer"}, done: make(chan struct{})}
}

// Begin connects it by a pair of byte streams: in is what the server reads, out what
// it writes.
func (c *Conn) Begin(in io.Writer, out io.Reader) {
	c.BeginSending(in)
	recovery.Go(c.o.Name+" reader", func() {
		defer c.Finish()
		c.read(out)
	})
}

// BeginSending connects the way to the server alone, which gets one line a Write.
// What comes back is handed to Hear and Fail; Finish ends the connection.
func (c *Conn) BeginSending(in io.Writer) { c.out.begin(in) }

// Hear takes a line of the server. It may be called by several goroutines.
func (c *Conn) Hear(line []byte) {
	c.heard.Add(1)
	c.hears.Lock()
	defer c.hears.Unlock()
	c.take(line)
}

// Heard is how many lines the server has said so far.
func (c *Conn) Heard() uint64 { return c.heard.Load() }

// Fail ends the request with that id, if it waits.
func (c *Conn) Fail(id string, err error) { c.pending.answer(id, Reply{Err: err}) }

// Waits tells whether the request with that id has no reply yet, and is not forgotten.
func (c *Conn) Waits(id string) bool { return c.pending.Waits(id) }

// Finish fails what still waits, and all that is to come, with ErrGone.
func (c *Conn) Finish() {
	c.once.Do(func() {
		c.pending.Close(ErrGone)
		close(c.done)
		c.out.Stop()
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
	line := c.line(Message{ID: r.RawID(), Method: method, Params: params(r.ID)})
	if len(line) > MaxLine+1 {
		r.Forget()
		return nil, errLongRequest
	}
	if err = c.send(ctx, line); err != nil {
		r.Forget()
		return nil, err
	}
	return r, nil
}

func (c *Conn) line(m Message) []byte {
	if c.o.Bare {
		return append(m.Bare(), '\n')
	}
	return m.Line()
}

// Say sends a message that is no request, when the other side has read what came before.
func (c *Conn) Say(m Message) { c.Send(c.line(m)) }

// Call sends a request and waits for its result. params is raw JSON, nil for none. When
// ctx ends first, a server of the Model Context Protocol is told, unless it was to be greeted.
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
		if !c.o.Bare && method != "initialize" { // which the protocol has not cancelled
			c.Offer(r.Cancelled(""))
		}
		return nil, ctx.Err()
	}
}

// Offer sends a line; it is dropped when the server reads nothing.
func (c *Conn) Offer(line []byte) {
	if c.out.Offer(line, maxUnsent, math.MaxInt) {
		return
	}
	select {
	case <-c.done:
	default:
		c.o.Note("message dropped: the program is not reading its input")
	}
}

// Send waits until the line is on its way, or the server gone.
func (c *Conn) Send(line []byte) { c.out.Post(nil, Outgoing{Line: line}) }

func (c *Conn) send(ctx context.Context, line []byte) error {
	switch {
	case c.out.Post(ctx.Done(), Outgoing{Line: line}):
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return ErrGone
}

// Arrives tells whether the server has what was sent to it so far: it does when it says
// something or stays for d after all of that was written, and not if it ends before.
func (c *Conn) Arrives(d time.Duration) bool {
	const every = 50 * time.Millisecond
	said := c.Heard() // which may be more before all is known to be written
	if !c.out.Written(nil) {
		<-c.done
		return c.Heard() != said
	}
	late, look := time.NewTimer(d), time.NewTicker(every)
	defer late.Stop()
	defer look.Stop()
	for c.Heard() == said {
		select {
		case <-late.C:
			return true
		case <-look.C:
		case <-c.done:
			return c.Heard() != said
		}
	}
	return true
}

// CancelAll tells the server that nobody waits any more for what it has not answered.
// It returns when that was written, and after d at the latest.
func (c *Conn) CancelAll(d time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	for _, line := range c.pending.cancelled() {
		if c.send(ctx, line) != nil {
			return
		}
	}
	c.out.Written(ctx.Done())
}

func (c *Conn) read(out io.Reader) {
	lines := NewLines(out, MaxLine)
	for {
		line, err := lines.Next()
		switch {
		case errors.Is(err, ErrLineTooLong):
			c.Skipped(line)
		case err != nil:
			return
		default:
			c.Hear(line)
		}
	}
}

// take handles one line of the server.
func (c *Conn) take(line []byte) {
	m, before, bad := decodeEnd(line, Rules{Lenient: true, Bare: c.o.Bare})
	if len(before) > 0 {
		c.o.Stray(before)
	}
	if bad == nil {
		c.printed = printed{} // a message within is none of its lines
	}
	switch {
	case bad != nil:
		if id := answers(line); id != "" {
			c.Fail(id, ErrUndecodable)
		} else if id := c.printed.take(line); id != "" {
			time.AfterFunc(loggedFirst, func() { c.Fail(id, ErrSeveralLines) })
		}
	case m.Method == "":
		c.pending.Resolve(m)
	case m.ID != nil:
		c.o.Serve(m)
	case m.Method == "notifications/progress":
		c.pending.Progress(m.Params)
	default:
		c.o.Notify(m.Method, m.Params)
	}
}

// decodeEnd decodes the message at the end of a line, and returns what stands before
// it: programs print without a line end, and then answer.
func decodeEnd(line []byte, rules Rules) (m Message, before []byte, bad *Error) {
	const tries = 8
	if m, bad = rules.Decode(line); bad == nil {
		return m, nil, nil
	}
	start := []byte(`{"jsonrpc"`)
	for i, n := bytes.Index(line, start), 0; i >= 0 && n < tries; n++ {
		if inner, err := rules.Decode(line[i:]); err == nil {
			return inner, line[:i], nil
		}
		next := bytes.Index(line[i+1:], start)
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return m, line, bad
}

// answers is the id of the request that a line answers which is no message; "" if it is no
// answer, or does not say to what.
func answers(line []byte) string {
	if i := bytes.Index(line, []byte(`{"jsonrpc"`)); i > 0 {
		line = line[i:]
	}
	var o Outline
	_, _ = o.Write(line) // never fails
	id, _ := o.answers()
	return id
}

// Skipped takes note of a message over the limit, of which only the outline is there: it
// ends the request that it answers. If it may be an answer but does not say to what, it
// ends all that wait.
func (c *Conn) Skipped(outline []byte) {
	c.o.Note("a message was skipped: " + ErrTooLarge.Error())
	m, bad := Rules{Lenient: true, Bare: c.o.Bare}.Decode(outline)
	switch id, err := rawjson.Text(m.ID); {
	case bad != nil:
		c.pending.Fail(ErrTooLarge)
	case m.Method != "":
	case err != nil:
		c.pending.Fail(ErrTooLarge)
	default:
		c.Fail(id, ErrTooLarge)
	}
}
