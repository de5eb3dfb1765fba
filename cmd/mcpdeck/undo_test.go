//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
)

// TestUndoShowsWhatItDoesAndAsks answers no first, and then yes.
func TestUndoShowsWhatItDoesAndAsks(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	path := filepath.Join(d.project, ".cursor", "mcp.json")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	const mine = "{\n  \"mcpServers\": {}\n}\n"
	d.puts(path, []byte(mine))
	if out, err := d.command("setup", "cursor", "--yes").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, r := range []struct {
		answer string
		exit   int
		says   string
		undone bool
	}{{"\n", int(exit.Failed), "nothing was written", false}, {"n\n", int(exit.Failed), "nothing was written", false}, {"y\n", 0, "put back ~/shop/.cursor/mcp.json", true}} {
		s := d.shell("undo")
		d.shows(s, "[y/N]")
		for _, shown := range []string{"undo 1: setup cursor", "~/shop/.cursor/mcp.json", `-     "mcpdeck": {`} {
			if !strings.Contains(s.text(), shown) {
				t.Errorf("it asks without %q:\n%s", shown, s.text())
			}
		}
		s.press(r.answer)
		if n := s.ended(); n != r.exit || !strings.Contains(s.text(), r.says) {
			t.Errorf("%q: exit %d:\n%s", r.answer, n, s.text())
		}
		b, err := os.ReadFile(path)
		if err != nil || (string(b) == mine) != r.undone {
			t.Errorf("%q: %v\n%s", r.answer, err, b)
		}
	}
}
