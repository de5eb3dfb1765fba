package conformance

import (
	"context"
	"fmt"
	"net"
	"net/http"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// NewHost returns a running host that has the fixtures and nothing else.
func NewHost(root string) (*router.Host, error) {
	h, err := router.New(router.Options{Version: "0", Servers: []backend.Server{New()}, Root: root})
	if err != nil {
		return nil, err
	}
	h.Start()
	return h, nil
}

// Serve offers the host at the address it returns, behind the guard with its
// token off, since the suite cannot send one. It ends with ctx.
func Serve(ctx context.Context, h *router.Host) (url string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("serve fixtures: %w", err)
	}
	srv := &http.Server{
		Handler:     &transport.Guard{Next: &transport.HTTP{Host: h}},
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	context.AfterFunc(ctx, func() { srv.Close() })
	recovery.Go("conformance", func() { _ = srv.Serve(l) })
	return "http://" + l.Addr().String() + "/mcp", nil
}
