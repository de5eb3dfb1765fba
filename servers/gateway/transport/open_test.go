package transport

import (
	"bufio"
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// wired is one connection to a deck over HTTP.
type wired struct {
	net.Conn
	in *bufio.Reader
}

func dialHTTP(t *testing.T, address string) wired {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(testwait.Patience))
	return wired{c, bufio.NewReader(c)}
}

// post sends a request and returns its answer, 0 when the connection has gone.
func (w wired) post(body string) (status int, text string) {
	_, _ = fmt.Fprintf(w, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	answer, err := http.ReadResponse(w.in, nil)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err.Error()
	}
	return answer.StatusCode, string(b)
}

func startHTTP(t *testing.T, h *HTTP) (address string) {
	t.Helper()
	host, err := router.New(router.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h.Host = host
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- h.Start(ctx, l, nil) }()
	t.Cleanup(func() { cancel(); <-done })
	return l.Addr().String()
}

const pingBody = `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`

// Whoever is refused because too many requests are in flight has its request read,
// and its connection goes on.
func TestAConnectionGoesOnAfterARefusalForTooManyRequests(t *testing.T) {
	h := &HTTP{}
	c := dialHTTP(t, startHTTP(t, h))
	h.requests.Store(maxHTTPRequests)
	large := strings.Repeat(" ", 2<<20)
	if status, text := c.post(large); status != http.StatusServiceUnavailable || !strings.Contains(text, "too many requests") {
		t.Fatalf("got %d %s", status, text)
	}
	if n := h.requests.Load(); n != maxHTTPRequests {
		t.Errorf("%d requests are counted", n)
	}
	h.requests.Store(0)
	if status, text := c.post(pingBody); status == 0 || status == http.StatusServiceUnavailable {
		t.Errorf("the next request got %d %s", status, text)
	}
}

func TestOpenConnectionsOverHTTPAreBounded(t *testing.T) {
	const most, more = 4, 8
	address := startHTTP(t, &HTTP{most: most})
	working := dialHTTP(t, address)
	_, _ = fmt.Fprintf(working, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n")
	if line, err := working.in.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("got %q, %v", line, err)
	}
	gone := make(chan error, most+more)
	for range most - 1 + more {
		c := dialHTTP(t, address)
		if status, text := c.post(pingBody); status == 0 {
			t.Fatal(text)
		}
		go func() {
			_, err := c.in.ReadByte()
			gone <- err
		}()
	}
	for range more {
		if err := <-gone; errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal("idle connections stay open")
		}
	}
	select {
	case err := <-gone:
		t.Errorf("a connection has gone that there is room for: %v", err)
	default:
	}
	_, _ = io.WriteString(working, "         ")
	if rest, err := working.in.ReadString('}'); err != nil {
		t.Errorf("the connection at work got %q, %v", rest, err)
	}
}

func TestTheConnectionThatIsIdleLongestMakesRoom(t *testing.T) {
	o := &openConns{most: 2, at: map[net.Conn]*list.Element{}}
	open := map[string]net.Conn{}
	add := func(name string) (ended func() bool) {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { ours.Close(); theirs.Close() })
		open[name] = theirs
		o.changed(theirs, http.StateNew)
		return func() bool {
			_ = ours.SetReadDeadline(time.Now())
			_, err := ours.Read([]byte{0})
			return errors.Is(err, io.EOF)
		}
	}
	a, b := add("a"), add("b")
	o.changed(open["a"], http.StateActive)
	o.changed(open["a"], http.StateIdle) // after b, which has sent nothing yet
	if c := add("c"); !b() || a() || c() {
		t.Errorf("gone: a %v, b %v, c %v; want b", a(), b(), c())
	}
	o.changed(open["b"], http.StateClosed)
	o.changed(open["a"], http.StateActive)
	o.changed(open["c"], http.StateActive)
	if d := add("d"); !d() || a() {
		t.Errorf("gone: a %v, d %v; want d, for the others are at work", a(), d())
	}
	o.changed(open["d"], http.StateClosed)
	o.changed(open["a"], http.StateClosed)
	if e := add("e"); e() {
		t.Error("there is room, and e is gone")
	}
}

func TestOpenConnectionsToTheSocketAreBounded(t *testing.T) {
	const most = 3
	host, err := router.New(router.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "op")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := socket.Listen(filepath.Join(dir, "deck.sock"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); (&Server{Host: host, limit: socket.ConnLimit{Most: most}}).Serve(ctx, l) }()
	t.Cleanup(func() { cancel(); l.Close(); <-done })
	greet := func() (net.Conn, Welcome, error) {
		c, err := net.Dial("unix", l.Path())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		_ = c.SetDeadline(time.Now().Add(testwait.Patience))
		w, _, err := Greet(c, Hello{Cwd: "/project"})
		return c, w, err
	}
	var open []net.Conn
	for range most {
		c, w, err := greet()
		if err != nil || w.Error != "" {
			t.Fatalf("%v %s", err, w.Error)
		}
		open = append(open, c)
	}
	if _, w, err := greet(); err != nil || !strings.Contains(w.Error, "too many connections are open (limit 3)") {
		t.Errorf("one more: %v %q", err, w.Error)
	}
	if n := len(host.Snapshot().Agents); n != most {
		t.Errorf("%d agents", n)
	}
	open[0].Close()
	testwait.Until(t, "a place is given again", func() bool {
		_, w, err := greet()
		return err == nil && w.Error == ""
	})
}
