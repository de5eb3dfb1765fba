package frames_test

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc/frames"
)

// connect returns a connection to a server on this machine.
func connect(t *testing.T, h http.HandlerFunc) net.Conn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestMessagesKeepTheirBytesBothWays(t *testing.T) {
	long := []byte(`{"x":"` + strings.Repeat("é", 1<<20) + `"}`)
	c, err := frames.Dial(t.Context(), connect(t, func(w http.ResponseWriter, r *http.Request) {
		s, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		s.SetReadLimit(rpc.MaxLine)
		for {
			kind, b, err := s.Read(context.Background())
			if err != nil || s.Write(context.Background(), kind, b) != nil {
				return
			}
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range [][]byte{[]byte(`{"id":1}`), long, []byte(`{}`)} {
		if err := c.Write(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		if got, err := c.Read(t.Context()); err != nil || !bytes.Equal(got, m) {
			t.Errorf("%d bytes came back as %d, %v", len(m), len(got), err)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Read(t.Context()); err == nil {
		t.Error("a closed connection was read")
	}
}

func TestAServerThatSpeaksNoWebSocketIsRefused(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"page": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) },
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		},
	} {
		raw := connect(t, answer)
		if c, err := frames.Dial(t.Context(), raw); err == nil {
			_ = c.Close()
			t.Errorf("%s: it was taken for one", name)
		}
		if _, err := raw.Write([]byte("x")); err == nil {
			t.Errorf("%s: the connection is still open", name)
		}
	}
}
