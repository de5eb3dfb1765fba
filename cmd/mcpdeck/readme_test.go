package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/clients"
	"github.com/mcpdeck/mcpdeck/tui"
)

var update = flag.Bool("update", false, "write the lists of keys, clients and packages into README.md and CONTRIBUTING.md")

// TestTheReadmesExamplesOfTheConfigurationAreTaken reads what a user would copy.
func TestTheReadmesExamplesOfTheConfigurationAreTaken(t *testing.T) {
	b, err := os.ReadFile(readmeFile)
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
	cfg, err := config.Load(config.Flags{File: path, Port: -1, State: filepath.Join(home, "state"), Pages: pageIDs()})
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
	h := built(t, true)
	written(t, readmeFile, "-run Keys -update -->\n", "<!-- end of keys -->", tui.KeyList(h.screen(deckFlags{})))
}

// TestClientsInTheReadme holds the README's table of clients to the one of the
// program.
func TestClientsInTheReadme(t *testing.T) {
	var b strings.Builder
	b.WriteString("| client | `mcpdeck setup` | project's file | a call may take | tools that come and go |\n|---|---|---|---|---|\n")
	for _, c := range clients.All() {
		if c.User == nil {
			continue
		}
		file := "–"
		if c.Project != nil {
			file = "`" + c.Project[0] + "`"
		}
		limit := "its default"
		switch {
		case c.Form.Timeout != "":
			limit = "1 h, set"
		case c.Limit > 0:
			limit = fmt.Sprintf("%.0f s", c.Limit.Seconds())
		}
		tools := "in its list"
		if c.KeepsTools {
			tools = "through one fixed tool"
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s |\n", c.Title, c.ID, file, limit, tools)
	}
	written(t, readmeFile, "-run Clients -update -->\n", "<!-- end of clients -->", b.String())
}

const readmeFile = "../../README.md"

// written holds a part of a document to a text, which -update writes there.
func written(t *testing.T, path, begin, end, want string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(path)
	before, rest, found := strings.Cut(string(b), begin)
	was, after, foundEnd := strings.Cut(rest, end)
	if !found || !foundEnd {
		t.Fatalf("%s has no place between %q and %q", name, begin, end)
	}
	want = strings.TrimSpace(want)
	if strings.TrimSpace(was) == want {
		return
	}
	if !*update {
		t.Fatalf("%s does not say what the program does: go test ./cmd/mcpdeck %s", name, strings.TrimSuffix(begin, " -->\n"))
	}
	if err := os.WriteFile(path, []byte(before+begin+"\n"+want+"\n\n"+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
