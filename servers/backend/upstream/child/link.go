package child

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// Link transports the messages between a Conn and its server, over the pipes of a
// program or HTTP.
type Link interface {
	// Begin connects c, which receives the server's messages until the link calls its
	// Finish or the stream that c reads ends.
	Begin(c *rpc.Conn)
	// Gone is closed when the link has ended completely. Cause then returns the reason.
	Gone() <-chan struct{}
	Cause() string
	// Reason returns what the server wrote about that, "" if nothing.
	Reason() string
	// Fault returns why a server ended before the handshake, as text.
	Fault() string
	// End ends the link and waits until it is gone; busy is set if requests are in
	// flight. Kill ends it at once without waiting. Both may be called any number of
	// times.
	End(busy bool)
	Kill()
}

// Errors of requests over a link that can break without ending the connection: the
// server did not receive the request, or it may have acted on it.
var (
	ErrUnreachable = errors.New("the server cannot be reached")
	ErrBroken      = errors.New("the connection broke before the answer")
)

// StatusError is an HTTP status that a server answered without a message.
type StatusError struct {
	Code      int    // of HTTP: 404
	Text      string // text of the server, one line, safe to show
	Challenge string // the WWW-Authenticate header
}

// SignIn reports whether the server wants to know who the user is: it says how to tell
// it, which for other reasons to refuse it does not.
func (e *StatusError) SignIn() bool {
	const unauthorized, forbidden = 401, 403
	return (e.Code == unauthorized || e.Code == forbidden) && e.Challenge != ""
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("HTTP status %d", e.Code)
	if e.Text != "" {
		text += ": " + e.Text
	}
	if e.SignIn() {
		return "it wants a sign-in (" + text + "), which mcpdeck cannot do: set a token as its header Authorization in its settings"
	}
	return text
}

const (
	cancelLimit = 100 * time.Millisecond // for a program to read a notification
	reasonAge   = 5 * time.Second        // of a line that explains why a program ended
)

// How long a program may take to end when the deck does.
const (
	quitClosed = 700 * time.Millisecond
	quitAsked  = 1100 * time.Millisecond
)

// program is the link to a program.
type program struct {
	*process.Child
	name    string
	log     *Log
	began   time.Time
	drained chan struct{} // closed when all of its stderr was read
	gone    chan struct{}
	conn    *rpc.Conn
	ending  atomic.Bool // by the deck
	cause   string      // after gone
	reason  string      // of what it wrote at its end; after gone
}

// startProgram starts the program of the options.
func startProgram(o Options) (*program, error) {
	began := time.Now()
	proc, err := o.Start()
	if err != nil {
		return nil, err
	}
	o.Log.Note(fmt.Sprintf("started, process %d", proc.PID))
	return &program{
		Child: proc, name: o.Name, log: o.Log, began: began,
		drained: make(chan struct{}), gone: make(chan struct{}),
	}, nil
}

// Begin implements Link.
func (p *program) Begin(c *rpc.Conn) {
	p.conn = c
	recovery.Go(p.name+" stderr", func() {
		defer close(p.drained)
		p.log.drain(p.name, p.Err)
	})
	c.Begin(p.In, p.Out)
	recovery.Go(p.name+" watch", func() { p.watch(c) })
}

// drain returns how long to wait for the rest of the program's output, and for the end
// of a program that has closed its output. The end of the pipes cannot be relied on,
// since a process that the program started may hold them open.
func (p *program) drain() time.Duration {
	if p.ending.Load() {
		return drainLimit
	}
	return lastWordsLimit
}

// watch notices the end of the program.
func (p *program) watch(c *rpc.Conn) {
	var end time.Time
	select {
	case <-p.Exited:
		end = time.Now()
		select {
		case <-c.Done():
		case <-time.After(p.drain()):
		}
		p.cause = "it ended with " + p.Code()
	case <-c.Done():
		end = time.Now()
		p.cause = "it closed its output"
		if p.GoneWithin(p.drain()) {
			p.cause = "it ended with " + p.Code()
		} else {
			p.Child.End(true)
		}
	}
	p.In.Close()
	p.Out.Close()
	select { // its last lines of output explain why it ended
	case <-p.drained:
	case <-time.After(p.drain()):
	}
	p.Err.Close()
	p.reason = p.log.reason(p.name, end.Add(-reasonAge), trouble) // it worked, and may have said anything
	<-c.Done()
	close(p.gone)
}

// Gone implements Link.
func (p *program) Gone() <-chan struct{} { return p.gone }

// Cause implements Link.
func (p *program) Cause() string { return p.cause }

// Fault implements Link.
func (p *program) Fault() string {
	if !p.GoneWithin(p.drain()) {
		return "it closed its output"
	}
	text := "it exited with " + p.Code()
	select {
	case <-p.drained:
	case <-time.After(p.drain()):
	}
	if why := p.log.reason(p.name, p.began, words); why != "" {
		text += ": " + why
	}
	return text
}

// Reason implements Link.
func (p *program) Reason() string { return p.reason }

// End implements Link. A program that has time to end is first told that its requests
// are cancelled.
func (p *program) End(busy bool) {
	p.ending.Store(true)
	if busy && p.Patience > 0 {
		p.conn.CancelAll(cancelLimit)
	}
	p.Child.End(busy)
	<-p.gone
}

// Quit ends the program in less than two seconds.
func (p *program) Quit() {
	p.ending.Store(true)
	p.EndIn(quitClosed, quitAsked)
	<-p.gone
}

// Kill implements Link.
func (p *program) Kill() {
	p.ending.Store(true)
	p.Child.Kill()
}

// refused reports whether the server answered that it does not know the request, by a
// message or by an HTTP status.
func refused(err error) bool {
	if _, ok := errors.AsType[*rpc.Error](err); ok {
		return true
	}
	status, ok := errors.AsType[*StatusError](err)
	if !ok {
		return false
	}
	switch status.Code {
	case 400, 404, 405, 406:
		return true
	}
	return false
}
