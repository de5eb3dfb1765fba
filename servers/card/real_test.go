//go:build unix

package card

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/card/child"
	"github.com/mcpdeck/mcpdeck/servers/process"
	"github.com/mcpdeck/mcpdeck/servers/realtest"
)

// A real server lists more tools after its greeting, and does not end when its input
// is closed.
func TestARealServerIsACard(t *testing.T) {
	server := realtest.ServerOf(t, "everything", "stdio")
	o := Options{Name: "everything", OnDemand: true, Pins: filepath.Join(t.TempDir(), "pins.json"), Hooks: Hooks{Find: func() (Found, error) {
		return Found{Command: process.Of(server.Command, process.Install, os.Environ())}, nil
	}}}
	for _, running := range []bool{true, false} { // the second time it is listed without the program
		c := New(o)
		c.Start(Events{})
		c.switchedOn(t)
		s := c.Status()
		if (s.PID != 0) != running || len(s.Tools) < 13 || len(s.Held) != 0 {
			t.Errorf("process %d, %d tools, held %v", s.PID, len(s.Tools), s.Held)
		}
		r, err := c.Call(t.Context(), Invocation{Tool: "everything_echo", Args: json.RawMessage(`{"message":"hi"}`)})
		if err != nil || !strings.Contains(string(r.Raw), "Echo: hi") {
			t.Errorf("got %s, %v", r.JSON(), err)
		}
		var steps []child.Progress
		in := Invocation{Tool: "everything_trigger-long-running-operation", Args: json.RawMessage(`{"duration":1,"steps":3}`), Progress: func(p child.Progress) { steps = append(steps, p) }}
		if r, err := c.Call(t.Context(), in); err != nil || r.IsError || len(steps) < 3 {
			t.Errorf("got %s, %v, steps %v", r.JSON(), err, steps)
		}
		if s := c.Status(); len(s.Held) != 0 || s.OK != 2 {
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
