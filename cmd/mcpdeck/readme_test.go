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

// TestTheReadmesExamplesOfTheConfigurationAreTaken reads what a user would copy.
func TestTheReadmesExamplesOfTheConfigurationAreTaken(t *testing.T) {
	b, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "`[keys]` with lines such as `")
	key, _, foundKey := strings.Cut(rest, "`")
	_, rest, _ = strings.Cut(rest, "```toml\n")
	file, _, foundFile := strings.Cut(rest, "```")
	if !foundKey || !foundFile {
		t.Fatal("the README has no example of the configuration")
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	path := filepath.Join(home, "config.toml")
	if err := os.WriteFile(path, []byte(file+"[keys]\n"+key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Flags{File: path, Port: -1, State: filepath.Join(home, "state")})
	if err != nil {
		t.Fatal(err)
	}
	if len(cfg.Warnings) > 0 {
		t.Errorf("warnings: %q", cfg.Warnings)
	}
	h, err := build(cfg, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer h.stop()
	for _, p := range tui.CheckKeys(h.screen(deckFlags{})) {
		t.Error(p.Text)
	}
}

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
