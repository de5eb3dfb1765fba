package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setupcmd"
	"github.com/mcpdeck/mcpdeck/tui/page/servers"
)

// atHome has the user's files be in a folder of the test's, which it returns, with a way to load
// the configuration there.
func atHome(t *testing.T, files map[string]string) (home string, load func() *config.Config) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("clients' files are elsewhere on this system")
	}
	home = t.TempDir()
	for name, value := range map[string]string{"HOME": home, "PATH": home, "TMUX": "", "XDG_CONFIG_HOME": "", "MCPDECK_CONFIG": "", "CLAUDE_CONFIG_DIR": "", "CODEX_HOME": ""} {
		t.Setenv(name, value)
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home, func() *config.Config {
		cfg, err := config.Load(config.Flags{Sections: plugin.Sections(), Port: -1})
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
}

func TestAServerIsRemovedFromTheFilesOfClientsAndPutBack(t *testing.T) {
	const claude = `{"mcpServers": {"memory": {"command": "memory-mcp", "env": {"TOKEN": "s3cr3ts3cr3t"}}, "b": {"command": "b"}}}`
	home, load := atHome(t, map[string]string{".claude.json": claude, ".config/mcpdeck/servers.d/memory.toml": "command = ['memory-mcp']\nenv = { TOKEN = 's3cr3ts3cr3t' }\n"})
	p := serversPage{now: load}
	reads := func(want string) {
		t.Helper()
		if b, err := os.ReadFile(filepath.Join(home, ".claude.json")); err != nil || string(b) != want {
			t.Errorf("the file is %s, %v", b, err)
		}
	}
	if o := p.Origins()["memory"]; !slices.Equal(o.From, []string{"claude"}) || !o.Own {
		t.Fatalf("it is from %+v", o)
	}
	there, err := p.Elsewhere("memory")
	if err != nil || !slices.Equal(there.Clients, []string{"claude"}) || len(there.Rows) != 3 || there.Rows[0] != "~/.claude.json" || strings.Contains(there.Rows[1], "s3cr3t") {
		t.Fatalf("%v: %+v", err, there)
	}
	if _, err := p.RemoveElsewhere("memory", servers.Elsewhere{Clients: there.Clients, Rows: there.Rows[:2]}); err == nil {
		t.Error("what was not shown is changed")
	}
	reads(claude)
	id, err := p.RemoveElsewhere("memory", there)
	if err != nil {
		t.Fatal(err)
	}
	reads(`{"mcpServers": { "b": {"command": "b"}}}`)
	if there, err := p.Elsewhere("memory"); err != nil || len(there.Clients) > 0 {
		t.Errorf("it is offered again: %+v, %v", there, err)
	}
	if err := p.Undo(id); err != nil {
		t.Fatal(err)
	}
	reads(claude)
}

func TestTheScreenConnectsTheClientsThatAreTickedAndUndoesIt(t *testing.T) {
	const claude, codex = `{"mcpServers": {"memory": {"command": "memory-mcp"}}}`, "model = 'x'\n"
	home, load := atHome(t, map[string]string{".claude.json": claude, ".codex/config.toml": codex})
	c := Connector{Config: load}
	found := c.Clients()
	if len(found) != 2 || found[0].Name != "claude" || !slices.Equal(found[0].Files, []string{"~/.claude.json", "~/.claude/settings.json"}) || found[0].SetUp || !found[0].Apart {
		t.Fatalf("found %+v", found)
	}
	if none, err := c.Plan(nil); err != nil || len(none.Files) > 0 {
		t.Errorf("of none: %+v, %v", none, err)
	}
	p, err := c.Plan([]string{"claude"})
	if err != nil || p.Question != "Apply 4 changes to 4 files?" || p.Files[0].Path != "~/.claude.json" || p.Files[0].Does[0] != "adds mcpdeck to Claude Code" || len(p.Files[0].Lines) == 0 {
		t.Fatalf("%v: %+v", err, p)
	}
	done, err := p.Apply()
	if err != nil || len(done.Then) != 1 {
		t.Fatalf("%v: %v", err, done.Then)
	}
	if found = c.Clients(); !found[0].SetUp || found[0].Apart || found[1].SetUp {
		t.Errorf("once claude is set up: %+v", found)
	}
	if err := done.Undo(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{".claude.json": claude, ".codex/config.toml": codex} {
		if b, err := os.ReadFile(filepath.Join(home, name)); err != nil || string(b) != want {
			t.Errorf("%s is %q, %v", name, b, err)
		}
	}
}

// What the first page copies is read by any client that keeps servers as most do.
func TestTheCopiedConfigurationStartsThisDeck(t *testing.T) {
	cfg, err := config.Load(config.Flags{Sections: plugin.Sections(), Port: -1, State: filepath.Join(t.TempDir(), "state")})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(Connector{Config: func() *config.Config { return cfg }}.Snippet()), &got); err != nil {
		t.Fatal(err)
	}
	s := got.Servers["mcpdeck"]
	if want := []string{"mcp", "--state", cfg.Paths.State}; s.Command != setupcmd.EntryOf(cfg).Command || !slices.Equal(s.Args, want) {
		t.Errorf("it starts %q %q, want %q %q", s.Command, s.Args, setupcmd.EntryOf(cfg).Command, want)
	}
}
