package machines

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router/routertest"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport/transporttest"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// TestTheLineOfANewMemberIsShownAlsoWhenTheDeckCannotBeTold has the running deck refuse to look: the line
// is a secret that nothing shows again.
func TestTheLineOfANewMemberIsShownAlsoWhenTheDeckCannotBeTold(t *testing.T) {
	if agent := agentAbove(); agent != "" {
		t.Skip(agent + " runs this test, and may not change a hub")
	}
	home := t.TempDir()
	own := filepath.Join(home, "config.toml")
	if err := os.WriteFile(own, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	a := &cli.Globals{Flags: config.Flags{Port: -1, State: filepath.Join(home, "state"), File: own}}
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		c := HubCommand(a)
		c.SetOut(&out)
		c.SetErr(&out)
		c.SetArgs(args)
		c.SilenceErrors, c.SilenceUsage = true, true
		err := c.Execute()
		return out.String(), err
	}
	if out, err := run("init", "--as", "laptop"); err != nil {
		t.Fatalf("make a hub: %v: %s", err, out)
	}
	cfg, err := a.Load()
	if err != nil {
		t.Fatal(err)
	}
	l, err := socket.Listen(cfg.Paths.Socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	t.Cleanup(func() { stop(); l.Close(); <-ended })
	s := &transport.Server{Host: routertest.Start(t, transporttest.NewFixture()), Version: "test", Controls: map[string]transport.Control{
		"machines": func(context.Context, transport.Requester, json.RawMessage) (any, error) {
			return nil, errors.New("the disk is full")
		},
	}}
	go func() { defer close(ended); s.Serve(ctx, l) }()
	out, err := run("add", "build1")
	if err == nil || !strings.Contains(err.Error(), "the disk is full; restart it") {
		t.Errorf("a deck that was not told: %v", err)
	}
	if !strings.Contains(out, "run mcpdeck join on build1 and give it this line") {
		t.Errorf("it says %q", out)
	}
	if out, _ := run("add", "--deck", "desk"); !strings.Contains(out, "each host asks its user whether desk may answer there") {
		t.Errorf("of another deck it says %q", out)
	}
}
