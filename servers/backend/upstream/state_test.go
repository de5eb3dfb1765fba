package upstream_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/fake"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// shown is what a server shows the user.
type shown struct {
	mu sync.Mutex
	snapshot.State
}

func (s *shown) SetState(to snapshot.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.State = to
}

func (s *shown) now() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimSpace(string(s.Status) + " " + s.Detail + s.Reason)
}

func (*shown) Changed()                               {}
func (*shown) Warn(string)                            {}
func (*shown) Notify(string, string, json.RawMessage) {}

// The state of a card combines those of its children.
func TestTheStateOfACardIsThatOfItsChildren(t *testing.T) {
	server, fails := &fake.Server{NoModern: true}, errors.New("no such server")
	broken := map[string]bool{}
	o := upstream.Options{Name: "git", OnDemand: true, Share: upstream.ShareAuto, Pins: filepath.Join(t.TempDir(), "pins.json")}
	o.Hooks.Find = func(f upstream.From) (upstream.Found, error) {
		if broken[f.Agent] {
			return upstream.Found{}, fails
		}
		return upstream.Found{Command: process.Command{Program: "git"}}, nil
	}
	o.Start = func(process.Command) (*process.Child, error) { return server.Start() }
	c := upstream.New(o)
	m, s := upstream.NewAdapter(c, upstream.AdapterOptions{}), &shown{}
	if err := m.Start(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Stop(t.Context()) }()
	c.On()
	if err := c.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	call := func(agent string) {
		if _, err := c.Call(t.Context(), upstream.Call{Tool: "git_echo", From: upstream.From{Agent: agent}}); err != nil {
			t.Error(err)
		}
	}
	for _, row := range []struct {
		name string
		do   func()
		want string
	}{
		{"nothing runs", func() {}, "ready idle"},
		{"an agent", func() { call("ada") }, "ready running, 1 agent"},
		{"two", func() { call("bob") }, "ready running, 2 agents"},
		{"one whose server does not start", func() { broken["cy"] = true; call("cy") }, "degraded no such server"},
		{"that one leaves", func() { c.SessionEnded("cy") }, "ready running, 2 agents"},
		{"no agent has a server", func() {
			c.SessionEnded("ada")
			c.SessionEnded("bob")
			for range 5 {
				call("cy")
			}
		}, "failed no such server"},
		{"the user retries", func() {
			c.Reconnect()
			if err := c.Settle(t.Context()); err != nil {
				t.Error(err)
			}
		}, "ready idle"},
		{"what it lists has changed", func() { server.Change(); call("ada") }, "degraded hidden until you accept the change: 1 new"},
	} {
		row.do()
		testwait.Until(t, row.name+": "+row.want, func() bool { return s.now() == row.want })
	}
}
