//go:build unix

package setup

import (
	"cmp"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	socket "github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
)

// TestRealOpenCodeStartsNoLaterWithoutADeck starts the program in turns with the plugin,
// whose socket nobody serves, and without it, up to its first frame, and up to its first
// request of the model: all that it loads is loaded then.
func TestRealOpenCodeStartsNoLaterWithoutADeck(t *testing.T) {
	b := newInbox(t, "opencode")
	model := mockmodel.New(t, "deck")
	b.opencode(model.URL)
	plugin := filepath.Join(b.home, ".config/opencode/plugin/mcpdeck.js")
	text, err := os.ReadFile(plugin)
	if err != nil {
		t.Fatal(err)
	}
	path := socket.Path(socket.State(b.home), "")
	b.server.Close()
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	stale.Close()
	type start struct{ frame, request time.Duration }
	run := func(with bool) start {
		t.Helper()
		if err := os.Remove(plugin); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if with {
			b.write(".config/opencode/plugin/mcpdeck.js", string(text))
		}
		asked, begun := len(model.Bodies()), time.Now()
		term := b.terminal([]string{"OPENCODE_DISABLE_MODELS_FETCH=1"}, "--prompt", "go") // which may take any time
		b.until("the first request", func() bool { return len(model.Bodies()) > asked })
		took := start{request: time.Since(begun)}
		term.mu.Lock()
		took.frame = term.frame.Sub(begun)
		t.Logf("with the plugin %v: a frame after %v, a request after %v", with, took.frame.Round(time.Millisecond), took.request.Round(time.Millisecond))
		term.mu.Unlock()
		_ = term.cmd.Process.Kill() // nothing more is wanted of it
		return took
	}
	run(true) // it makes its files
	// What else the machine does makes single starts late, by more than the plugin could: the least of
	// some are compared, and of more of them where they differ, for what holds it up does so each time.
	const rounds, most = 3, 12
	var with, without []start
	late := func() (all []string) {
		for what, of := range map[string]func(start) time.Duration{
			"first frame": func(s start) time.Duration { return s.frame }, "first request": func(s start) time.Duration { return s.request },
		} {
			least := func(all []start) time.Duration {
				return of(slices.MinFunc(all, func(a, b start) int { return cmp.Compare(of(a), of(b)) }))
			}
			on, off := least(with), least(without)
			t.Logf("%s: with the plugin after %v at least, without it after %v", what, on, off)
			if off <= 0 || on > off*3/2 {
				all = append(all, what)
			}
		}
		return all
	}
	for len(with) < rounds || len(with) < most && late() != nil {
		without = append(without, run(false))
		with = append(with, run(true))
	}
	for _, what := range late() {
		t.Errorf("the plugin holds up OpenCode's %s", what)
	}
}
