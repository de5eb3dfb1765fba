//go:build unix

package upstream

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// A real server lists more tools after its greeting, and does not end when its input
// is closed.
func TestARealServerIsACard(t *testing.T) {
	server := realtest.ServerOf(t, "everything", "stdio")
	o := Options{Name: "everything", OnDemand: true, Pins: filepath.Join(t.TempDir(), "pins.json"), Hooks: Hooks{Find: func(From) (Found, error) {
		return Found{Command: process.Of(server.Command, process.Install, os.Environ())}, nil
	}}}
	for range 2 { // the second time it is listed without the program
		c := New(o)
		c.Start(Events{})
		c.switchedOn(t)
		s := c.Status()
		if len(s.Tools) < 13 || len(s.Held) != 0 {
			t.Errorf("%d tools, held %v", len(s.Tools), s.Held)
		}
		r, err := c.Call(t.Context(), Call{Tool: "everything_echo", Args: json.RawMessage(`{"message":"hi"}`)})
		if err != nil || !strings.Contains(string(r.Raw), "Echo: hi") {
			t.Errorf("got %s, %v", r.Raw, err)
		}
		var steps []child.Progress
		in := Call{Tool: "everything_trigger-long-running-operation", Args: json.RawMessage(`{"duration":1,"steps":3}`), Progress: func(p child.Progress) { steps = append(steps, p) }}
		if r, err := c.Call(t.Context(), in); err != nil || r.IsError || len(steps) < 3 {
			t.Errorf("got %s, %v, steps %v", r.Raw, err, steps)
		}
		if s := c.finished(t, 2); len(s.Held) != 0 || s.OK != 2 {
			t.Errorf("held %v, %d calls\n%s", s.Held, s.OK, s.Text(true))
		}
		pid := c.Status().PID
		if err := c.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if syscall.Kill(pid, 0) == nil {
			t.Errorf("process %d is left", pid)
		}
	}
}

// A real server that keeps thoughts from one call to the next does not mix those of two
// agents.
func TestARealServerKeepsTheThoughtsOfAgentsApart(t *testing.T) {
	server := realtest.ServerOf(t, "seqthink")
	for _, row := range []struct {
		share Share
		want  []string
	}{{ShareAuto, []string{"1", "1"}}, {ShareDeck, []string{"1", "2"}}} {
		t.Run(string(row.share), func(t *testing.T) {
			c := New(Options{Name: "think", OnDemand: true, Share: row.share, Hooks: Hooks{Find: func(From) (Found, error) {
				return Found{Command: process.Of(server.Command, process.Install, os.Environ())}, nil
			}}})
			c.Start(Events{})
			defer func() { _ = c.Stop(t.Context()) }()
			c.switchedOn(t)
			for i, agent := range []string{"ada", "bob"} {
				r, err := c.Call(t.Context(), Call{
					Tool: "think_sequentialthinking", From: From{Agent: agent, Root: "/"},
					Args: json.RawMessage(`{"thought":"x","thoughtNumber":1,"totalThoughts":1,"nextThoughtNeeded":false}`),
				})
				if err != nil || !strings.Contains(strings.ReplaceAll(string(r.Raw), `\`, ""), `"thoughtHistoryLength": `+row.want[i]) {
					t.Errorf("%s got %s, %v", agent, r.Raw, err)
				}
			}
		})
	}
}
