package ask

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// Time limits of a connection.
const (
	requestWithin = 10 * time.Second
	writeWithin   = 5 * time.Second
	closeWithin   = 500 * time.Millisecond // on shutdown
	ackWithin     = 3 * time.Second        // its server acknowledges when its own client has had time to
	ackAtLast     = 10 * time.Second       // after which an acknowledgement is no longer waited for
	comesWithin   = 5 * time.Second        // for a call that continues elsewhere
	statusEvery   = time.Second
	hangupEvery   = time.Second
)

// conn serves one client: one request, one reply.
type conn struct {
	net.Conn
	l     *Listener
	via   *session // nil: the main socket
	peer  Peer
	in    *lineReader
	limit int // too many connections: this one is refused; 0: there is room
}

func (c *conn) serve() {
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(requestWithin)) // fails only on a closed connection, which the read reports
	raw, err := c.in.request()
	switch {
	case errors.Is(err, errProbe):
		return
	case errors.Is(err, errTooLong):
		c.refuse(errTooLarge())
		return
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.refuse(invalid("no request received"))
		return
	case errors.Is(err, errPartial):
		c.refuse(invalid("not a complete JSON object"))
		return
	case err != nil:
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	m, err := parseMessage(raw)
	if err != nil {
		m.v = true
		_ = c.send(m.failure(invalid("%s", err))) // the sender may be gone
		return
	}
	if c.limit > 0 {
		_ = c.send(m.fail("busy", fmt.Sprintf("too many connections are open (limit %d); retry when one has closed", c.limit), "", false)) // as above
		return
	}
	if handle := handlers()[m.kind]; handle != nil {
		handle(c, &m)
		return
	}
	_ = c.send(m.failure(unsupported(m.kind))) // as above
}

// handlers returns the handlers by request type. All but ask are for the deck's own
// commands.
func handlers() map[string]func(*conn, *message) {
	return map[string]func(*conn, *message){
		"ask": (*conn).ask, "resume": (*conn).resume, "ping": (*conn).ping, "list": (*conn).list, "answer": (*conn).unproven, "prove": (*conn).prove, "session": (*conn).session,
	}
}

// refuse answers a line that could not be parsed, in the format for an unknown sender.
func (c *conn) refuse(err *Error) {
	m := message{id: nullID(), v: true}
	_ = c.send(m.failure(err)) // it may have left
}

func (c *conn) send(l line) error {
	limit := writeWithin
	if c.l.closing() {
		limit = closeWithin
	}
	_ = c.SetWriteDeadline(time.Now().Add(limit)) // fails only on a closed connection, which the write reports
	_, err := c.Write(l.bytes())
	return err
}

func (c *conn) ping(*message) {
	n := c.l.q.Pending().Waiting
	_ = c.send(line{Type: "pong", V: 1, App: "mcpdeck", Version: c.l.opt.Version, Pending: &n}) // a client that left needs no answer
}

func (c *conn) ask(m *message) {
	req, err := m.request()
	if err != nil {
		_ = c.send(m.failure(invalid("%s", err)))
		return
	}
	req.Peer = c.peer
	call, err := c.l.q.Open(req)
	c.follow(m, call, err)
}

// resume waits for a request that was asked before.
func (c *conn) resume(m *message) {
	var key, owner string
	_ = json.Unmarshal(m.fields["resumeKey"], &key) // not a string: no key, which nothing has
	_ = json.Unmarshal(m.fields["owner"], &owner)   // as above
	call, err := c.l.q.Resume(key, owner, c.peer)
	c.follow(m, call, err)
}

// follow sends the outcome of a call to the client.
func (c *conn) follow(m *message, call *Call, err error) {
	if err != nil {
		_ = c.send(m.failure(err)) // it may have left
		return
	}
	w := c.listen()
	defer close(w.quit)
	if !c.wait(m, call, w) {
		return
	}
	reply, err := call.Reply()
	if err != nil {
		_ = c.send(m.failure(err))
		return
	}
	if err := c.send(m.reply(reply)); err != nil {
		call.Delivered(NotTaken)
		return
	}
	c.delivery(m, call, w)
}

// delivery waits for the client to say that it has the reply. One that never says so has
// it when it hangs up after reading, or stays.
func (c *conn) delivery(m *message, call *Call, w *heard) {
	late, last := time.NewTimer(ackWithin), time.NewTimer(ackAtLast)
	defer late.Stop()
	defer last.Stop()
	says := m.features["ack"]
	for {
		select {
		case l, ok := <-w.lines:
			switch {
			case ok && l.Type == "ack", !ok && !says && !w.unread:
				call.Delivered(Delivered)
				return
			case !ok:
				call.Delivered(NotTaken)
				return
			}
		case <-late.C:
			if !says {
				call.Delivered(Delivered)
				return
			}
			call.Delivered(NotTaken) // it may still come
		case <-last.C:
			return
		}
	}
}

// wait reports whether the call ended before the client left. A client that asked for
// status changes gets at most one a second.
func (c *conn) wait(m *message, call *Call, w *heard) bool {
	var hints <-chan struct{}
	var due <-chan time.Time
	tell := func() {}
	if m.features["status"] {
		ch, stop := c.l.q.Hints()
		defer stop()
		hints, tell = ch, c.status(m, call)
		tell()
	}
	told := time.Now()
	for {
		select {
		case <-call.Done():
			return true
		default:
		}
		select {
		case <-call.Done():
			return true
		case l, ok := <-w.lines:
			if !ok {
				call.Leave("hung up")
				c.l.q.Left((&Request{Peer: c.peer}).peerKey())
				return false
			}
			switch l.Type {
			case "cancel":
				call.Leave(cmp.Or(l.Reason, "cancelled by the agent"))
				return false
			case "handover":
				c.handOver(call, l.Answered)
				return false
			}
		case <-hints:
			if due == nil {
				due = time.After(max(statusEvery-time.Since(told), 0))
			}
		case <-due:
			due, told = nil, time.Now()
			tell()
		}
	}
}

// handOver keeps the request of a client whose agent continues elsewhere. A call that
// is still waiting is sent again with its key; until then, the end of this one is not
// shown. A call that was answered with an ID comes back when the agent fetches the
// answer.
func (c *conn) handOver(call *Call, answered bool) {
	if !answered {
		select {
		case <-call.Done():
			return
		case <-time.After(comesWithin):
		}
	}
	call.HandOver()
	c.l.q.Left((&Request{Peer: c.peer}).peerKey())
}

// status returns a function that sends the state of the call if it has changed.
func (c *conn) status(m *message, call *Call) func() {
	var last line
	return func() {
		state, ahead, pending := call.Place()
		l := line{ID: m.id, Type: "status", State: c.l.q.stateWord(call, state), Position: ahead + 1}
		if l.State == last.State && l.Position == last.Position && last.Pending != nil && *last.Pending == pending {
			return
		}
		l.Pending = &pending
		last = l
		_ = c.send(l) // the reader notices a client that has gone
	}
}

// later is a line that follows the request.
type later struct {
	Type     string `json:"type"`
	Reason   string `json:"reason"`
	Answered bool   `json:"answered"` // of a handover: the agent has the id, and may fetch the answer
}

// heard delivers what the client sends after its request. A hang-up comes through the
// same channel as the lines, so that it cannot overtake them.
type heard struct {
	lines chan later // closed on a full hang-up
	// unread is set before that if the client hung up without reading all.
	unread bool
	quit   chan struct{} // closed by the user of heard
}

// listen keeps reading. The end of input alone is not a hang-up, since the client may
// have closed only its sending side.
func (c *conn) listen() *heard {
	w := &heard{lines: make(chan later, 4), quit: make(chan struct{})}
	recovery.Go("ask client", func() {
		for {
			raw, err := c.in.next()
			var l later
			if len(raw) > 0 && json.Unmarshal(raw, &l) == nil && (l.Type == "ack" || l.Type == "cancel" || l.Type == "handover") {
				select {
				case w.lines <- l:
				case <-w.quit:
					return
				}
			}
			if errors.Is(err, errTooLong) {
				c.in.drop()
				continue
			}
			if err != nil {
				w.unread = errors.Is(err, syscall.ECONNRESET)
				break
			}
		}
		for !hungUp(c.Conn) {
			select {
			case <-w.quit:
				return
			case <-time.After(hangupEvery):
			}
		}
		close(w.lines)
	})
	return w
}
