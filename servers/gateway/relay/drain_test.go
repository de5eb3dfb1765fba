//go:build unix

package relay_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/gateway/relay"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router/routertest"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport/transporttest"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// all is an input that ends.
const all = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}}` + "\n" +
	`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"

// last plays a client whose input ends behind these lines, with each side that serves one.
func last(t *testing.T, lines string, play func(t *testing.T, f *transporttest.Fixture, out *os.File, over <-chan error)) {
	t.Helper()
	sides := map[string]func(t *testing.T, f *transporttest.Fixture, in io.Reader, out io.Writer) error{
		"a server": func(t *testing.T, f *transporttest.Fixture, in io.Reader, out io.Writer) error {
			t.Helper()
			h := routertest.Start(t, f)
			v, err := h.View(router.ViewSpec{})
			if err != nil {
				return err
			}
			agent := h.Connect(snapshot.Caller{Transport: "stdio"}, nil)
			defer agent.Close()
			return transport.Serve(context.Background(), in, out, v, agent)
		},
		"a relay": func(t *testing.T, f *transporttest.Fixture, in io.Reader, out io.Writer) error {
			t.Helper()
			path := transporttest.SocketPath(t)
			transporttest.StartDeck(t, path, f)
			return (&relay.Relay{In: in, Out: out, Dial: func(ctx context.Context) (net.Conn, error) {
				var d net.Dialer
				return d.DialContext(ctx, "unix", path)
			}}).Run(context.Background())
		},
	}
	for name, serve := range sides {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			f, over := transporttest.NewFixture(), make(chan error, 1)
			go func() {
				over <- serve(t, f, strings.NewReader(all+lines), w)
				w.Close()
			}()
			play(t, f, r, over)
		})
	}
}

func TestAnswersComeAfterTheEndOfTheInput(t *testing.T) {
	t.Parallel()
	last(t, transporttest.Call("1", "block", "{}")+"\n", func(t *testing.T, f *transporttest.Fixture, out *os.File, over <-chan error) {
		t.Helper()
		in := bufio.NewScanner(out)
		for in.Scan() && !strings.Contains(in.Text(), `"id":0`) {
			continue
		}
		select {
		case err := <-over:
			t.Errorf("it ended before the answer: %v", err)
		case <-time.After(300 * time.Millisecond):
			close(f.Release)
		}
		got := ""
		for in.Scan() {
			got += in.Text()
		}
		if !strings.Contains(got, `"id":1`) || !strings.Contains(got, "released") {
			t.Errorf("answered: %s", got)
		}
	})
}

func TestNothingGoesOnForAClientThatIsGone(t *testing.T) {
	last(t, transporttest.Call("1", "block", "{}")+"\n", func(t *testing.T, f *transporttest.Fixture, out *os.File, over <-chan error) {
		t.Helper()
		testwait.Until(t, "the call begins", func() bool { return f.Blocked.Load() == 1 })
		out.Close()
		select {
		case <-over:
		case <-time.After(testwait.Patience):
			t.Fatal("it goes on")
		}
		testwait.Until(t, "the call ends", func() bool { return f.Stopped.Load() == 1 })
	})
}
