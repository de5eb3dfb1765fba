package streamable_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/card/child"
	"github.com/mcpdeck/mcpdeck/servers/card/internal/fake"
	"github.com/mcpdeck/mcpdeck/servers/rpc"
)

// pipes is a network inside the test, so that its clock can be the test's.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, errors.New("closed")
	}
}

func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) connect(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	p.conns <- theirs
	return ours, nil
}

// Nothing between the user and the server has a clock of its own.
func TestAUserMayTakeADayToAnswerAServerOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fake.Server{NoModern: true}
		network := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		srv := &http.Server{Handler: s.Handler()}
		served := make(chan error)
		go func() { served <- srv.Serve(network) }()
		o, to := options("http://127.0.0.1/mcp")
		to.Connect = network.connect
		o.Ask = func(c *child.Conn, m rpc.Message) {
			time.AfterFunc(24*time.Hour, func() { c.Reply(m.ID, json.RawMessage(`{"action":"decline"}`), nil) })
		}
		c, _, err := child.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		r, err := c.Start(t.Context(), "tools/call", func(string) []byte { return []byte(`{"name":"ask"}`) }, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a := <-r.Reply; a.Err != nil || time.Since(began) < 24*time.Hour {
			t.Errorf("after %v: %s, %v", time.Since(began), a.Result, a.Err)
		}
		c.End()
		srv.Close()
		<-served
	})
}
