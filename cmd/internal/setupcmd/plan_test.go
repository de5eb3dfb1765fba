package setupcmd

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// three are clients with five servers, one of which two of them have.
func three() map[string]string {
	return map[string]string{
		".claude.json": `{
  "mcpServers": {
    "github": {"command": "gh-mcp", "env": {"GITHUB_TOKEN": "ghp_0123456789abcdefghijklmnopqrstuvwxyz"}},
    "memory": {"command": "memory-mcp"}
  }
}`,
		".codex/config.toml":    "model = \"x\" # mine\n\n[mcp_servers.gh]\ncommand = \"gh-mcp\"\nenv = { GITHUB_TOKEN = \"ghp_0123456789abcdefghijklmnopqrstuvwxyz\" }\n\n[mcp_servers.sqlite]\ncommand = \"sqlite-mcp\"",
		".gemini/settings.json": `{"ui": {"theme": "x"}, "mcpServers": {"notion": {"httpUrl": "https://notion.example/mcp"}, "tavily": {"command": "tavily-mcp"}}}`,
	}
}

// home is one with files, and its configuration.
func home(t *testing.T, files map[string]string) *config.Config {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("clients' files are elsewhere on this system")
	}
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("PATH", filepath.Join(dir, "bin"))
	for _, name := range []string{"XDG_CONFIG_HOME", "MCPDECK_CONFIG", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "TMUX"} {
		t.Setenv(name, "")
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		mode := fs.FileMode(0o600)
		if strings.HasPrefix(name, "bin/") {
			mode = 0o700
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	return load(t)
}

func load(t *testing.T) *config.Config {
	t.Helper()
	cfg, err := config.Load(config.Flags{Sections: plugin.Sections(), Port: -1})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// tree is what lies below a home, without mcpdeck's own state.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path) // it is below
		switch {
		case err != nil:
			return err
		case rel == ".local":
			return fs.SkipDir
		case d.IsDir():
			out[rel] = "folder"
			return nil
		}
		b, err := os.ReadFile(path)
		out[rel] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func applied(t *testing.T, p *Plan) string {
	t.Helper()
	diffs, err := p.Diffs()
	if err != nil {
		t.Fatal(err)
	}
	id, err := p.Apply(diffs)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestThreeClientsWithFiveServersAreOneChangeThatUndoTakesBackToTheByte(t *testing.T) {
	files := three()
	files[".tmux.conf"], files["bin/tmux"] = "set -g status-right '%H:%M'", "#!/bin/sh\n"
	cfg := home(t, files)
	before := tree(t, cfg.Home)
	p := New(cfg, Filter{})
	if p.Wanted() != 11 || len(p.Clients) != 3 || len(p.Remarks) > 0 { // 3 entries, 2 prompts, 5 servers, 1 line
		t.Fatalf("%d changes, clients %v, %q", p.Wanted(), p.Clients, p.Remarks)
	}
	id := applied(t, p)
	after := tree(t, cfg.Home)
	for path, want := range map[string]string{
		".claude.json": `"mcpdeck"`, ".claude/settings.json": "hook claude", ".codex/config.toml": "[mcp_servers.mcpdeck]",
		".config/mcpdeck/servers.d/github.toml": "ghp_", ".config/mcpdeck/servers.d/sqlite.toml": "sqlite-mcp",
		".tmux.conf": "status --format tmux",
	} {
		if !strings.Contains(after[path], want) {
			t.Errorf("%s has no %q:\n%s", path, want, after[path])
		}
	}
	if one := after[".gemini/settings.json"]; !strings.Contains(one, `"mcpdeck"`) || !strings.Contains(one, "hook gemini") || !strings.Contains(one, "notion.example") {
		t.Errorf("of two changes of one file, there are\n%s", one)
	}
	if again := New(load(t), Filter{}); again.Wanted() > 0 || slices.ContainsFunc(again.Clients, func(c Client) bool { return !c.SetUp }) {
		t.Errorf("once set up, there is to do: %v", again.Items)
	}

	j := change.Journal{Dir: cfg.Paths.Undo}
	e, err := j.Entry(id)
	if err != nil {
		t.Fatal(err)
	}
	u, err := j.Plan(e)
	if err != nil || !u.Exact() {
		t.Fatalf("%v, exact: %v", err, u.Exact())
	}
	if err := u.Apply(); err != nil {
		t.Fatal(err)
	}
	if got := tree(t, cfg.Home); !maps.Equal(got, before) {
		t.Errorf("it is\n%v\nand was\n%v", got, before)
	}
}

func TestUndoTakesBackTheChangesOfAllClientsToTheByte(t *testing.T) {
	texts := map[clients.Grammar]string{clients.TOML: "x = 1 # mine", clients.JSONC: "{\n\t// mine\n\t\"x\": [1,],\n}", clients.JSONWithComments: "{ /* mine */ }\n", clients.JSON: "{\"x\":1}"}
	for name, there := range map[string]bool{"files that are there": true, "files that are made": false} {
		t.Run(name, func(t *testing.T) {
			cfg := home(t, nil)
			var all []string
			for _, c := range clients.All() {
				if c.User == nil {
					continue
				}
				all = append(all, c.ID)
				path := c.User(cfg.ClientFolders())[0]
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if !there {
					continue
				}
				if err := os.WriteFile(path, []byte(texts[c.Grammar]), 0o640); err != nil {
					t.Fatal(err)
				}
			}
			before := tree(t, cfg.Home)
			p := New(cfg, Filter{Clients: all})
			if len(p.Clients) != len(all) || p.Wanted() < len(all)+3 || len(p.Remarks) > 0 {
				t.Fatalf("%d changes of %d clients, %q", p.Wanted(), len(p.Clients), p.Remarks)
			}
			j := change.Journal{Dir: cfg.Paths.Undo}
			e, err := j.Entry(applied(t, p))
			if err != nil {
				t.Fatal(err)
			}
			u, err := j.Plan(e)
			if err != nil {
				t.Fatal(err)
			}
			if err := u.Apply(); err != nil {
				t.Fatal(err)
			}
			if got := tree(t, cfg.Home); !maps.Equal(got, before) {
				t.Errorf("it is\n%v\nand was\n%v", got, before)
			}
		})
	}
}

func TestAFailurePutsAllFilesBack(t *testing.T) {
	cfg := home(t, three())
	p := New(cfg, Filter{})
	diffs, err := p.Diffs()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cfg.Home, ".config"), nil, 0o600); err != nil { // where the servers' folder would be
		t.Fatal(err)
	}
	before := tree(t, cfg.Home)
	if _, err := p.Apply(diffs); err == nil {
		t.Fatal("it was applied")
	}
	after := tree(t, cfg.Home)
	delete(after, ".claude") // a folder that was made for a file stays, empty
	if !maps.Equal(after, before) {
		t.Errorf("it is\n%v\nand was\n%v", after, before)
	}
	if entries, err := (change.Journal{Dir: cfg.Paths.Undo}).Entries(); err != nil || len(entries) > 0 {
		t.Errorf("%d changes can be undone, %v", len(entries), err)
	}
}

func TestFiltersLeaveOutParts(t *testing.T) {
	cfg := home(t, three())
	for _, tt := range []struct {
		name   string
		filter Filter
		want   int
	}{
		{"all", Filter{}, 10},
		{"no prompts", Filter{NoPrompts: true}, 8},
		{"no import", Filter{NoImport: true}, 5},
		{"only prompts", Filter{NoEntries: true, NoImport: true}, 2},
		{"two clients", Filter{Clients: []string{"codex", "gemini"}, NoImport: true}, 3},
		{"a client that is not here", Filter{Clients: []string{"cursor", "zed"}}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if p := New(cfg, tt.filter); p.Wanted() != tt.want {
				t.Errorf("%d changes, want %d: %v", p.Wanted(), tt.want, p.Items)
			}
		})
	}
}

func TestWhatCannotBeChangedIsSaidAndTheRestIsPlanned(t *testing.T) {
	files := three()
	files[".codex/config.toml"] = "[["
	files[".cursor/mcp.json"] = `{"mcpServers": {"mcpdeck": {"command": "other"}}}`
	files[".gemini/settings.json"] = `{"mcpServers": {"bad": {"command": "run-it", "env": {"A": "${not a name}"}}}}`
	files[".config/mcpdeck/config.toml"] = "[prompts.agents]\nclaude = false\n"
	p := New(home(t, files), Filter{})
	said := strings.Join(p.Remarks, "\n")
	for _, want := range []string{"codex: left alone: ", "cursor: the entry in ~/.cursor/mcp.json is not the one", "config.toml: ", "claude: its prompts stay in its terminal: config.toml has prompts.agents.claude = false"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	if p.Wanted() == 0 || p.touches("codex") || p.touches("cursor") || !p.touches("claude") {
		t.Errorf("%v", p.Items)
	}
}

// run runs setup without a terminal.
func run(t *testing.T, cfg *config.Config, args ...string) (out string, code exit.Code) {
	t.Helper()
	c := Setup(Options{
		Load: func() (*config.Config, error) { return cfg, nil },
		Count: func(c *cobra.Command, _ *config.Config, all []settings.Card, noStart bool) error {
			c.Println("counting", len(all), noStart)
			return nil
		},
	})
	var b bytes.Buffer
	c.SetOut(&b)
	c.SetErr(&b)
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs(args)
	code, _ = exit.Of(c.Execute())
	return b.String(), code
}

func TestSetupWithoutATerminalWritesOnlyWithYes(t *testing.T) {
	cfg := home(t, three())
	before := tree(t, cfg.Home)
	out, code := run(t, cfg)
	if code != exit.Failed || !strings.Contains(out, "Apply 11 changes to 10 files?\nnothing was written") || strings.Contains(out, "ghp_") {
		t.Errorf("exit %d:\n%s", code, out)
	}
	if out, code = run(t, cfg, "--dry-run", "--yes"); code != 0 || !strings.Contains(out, "nothing was written") {
		t.Errorf("exit %d:\n%s", code, out)
	}
	if got := tree(t, cfg.Home); !maps.Equal(got, before) {
		t.Fatalf("it is\n%v", got)
	}
	out, code = run(t, cfg, "--yes", "--no-start")
	if code != 0 || !strings.Contains(out, "undo with: mcpdeck undo 1") || !strings.Contains(out, "codex: restart it if it runs.") || !strings.Contains(out, "counting 5 true") {
		t.Errorf("exit %d:\n%s", code, out)
	}
	if out, code = run(t, load(t)); code != 0 || !strings.Contains(out, "every client found here has mcpdeck: claude, codex, gemini\n") {
		t.Errorf("again: exit %d:\n%s", code, out)
	}
}

func TestSetupPrintsItsPlanAsChecks(t *testing.T) {
	cfg := home(t, three())
	before := tree(t, cfg.Home)
	var v struct {
		Checks []struct {
			Name, Detail, Fix string
			OK                bool
			Diff              []string
		}
		Applied bool
	}
	out, code := run(t, cfg, "--json")
	if err := json.Unmarshal([]byte(out), &v); err != nil || code != 0 || v.Applied || !maps.Equal(tree(t, cfg.Home), before) {
		t.Fatalf("%v, exit %d, %s", err, code, out)
	}
	if c := v.Checks[0]; c.Name != "claude" || c.OK || c.Detail != "~/.claude.json, ~/.claude/settings.json" || c.Fix != "mcpdeck setup" {
		t.Errorf("%+v", c)
	}
	if out, code = run(t, cfg, "--json", "--yes"); json.Unmarshal([]byte(out), &v) != nil || code != 0 || !v.Applied || !v.Checks[0].OK {
		t.Errorf("exit %d, %s", code, out)
	}
}

func TestNothingFoundNamesTheClientsAndGivesTheEntry(t *testing.T) {
	out, code := run(t, home(t, nil))
	if code != 0 || !strings.Contains(out, "mcpdeck knows: claude, codex, ") || !strings.Contains(out, `"args": ["mcp"]`) {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

func TestTheUserAgreesToWhatIsTicked(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		changes  int // 0: nothing is agreed to
		asked    string
	}{
		{"enter", "\n", 3, "\n~/.claude.json: adds mcpdeck to Claude Code\n~/.codex/config.toml: adds mcpdeck to Codex\n~/.gemini/settings.json: adds mcpdeck to Gemini CLI\n\nApply 3 changes to 3 files? [Y/n/choose] "},
		{"y", "y\n", 3, ""},
		{"no", "n\n", 0, ""},
		{"something else", "maybe\n", 0, ""},
		{"nothing", "", 0, ""},
		{"one is unticked", "choose\n2\n\ny\n", 2, "  2 [ ] ~/.codex/config.toml: adds mcpdeck to Codex"},
		{"one is unticked and ticked", "c\n2 9\n2\n\ny\n", 3, "there is no number 9"},
		{"all are unticked", "c\n1 2 3\n\n", 0, ""},
		{"giving up", "c\n1\nq\n", 0, ""},
		{"a server of mcpdeck's own is unticked", "c\n4\n\ny\n", 4, "  4 [x] Clippy stays on: 4 tools, ≈ 480 tokens per agent"},
		{"and ticked again", "c\n4\n4\n\ny\n", 3, "  4 [ ] Clippy stays on"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := home(t, three())
			own := Own{Title: "Clippy", Adds: snapshot.Count{Tools: 4, Context: 1920}, Mode: filepath.Join(cfg.Paths.CardState, "clippy", "mode")}
			p := New(cfg, Filter{NoPrompts: true, NoImport: true, Own: []Own{own}})
			var out strings.Builder
			diffs, err := p.agree(bufio.NewReader(strings.NewReader(tt.in)), &out)
			if err != nil || (diffs != nil) != (tt.changes > 0) || len(diffs) != tt.changes || !strings.Contains(out.String(), tt.asked) {
				t.Errorf("%v, %d files, %s", err, len(diffs), out.String())
			}
		})
	}
}
