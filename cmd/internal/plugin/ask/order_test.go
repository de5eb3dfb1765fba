//go:build linux

package ask_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// TestCallsOfOneConnectionQueueInTheirOrder sends them in one go, and once more
// through the relay to a deck that knows nothing of them.
func TestCallsOfOneConnectionQueueInTheirOrder(t *testing.T) {
	t.Parallel()
	for _, server := range [][]string{{"mcp", "ask"}, {"ask-server"}} {
		t.Run(server[0], func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			d := w.open()
			const n = 15
			a := w.agent("claude-code", "shop", server...)
			burst := ""
			for i := range n {
				burst += fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"ask","arguments":{"questions":[{"question":"%02d?"}]}}}`+"\n", i+1, i)
			}
			a.Write(burst)
			ordered := func() {
				t.Helper()
				for i, it := range w.listed(n) {
					if want := fmt.Sprintf("%02d?", i); it.Questions[0].Question != want {
						t.Fatalf("at %d: %s", i, it.Questions[0].Question)
					}
				}
			}
			ordered()
			d.kill()
			if server[0] != "mcp" {
				return // each of its calls looks for a deck by itself; the deck's file has the order
			}
			if err := os.Remove(filepath.Join(w.home, ".local/state/mcpdeck/drafts.json")); err != nil && !errors.Is(err, os.ErrNotExist) { // it was not written yet
				t.Fatal(err)
			}
			w.open()
			ordered()
		})
	}
}

// TestProgressGoesOnInAnotherProcess kills the deck while a client is told that
// its call is alive.
func TestProgressGoesOnInAnotherProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.open()
	a := w.agent("claude-code", "shop", "mcp", "ask")
	a.ask(1, which)
	w.listed(1)
	last := -1.0
	progress := func() {
		t.Helper()
		for {
			select {
			case m, ok := <-a.Lines:
				if !ok {
					t.Fatal("the relay has ended")
				}
				if m["method"] != "notifications/progress" {
					continue
				}
				params, _ := m["params"].(map[string]any)
				at, _ := params["progress"].(float64)
				if at <= last {
					t.Fatalf("progress %v after %v", at, last)
				}
				last = at
				return
			case <-time.After(testwait.Patience):
				t.Fatal("no progress")
			}
		}
	}
	progress()
	for range 2 {
		time.Sleep(1100 * time.Millisecond) // progress counts whole seconds
		d.kill()
		d = w.open()
		progress()
	}
	if last < 2 {
		t.Errorf("the clock began anew: %v", last)
	}
}

// TestConnectWaitIsKept asks where no deck is: nothing is said before the time.
func TestConnectWaitIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const wait = 1500 * time.Millisecond
	a := w.agent("claude-code", "shop", "ask-server", "--connect-wait", wait.String())
	began := time.Now()
	a.ask(1, which)
	if got := text(a.Answer(1)); !strings.Contains(got, "mcpdeck is not running") {
		t.Errorf("told %q", got)
	}
	if took := time.Since(began); took < wait {
		t.Errorf("given up after %v", took)
	}
}
