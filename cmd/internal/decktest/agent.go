package decktest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// Agent is a client of MCP that writes and reads what a test wants: whole messages, in any
// order.
type Agent struct {
	Cmd *exec.Cmd // the server, if that is a program
	In  io.WriteCloser
	Out io.Closer
	// Lines are the messages that came, until there are no more. What is no message has only
	// the member junk.
	Lines chan map[string]any
	Last  int // the id of the newest request

	t testing.TB
}

// Serve starts a program that serves MCP on its standard input and output. It is killed
// when the test ends.
func Serve(t testing.TB, cmd *exec.Cmd) *Agent {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	a := NewAgent(t, in)
	a.Cmd, a.Out = cmd, out
	go func() {
		defer close(a.Lines)
		a.Hear(out)
	}()
	return a
}

// NewAgent returns a client that writes to in, and to which somebody else brings what it hears.
func NewAgent(t testing.TB, in io.WriteCloser) *Agent {
	t.Helper()
	return &Agent{t: t, In: in, Lines: make(chan map[string]any, 1000)}
}

// Hear takes the messages of a stream to its end.
func (a *Agent) Hear(r io.Reader) {
	for s := bufio.NewReader(r); ; {
		line, err := s.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			var m map[string]any
			if json.Unmarshal(line, &m) != nil {
				m = map[string]any{"junk": string(line)}
			}
			a.Lines <- m
		}
		if err != nil {
			return
		}
	}
}

// Write writes a message.
func (a *Agent) Write(line string) {
	a.t.Helper()
	if _, err := io.WriteString(a.In, line+"\n"); err != nil {
		a.t.Fatal(err)
	}
}

// Send sends a request, or a notification if id is nil.
func (a *Agent) Send(id any, method, params string) {
	a.t.Helper()
	head := ""
	if id != nil {
		head = fmt.Sprintf(`"id":%v,`, id)
	}
	a.Write(fmt.Sprintf(`{"jsonrpc":"2.0",%s"method":%q,"params":%s}`, head, method, params))
}

// Request sends a request and returns its answer; other messages are dropped.
func (a *Agent) Request(method, params string) map[string]any {
	a.t.Helper()
	a.Last++
	a.Send(a.Last, method, params)
	return a.Answer(a.Last)
}

// Answer waits for the answer to a request; other messages are dropped.
func (a *Agent) Answer(id any) map[string]any {
	a.t.Helper()
	for limit := time.After(testwait.Patience); ; {
		select {
		case m, ok := <-a.Lines:
			switch {
			case !ok:
				a.t.Fatal("the server has ended")
			case m["junk"] != nil:
				a.t.Fatalf("no message: %v", m["junk"])
			case m["method"] == nil && fmt.Sprint(m["id"]) == fmt.Sprint(id):
				return m
			}
		case <-limit:
			a.t.Fatalf("no answer to %v", id)
		}
	}
}

// Handshake introduces the client by a name, in the era of handshakes.
func (a *Agent) Handshake(name string) {
	a.t.Helper()
	a.Request("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"`+name+`","version":"1"}}`)
	a.Send(nil, "notifications/initialized", "{}")
}
