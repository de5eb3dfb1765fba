//go:build unix

package streamable_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child/streamable"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// program is how a real server is run.
func program(t *testing.T, name string, args ...string) process.Command {
	t.Helper()
	c := process.Of(realtest.ServerOf(t, name, args...).Command, process.Install, os.Environ())
	c.Patience = 1500 * time.Millisecond
	return c
}

func TestRealProgramsAsChildren(t *testing.T) {
	realtest.On(t)
	folder := t.TempDir()
	for _, tt := range []struct {
		name              string
		command           process.Command
		era               child.Era
		tools             int // at least
		tool, args, wants string
	}{
		{"everything", program(t, "everything"), child.Legacy, 13, "echo", `{"message":"hi"}`, "Echo: hi"},
		{"filesystem", program(t, "filesystem", folder), child.Legacy, 14, "list_allowed_directories", `{}`, "Allowed directories"},
		{"time", program(t, "time"), child.Modern, 2, "get_current_time", `{"timezone":"UTC"}`, `"timezone": "UTC"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			marks, _, err := child.OpenMarks("")
			if err != nil {
				t.Fatal(err)
			}
			mark, log := "", new(child.Log)
			began := time.Now()
			c, tools, err := child.Open(t.Context(), child.Options{
				Name: tt.name, Limit: time.Minute, Version: "test", Log: log, Settle: true,
				Start: func() (p *process.Child, err error) {
					p, mark, err = marks.Start(tt.command)
					return p, err
				},
			})
			if err != nil {
				t.Fatal(err, log.Tail(child.MaxLines))
			}
			t.Logf("%s %s, %s %s: %d tools after %v", c.Server, c.Version, c.Era(), c.Protocol, len(tools), time.Since(began))
			if c.Era() != tt.era || len(tools) < tt.tools || c.Strays() != 0 {
				t.Errorf("era %s, %d tools, %d lines that are no messages", c.Era(), len(tools), c.Strays())
			}
			if got, err := call(t, c, tt.tool, tt.args); err != nil || !strings.Contains(got, tt.wants) {
				t.Errorf("%s says %q, %v", tt.tool, got, err)
			}
			began = time.Now()
			c.End()
			t.Logf("ended after %v: %s", time.Since(began), c.Cause())
			if left := marks.Left(mark); len(left) > 0 || syscall.Kill(c.PID, 0) == nil {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// realHTTP starts the real server at a port of this machine.
func realHTTP(t *testing.T, transport string, port int) (url string, p *process.Child) {
	t.Helper()
	c := program(t, "everything", transport)
	c.Extra = []string{fmt.Sprintf("PORT=%d", port)}
	p, err := process.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, p.Out) }()
	go func() { _, _ = io.Copy(io.Discard, p.Err) }()
	t.Cleanup(func() { p.EndIn(0, time.Second) })
	address := fmt.Sprintf("127.0.0.1:%d", port)
	testwait.Until(t, "the server", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	path := map[string]string{"streamableHttp": "/mcp", "sse": "/sse"}[transport]
	return "http://" + address + path, p
}

// freePort returns a port that nobody uses, and that no system gives to whoever asks for any:
// another test might have it before the server listens.
func freePort(t *testing.T) int {
	t.Helper()
	for range 100 {
		port := 20000 + rand.IntN(10000)
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

func TestRealServerOverHTTP(t *testing.T) {
	realtest.On(t)
	for _, transport := range []string{"streamableHttp", "sse"} {
		t.Run(transport, func(t *testing.T) {
			port := freePort(t)
			url, p := realHTTP(t, transport, port)
			o, to := options(url)
			o.Settle = true
			asked := make(chan rpc.Message, 4)
			o.Ask = func(c *child.Conn, m rpc.Message) {
				if m.Method == "elicitation/create" {
					asked <- m
					return
				}
				c.Offer(child.NoMethod(m))
			}
			o.Capabilities = json.RawMessage(`{"elicitation":{"form":{}}}`)
			renewed := make(chan bool, 4)
			to.Renewed = func() { renewed <- true }
			c := connect(t, o)
			says(t, c, "echo", `{"message":"hi"}`, "Echo: hi")
			tools, err := c.ListTools(t.Context())
			if err != nil || !slices.ContainsFunc(tools, func(raw json.RawMessage) bool { return strings.Contains(string(raw), `"trigger-elicitation-request"`) }) {
				t.Fatalf("%d tools, %v", len(tools), err)
			}
			done := make(chan string, 1)
			go func() {
				got, err := call(t, c, "trigger-elicitation-request", `{}`)
				done <- fmt.Sprint(got, err)
			}()
			m := <-asked
			c.Say(rpc.Message{ID: m.ID, Result: json.RawMessage(`{"action":"decline"}`)})
			if got := <-done; !strings.Contains(got, "declined") {
				t.Errorf("it was answered %q", got)
			}
			p.EndIn(0, time.Second)
			if transport == "sse" {
				<-c.Gone()
				return
			}
			if _, err := call(t, c, "echo", `{"message":"hi"}`); err == nil {
				t.Error("a server that is gone answers")
			}
			realHTTP(t, transport, port)
			says(t, c, "echo", `{"message":"again"}`, "Echo: again")
			if len(renewed) != 1 {
				t.Errorf("told %d times of another session", len(renewed))
			}
		})
	}
}

// Its URL without the transport named is found out, too.
func TestRealServerOfTheOlderTransportIsRecognized(t *testing.T) {
	realtest.On(t)
	url, _ := realHTTP(t, "sse", freePort(t))
	o, to := options(url)
	to.Transport = streamable.Auto
	says(t, connect(t, o), "echo", `{"message":"hi"}`, "Echo: hi")
}
