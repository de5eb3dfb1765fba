package ask

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
	"github.com/mcpdeck/mcpdeck/servers/support/userauth"
)

const (
	proofWithin = 3 * time.Minute  // for the user to type it
	provenFor   = 10 * time.Minute // without use
)

var errNoGate = errors.New("this deck does not accept answers from a shell")

// prove lets a connection act for the user once it has shown a proof. The proof
// is worth as much as the connection: it ends with it, and leaves no token.
func (c *conn) prove(m *message) {
	m.v = true
	var item int
	_ = json.Unmarshal(m.fields["request"], &item) // not a number: it is to answer any
	method, err := c.mayAsk(item)
	if err != nil {
		c.mayNot(m, err)
		return
	}
	if err := c.proves(m, method, item); err != nil {
		_ = c.send(m.fail("refused", err.Error(), "", false)) // who is refused may be gone
		return
	}
	if c.send(line{ID: m.id, Type: "ok", V: 1}) != nil {
		return
	}
	for {
		m, err := c.another(provenFor)
		if err != nil {
			return // it has gone, or been idle too long
		}
		m.v = true
		switch m.kind {
		case "answer":
			if method == userauth.Push {
				c.answerOnly(&m, item)
				return
			}
			c.answer(&m)
		case "list":
			c.list(&m)
		default:
			_ = c.send(m.failure(unsupported(m.kind))) // it may have left
		}
	}
}

// answerOnly answers the one request for which the connection has shown a code.
func (c *conn) answerOnly(m *message, item int) {
	var other int
	if err := json.Unmarshal(m.fields["request"], &other); err != nil || other != item {
		c.mayNot(m, fmt.Errorf("this code answers question %d only", item))
		return
	}
	c.answer(m)
}

// mayNot tells who asks that they may not act for the user, whatever they show, and has the screen show who that was.
func (c *conn) mayNot(m *message, why error) {
	if gate := c.l.opt.Gate; gate != nil {
		gate.Refused(c.who(), why)
	}
	_ = c.send(m.fail("refused", why.Error(), "", false)) // it may have left
}

// who is the process at the other end.
func (c *conn) who() userauth.Who {
	who := userauth.Who{Folder: c.peer.Cwd}
	who.PID, who.Program = socket.Behind(c.peer.PID)
	return who
}

// mayAsk returns what the connection is to show as a proof that it may answer an item, or
// all of them if that is 0.
func (c *conn) mayAsk(item int) (userauth.Method, error) {
	gate := c.l.opt.Gate
	if gate == nil {
		return "", errNoGate
	}
	// What stands in a container or brings another machine's connection has none of
	// its agents above it.
	if where, _, _ := strings.Cut(c.peer.Machine, " "); where != "" {
		return "", fmt.Errorf("only a shell on the deck's own machine may answer; this request came through %s", where)
	}
	method, err := gate.ReadyFor(item)
	if err == nil {
		err = c.fromAnAgent()
	}
	return method, err
}

// proves has the connection show a proof.
func (c *conn) proves(m *message, method userauth.Method, item int) error {
	if err := c.send(line{ID: m.id, Type: "challenge", V: 1, Method: string(method)}); err != nil {
		return err
	}
	answer, err := c.another(proofWithin)
	if err != nil || answer.kind != "proof" {
		return errors.New("no proof received")
	}
	var secret string
	_ = json.Unmarshal(answer.fields["secret"], &secret) // not a string: wrong
	return c.l.opt.Gate.TryFor(c.who(), item, secret)
}

// another reads one more message of a connection that has sent one.
func (c *conn) another(within time.Duration) (message, error) {
	_ = c.SetReadDeadline(time.Now().Add(within)) // fails only on a closed connection, which the read reports
	raw, err := c.in.request()
	if err != nil {
		return message{}, err
	}
	return parseMessage(raw)
}

// unproven refuses to act for who has shown nothing.
func (c *conn) unproven(m *message) {
	m.v = true
	why := errors.New("answering requires a proof first; use mcpdeck ask answer from this version")
	if c.l.opt.Gate == nil {
		why = errNoGate
	} else if _, err := c.l.opt.Gate.Ready(); err != nil {
		why = err
	}
	c.mayNot(m, why)
}

// answer answers or declines a request for the user.
func (c *conn) answer(m *message) {
	var args struct {
		Request int      `json:"request"`
		Answers []Result `json:"answers"`
		Decline bool     `json:"decline"`
		Reason  string   `json:"reason"`
	}
	if err := json.Unmarshal(encode(m.fields), &args); err != nil {
		_ = c.send(m.failure(invalid("invalid answers: %s", sanitize.Line(err.Error()))))
		return
	}
	var err error
	if args.Decline {
		err = c.l.q.Decline(args.Request, args.Reason)
	} else {
		err = c.l.q.Answer(args.Request, args.Answers)
	}
	if err != nil {
		_ = c.send(m.failure(invalid("%s", err)))
		return
	}
	_ = c.send(line{ID: m.id, Type: "ok", V: 1}) // the answer is given either way
}

// fromAnAgent refuses what an agent has visibly started. It is no more than a
// clearer word: a process can leave its parents.
func (c *conn) fromAnAgent() error {
	agents := map[int]bool{}
	if c.l.opt.Agents != nil {
		for _, pid := range c.l.opt.Agents() {
			agents[pid] = true
		}
	}
	for _, it := range c.l.q.Pending().Items {
		agent := it.Request.Peer.Agent
		if it.Request.Prompt == nil { // else the agent's own program asks
			agent, _ = socket.AgentOf(it.Request.Peer.PID)
		}
		agents[agent] = true
	}
	delete(agents, 0)
	for _, pid := range socket.Ancestors(c.peer.PID) {
		if agents[pid] {
			return fmt.Errorf("process %d was started by a connected agent; only the user may answer", c.peer.PID)
		}
	}
	return nil
}
