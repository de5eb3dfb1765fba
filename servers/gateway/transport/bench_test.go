package transport_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport/transporttest"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// BenchmarkEcho is one call of an echo tool over the deck's Unix socket, without
// a relay.
func BenchmarkEcho(b *testing.B) {
	for _, size := range []int{64, 256 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			dir, err := os.MkdirTemp("", "be")
			if err != nil {
				b.Fatal(err)
			}
			defer os.RemoveAll(dir)
			l, err := socket.Listen(filepath.Join(dir, "s"))
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			h, err := router.New(router.Options{Servers: []backend.Server{transporttest.NewFixture()}})
			if err != nil {
				b.Fatal(err)
			}
			h.Start()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			go func() { (&transport.Server{Host: h}).Serve(ctx, l) }()
			conn, err := net.Dial("unix", l.Path())
			if err != nil {
				b.Fatal(err)
			}
			_, r, err := transport.Greet(conn, transport.Hello{})
			if err != nil {
				b.Fatal(err)
			}
			in := bufio.NewReaderSize(r, 64<<10)
			if _, err := conn.Write([]byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}` + "\n")); err != nil {
				b.Fatal(err)
			}
			if _, err := in.ReadSlice('\n'); err != nil {
				b.Fatal(err)
			}
			line := []byte(transporttest.Call(`7`, "echo", `{"text":"`+strings.Repeat("x", size)+`"}`) + "\n")
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := conn.Write(line); err != nil {
					b.Fatal(err)
				}
				if _, err := in.ReadSlice('\n'); err != nil && !errors.Is(err, bufio.ErrBufferFull) {
					b.Fatal(err)
				} else if errors.Is(err, bufio.ErrBufferFull) {
					for errors.Is(err, bufio.ErrBufferFull) {
						_, err = in.ReadSlice('\n')
					}
				}
			}
		})
	}
}
