package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/tui"
)

var update = flag.Bool("update", false, "write the list of keys into the README")

// TestKeysInTheReadme holds the README's list of keys to the table of actions.
func TestKeysInTheReadme(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	cfg, err := config.Load(config.Flags{Port: -1, State: filepath.Join(t.TempDir(), "state")})
	if err != nil {
		t.Fatal(err)
	}
	h, err := build(cfg, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer h.stop()
	keys := strings.TrimSpace(tui.KeyList(h.screen(deckFlags{})))
	const path, begin, end = "../../README.md", "-run Keys -update -->\n", "<!-- end of keys -->"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(b), begin)
	was, after, foundEnd := strings.Cut(rest, end)
	if !found || !foundEnd {
		t.Fatal("the README has no place for the keys")
	}
	if strings.TrimSpace(was) == keys {
		return
	}
	if !*update {
		t.Fatal("the README's keys are not those of the program: go test ./cmd/mcpdeck -run Keys -update")
	}
	if err := os.WriteFile(path, []byte(before+begin+"\n"+keys+"\n\n"+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
