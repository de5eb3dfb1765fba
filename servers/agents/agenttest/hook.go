package agenttest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
)

// Conn is a connection of an agent's program to the prompt socket.
type Conn struct {
	net.Conn
	Lines <-chan string // that the deck writes but signs of life; closed when it hangs up

	over chan struct{}
}

// Connect has a handler serve a connection from a process, 0 if the system does not tell which.
func Connect(ctx context.Context, h hook.Handler, pid int) *Conn {
	ours, theirs := net.Pipe()
	lines := make(chan string, 16)
	c := &Conn{Conn: ours, Lines: lines, over: make(chan struct{})}
	go func() {
		defer close(lines)
		for in := bufio.NewScanner(ours); in.Scan(); {
			if in.Text() != `{"ping":true}` {
				lines <- in.Text()
			}
		}
	}()
	go func() {
		defer close(c.over)
		if greeted, err := hook.Greet(theirs, pid); err == nil {
			defer greeted.Close()
			h.Serve(ctx, greeted)
		}
	}()
	return c
}

// HangUp closes the connection, and returns when the handler has done with it.
func (c *Conn) HangUp() {
	_ = c.Close() // it may be
	<-c.over
}

// Fire runs a hook of an agent's program for an event. What the deck has it print is sent when it does, "" if the
// terminal is to ask, and nothing if the deck hangs up before. The connection ends the hook, as the program does.
func Fire(ctx context.Context, h hook.Handler, agent, payload string) (prints <-chan string, c *Conn) {
	c, out := Connect(ctx, h, 0), make(chan string, 1)
	go fmt.Fprintf(c, `{"v":1,"hello":%q,"mode":"hook","program":"/m"}`+"\n"+`{"event":"hook","payload":%s}`+"\n", agent, payload)
	go func() {
		defer c.Close()
		for line := range c.Lines {
			var m struct{ Print *string }
			if json.Unmarshal([]byte(line), &m) == nil && m.Print != nil {
				out <- *m.Print
				return
			}
		}
	}()
	return out, c
}
