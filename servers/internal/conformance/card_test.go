package conformance

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child/streamable"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// TestMain makes the test binary a server with the fixtures, too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "fixtures" {
		if err := serveLines(os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// serveLines offers the fixtures over a stream of lines.
func serveLines(in io.Reader, out io.Writer) error {
	dir, err := os.MkdirTemp("", "fixtures")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	h, err := NewHost(dir)
	if err != nil {
		return err
	}
	view, err := h.View(router.ViewSpec{})
	if err != nil {
		return err
	}
	agent := h.Connect(snapshot.Caller{Transport: "stdio"}, nil)
	defer agent.Close()
	return transport.Serve(context.Background(), in, out, view, agent)
}

// behindCard is a deck that has the fixtures as a card, over a pipe or HTTP, in an era of
// the protocol.
func behindCard(t *testing.T, overHTTP bool, era child.Era) (url string) {
	t.Helper()
	found := upstream.Found{Command: process.Of([]string{os.Args[0], "fixtures"}, process.Install, os.Environ())}
	if overHTTP {
		h, err := NewHost(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = h.Stop(context.Background()) })
		at, err := Serve(t.Context(), h)
		if err != nil {
			t.Fatal(err)
		}
		found = upstream.Found{Open: func(log *child.Log) (child.Link, error) {
			return streamable.Open(streamable.Options{Name: "fixtures", URL: at, Version: "0", Log: log})
		}}
	}
	c := upstream.New(upstream.Options{
		Name: "fixtures", Version: "0", OnDemand: true, Share: upstream.ShareSession, Era: era, ElicitAgent: true, SampleAgent: true, Hold: catalogue.HoldNothing, Pins: filepath.Join(t.TempDir(), "pins.json"),
		Hooks: upstream.Hooks{Find: func(upstream.From) (upstream.Found, error) { return found, nil }},
	})
	h, err := router.New(router.Options{Version: "0", Servers: []backend.Server{upstream.NewAdapter(c, upstream.AdapterOptions{})}, Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	h.Start()
	t.Cleanup(func() { _ = h.Stop(context.Background()) })
	if _, err := c.Control(t.Context(), upstream.Request{Verb: "on"}); err != nil {
		t.Fatal(err)
	}
	url, err = Serve(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	return url + "/fixtures?as-is"
}

// TestConformanceThroughACard runs the official suite against a deck that has the
// fixtures behind a card: what passes there passes here.
func TestConformanceThroughACard(t *testing.T) {
	realtest.On(t)
	node := findNode(t)
	for _, transport := range []string{"stdio", "HTTP"} {
		for _, run := range suiteRuns() {
			t.Run(transport+" "+run.name, func(t *testing.T) {
				era := child.Legacy
				if run.name == modern {
					era = child.Modern
				}
				run.against(t, node, behindCard(t, transport == "HTTP", era), "expected-failures.yaml")
			})
		}
	}
}
