// Package routertest starts hosts for tests.
package routertest

import (
	"context"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
)

// Start starts a host of some servers. It is stopped when the test ends.
func Start(t testing.TB, servers ...backend.Server) *router.Host {
	t.Helper()
	h, err := router.New(router.Options{Version: "test", Servers: servers, Root: "/deck"})
	if err != nil {
		t.Fatal(err)
	}
	h.Start()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := h.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return h
}
