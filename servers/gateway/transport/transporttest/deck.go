package transporttest

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router/routertest"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// SocketPath is where a deck of the test listens.
func SocketPath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "rl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "deck.sock")
}

// StartDeck serves a deck on a socket.
func StartDeck(t *testing.T, path string, modules ...backend.Server) *Running {
	t.Helper()
	l, err := socket.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	h := routertest.Start(t, modules...)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	s := &transport.Server{Host: h, Version: "test"}
	go func() { defer close(done); s.Serve(ctx, l) }()
	d := &Running{Host: h}
	var once atomic.Bool
	d.Kill = func() {
		if !once.Swap(true) {
			cancel()
			l.Close()
			<-done
		}
	}
	t.Cleanup(d.Kill)
	return d
}

// Running is a deck that serves.
type Running struct {
	Host *router.Host
	Kill func()
}
