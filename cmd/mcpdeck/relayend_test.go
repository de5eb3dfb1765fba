//go:build linux

package main

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// TestARelayEndsWithItsClient plays how clients leave the server that they have started. The
// protocol has them close its input, wait, and only then send signals.
func TestARelayEndsWithItsClient(t *testing.T) {
	t.Parallel()
	const which = `{"name":"ask","arguments":{"questions":[{"question":"Which?","header":"Which","options":[{"label":"a"},{"label":"b"}]}]}}`
	for name, tt := range map[string]struct {
		command  string
		question bool
		leave    func(t *testing.T, a *agent, deck *exec.Cmd)
	}{
		"its input ends": {"mcp", false, func(_ *testing.T, a *agent, _ *exec.Cmd) { a.In.Close() }},
		"it is told to end, and its input is open": {"mcp", false, func(t *testing.T, a *agent, _ *exec.Cmd) {
			t.Helper()
			if err := a.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
		}},
		"a question waits, and somebody reads": {"mcp", true, func(_ *testing.T, a *agent, _ *exec.Cmd) { a.In.Close() }},
		"a question waits, and nobody reads": {"mcp", true, func(_ *testing.T, a *agent, _ *exec.Cmd) {
			a.In.Close()
			a.Out.Close()
		}},
		"its own server for questions, and somebody reads": {"ask-server", true, func(_ *testing.T, a *agent, _ *exec.Cmd) { a.In.Close() }},
		"the deck is stuck, and there is more to say": {"mcp", false, func(t *testing.T, a *agent, deck *exec.Cmd) {
			t.Helper()
			if err := deck.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = deck.Process.Signal(syscall.SIGCONT) })
			written := make(chan struct{})
			go func() {
				defer close(written)
				line := `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"x","arguments":{"a":"` + strings.Repeat("x", 1<<20) + `"}}}` + "\n"
				for { // until the relay is gone, or this end is closed
					if _, err := a.In.Write([]byte(line)); err != nil {
						return
					}
				}
			}()
			time.Sleep(time.Second) // the relay can pass on no more
			a.In.Close()
			a.Out.Close()
			<-written
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDriver(t)
			deck := d.serve()
			a := d.speaks(nil, tt.command)
			a.Handshake("leaving")
			if tt.question {
				a.Send(`"waits"`, "tools/call", which)
				d.until("a question", func() bool { return d.asked() == 1 })
			}
			tt.leave(t, a, deck)
			ended := make(chan error, 1)
			go func() { ended <- a.Cmd.Wait() }()
			select {
			case err := <-ended:
				if err != nil {
					t.Errorf("it ended with %v", err)
				}
			case <-time.After(testwait.Patience):
				t.Error("it goes on")
			}
			if tt.question && d.asked() != 1 {
				t.Error("its question is gone")
			}
		})
	}
}
