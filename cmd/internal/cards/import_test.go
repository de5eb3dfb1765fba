package cards

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

// machine is a home with a configuration, and clients' files in it by their path below.
func machine(t *testing.T, files map[string]string) (*config.Config, string) {
	t.Helper()
	if runtime.GOOS != "linux" && len(files) > 0 {
		t.Skip("clients' files are elsewhere on this system")
	}
	home := t.TempDir()
	for _, name := range []string{"HOME", "USERPROFILE"} {
		t.Setenv(name, home)
	}
	for _, name := range []string{"XDG_CONFIG_HOME", "MCPDECK_CONFIG", "CLAUDE_CONFIG_DIR", "CODEX_HOME"} {
		t.Setenv(name, "")
	}
	for name, text := range files {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := config.Load(config.Flags{Sections: plugin.Sections(), Port: -1, State: filepath.Join(home, "state")})
	if err != nil {
		t.Fatal(err)
	}
	return cfg, home
}

// imported plans an import of all clients.
func imported(t *testing.T, cfg *config.Config, root string, o Options) Import {
	t.Helper()
	sources, errs := OfClients(clients.All(), clients.Folders{Home: cfg.Home}, root)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	o.Config = cfg
	return Plan(sources, o)
}

// rows are a line each.
func rows(m Import) string {
	var out []string
	for _, r := range m.Rows {
		line := r.Source.Client.ID + " " + r.Entry.Name() + " -> "
		switch {
		case r.Card == "":
			line += "no: " + r.Why
		case !r.New:
			line += "= " + r.Card
		default:
			for _, c := range m.Cards {
				if c.Name == r.Card {
					line += r.Card + ": " + inOne(c)
				}
			}
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func TestServersOfAllClientsAreImported(t *testing.T) {
	cfg, home := machine(t, map[string]string{
		".claude.json": `{"numStartups": 3, "mcpServers": {
			"github": {"type": "stdio", "command": "npx", "args": ["-y", "gh@1"], "env": {"TOKEN": "${GH_TOKEN:-none}"}},
			"mcpdeck": {"command": "mcpdeck", "args": ["mcp"]},
			"proxied": {"command": "npx", "args": ["mcp-remote", "http://127.0.0.1:7337/mcp"]},
			"pencil": {"command": "/opt/pencil/server"},
			"broken": {"command": 5}
		}, "projects": {"/src/shop": {"mcpServers": {"db": {"command": "db-mcp"}}}}}`,
		".codex/config.toml": "model = 'x'\n[mcp_servers.github]\ncommand = 'npx'\nargs = ['-y', 'gh@2']\nenv_vars = ['GH_TOKEN']\nenabled_tools = ['a']\n" +
			"[mcp_servers.docs]\nurl = 'https://docs.example/mcp'\nbearer_token_env_var = 'DOCS'\n",
		".config/opencode/opencode.json": `{"mcp": { // mine
			"db": {"type": "local", "command": ["db-mcp"], "environment": {}, "enabled": false},
			"far": {"type": "remote", "url": "https://far.example/{env:ZONE}", "headers": {"X": "{file:/etc/x}"}},
			"near": {"type": "remote", "url": "https://near.example/", "headers": {"X": "{env:X}"}},
		},}`,
		".gemini/settings.json":                     `{"mcpServers": {"g": {"httpUrl": "https://g.example/mcp", "headers": {"K": "$KEY"}, "includeTools": ["a", "b"]}}}`,
		".config/crush/crush.json":                  `{"mcp": {"c": {"type": "stdio", "command": "c", "args": ["$(cat /etc/passwd)"]}, "d": {"type": "sse", "url": "https://d.example/sse"}}}`,
		".cursor/mcp.json":                          `{"mcpServers": {"e": {"command": "npx -y 'e e'", "env": {"P": "${workspaceFolder}${/}x", "H": "${userHome}", "E": "${env:E}"}}, "f": {"command": "a | b"}}}`,
		".config/Claude/claude_desktop_config.json": `{"mcpServers": {"lit": {"command": "x", "args": ["$HOME", "${HOME}"]}, "odd": {"command": "x", "args": ["${home}"]}}}`,
		".config/zed/settings.json":                 `{"context_servers": {"z": {"source": "custom", "command": {"path": "z", "args": ["1"], "env": {"A": "b"}}}}}`,
		".codeium/windsurf/mcp_config.json":         `{"mcpServers": {"w": {"serverUrl": "https://w.example/mcp"}}}`,
		".kiro/settings/mcp.json":                   `{"mcpServers": {"k": {"command": "k", "disabled": true, "autoApprove": ["*"], "disabledTools": ["rm"]}}}`,
		"project/.mcp.json":                         `{"mcpServers": {"github": {"command": "npx", "args": ["-y", "gh@1"], "env": {"TOKEN": "${GH_TOKEN:-none}"}}}}`,
	})
	got := rows(imported(t, cfg, filepath.Join(home, "project"), Options{}))
	want := `claude broken -> no: its command is not a list of texts
claude github -> github: npx -y gh@1 TOKEN=${env:GH_TOKEN:-none}
claude mcpdeck -> no: it runs mcpdeck itself
claude pencil -> no: mcpdeck includes Pencil: mcpdeck pencil on
claude proxied -> no: it runs mcpdeck itself
claude db -> db: db-mcp
claude github -> = github
codex docs -> docs: https://docs.example/mcp Authorization=Bearer ${env:DOCS}
codex github -> github-codex: npx -y gh@2
opencode db -> = db
opencode far -> no: it refers to {file:/etc/x}, which mcpdeck cannot replace
opencode near -> near: https://near.example/ X=${env:X}
gemini g -> g: https://g.example/mcp K=${env:KEY}
crush c -> no: it refers to $(cat /etc/passwd), which mcpdeck cannot replace
crush d -> d: https://d.example/sse
claude-desktop lit -> lit: x '$HOME' '${HOME}'
claude-desktop odd -> no: it has ${home}, which its client does not expand but mcpdeck would
cursor e -> e: npx -y 'e e' E=${env:E} H=${home} P=${root}/x
cursor f -> no: the command needs a shell
kiro k -> k: k
windsurf w -> w: https://w.example/mcp
zed z -> z: z 1 A=b`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	m := imported(t, cfg, "", Options{Only: []string{"k", "g", "d"}})
	if len(m.Cards) != 3 {
		t.Fatalf("of three names: %s", rows(m))
	}
	for _, c := range m.Cards {
		switch c.Name {
		case "g":
			if c.Verdict("a") != "allow" || c.Verdict("c") != "off" || c.Transport != "http" {
				t.Errorf("g: %+v", c)
			}
		case "k":
			if c.Verdict("rm") != "off" || c.Verdict("ls") != "allow" || c.Mode != "" {
				t.Errorf("k: %+v", c)
			}
		case "d":
			if c.Transport != "sse" {
				t.Errorf("d: %+v", c)
			}
		}
	}
}

func TestWhatAClientAsksItsUserForIsAskedOrKeptAsASecret(t *testing.T) {
	cfg, _ := machine(t, map[string]string{".config/Code/User/mcp.json": `{
		"inputs": [{"type": "promptString", "id": "key", "description": "API key", "password": true}, {"id": "zone", "description": "Zone"}, {"id": "lang", "default": "en"}],
		"servers": {"a": {"type": "http", "url": "https://a.example/${input:zone}/${input:lang}", "headers": {"K": "${input:key}"}}, "b": {"command": "${command:pick}"}}}`})
	m := imported(t, cfg, "", Options{})
	if len(m.Lacks) != 1 || m.Lacks[0].ID != "zone" || m.Lacks[0].Description != "Zone" {
		t.Fatalf("lacks %+v", m.Lacks)
	}
	m = imported(t, cfg, "", Options{Values: map[string]string{"zone": "eu"}})
	want := "vscode a -> a: https://a.example/eu/en K=${secret:a-key}\nvscode b -> no: it refers to ${command:pick}, which mcpdeck cannot replace"
	if got := rows(m); got != want || len(m.Lacks) > 0 {
		t.Errorf("got\n%s\nlacks %+v", got, m.Lacks)
	}
}

func TestAnImportLeavesWhatIsThere(t *testing.T) {
	cfg, _ := machine(t, map[string]string{
		".config/mcpdeck/servers.d/same.toml":  "command = ['one']\n",
		".config/mcpdeck/servers.d/other.toml": "command = ['two']\n",
		".cursor/mcp.json":                     `{"mcpServers": {"mine": {"command": "one"}, "other": {"command": "three"}, "ask": {"command": "four"}}}`,
	})
	m := imported(t, cfg, "", Options{})
	if got, want := rows(m), "cursor ask -> ask-cursor: four\ncursor mine -> = same\ncursor other -> other-cursor: three"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAFileIsReadInTheFormOfItsClient(t *testing.T) {
	dir := t.TempDir()
	for name, r := range map[string]struct{ text, want string }{
		".mcp.json":                  {`{"mcpServers": {"a": {"command": "${X}"}}}`, "claude a -> a: '${env:X}'"},
		"claude_desktop_config.json": {`{"mcpServers": {"a": {"command": "${X}"}}}`, "claude-desktop a -> a: '${X}'"},
		"any.json":                   {`{"servers": {"a": {"command": "${env:X}"}}}`, "vscode a -> a: '${env:X}'"},
		"settings.json":              {`{"mcp": {"servers": {"a": {"command": "x"}}}}`, "vscode a -> a: x"},
		"any.toml":                   {"[mcp_servers.a]\ncommand = 'x'\n", "codex a -> a: x"},
	} {
		cfg, _ := machine(t, nil)
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(r.text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := OfFile(path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := rows(Plan([]*Source{s}, Options{Config: cfg})); got != r.want {
			t.Errorf("%s: got %s, want %s", name, got, r.want)
		}
	}
	path := filepath.Join(dir, "nothing.json")
	if err := os.WriteFile(path, []byte(`{"a": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OfFile(path); err == nil {
		t.Error("a file without servers is taken")
	}
}

// TestEntriesAreTakenOverAndPutBack writes what clients have in their own ways, and
// holds the bytes around the entries.
func TestEntriesAreTakenOverAndPutBack(t *testing.T) {
	files := map[string][2]string{
		".claude.json": {
			"{\n  \"numStartups\": 3,\n  \"mcpServers\": {\n    \"a\": {\n      \"type\": \"http\",\n      \"url\": \"https://a.example/mcp\",\n      \"headers\": {\"K\": \"v\"}\n    }\n  },\n  \"projects\": {\n    \"/x\": {\"mcpServers\": {\"b\": {\"command\": \"b\", \"args\": [], \"env\": {\"S\": \"ecret\"}}}, \"history\": []}\n  }\n}\n",
			"{\n  \"numStartups\": 3,\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"/opt/mcpdeck\",\n      \"args\": [\"mcp\", \"a\", \"--as-is\"]\n    }\n  },\n  \"projects\": {\n    \"/x\": {\"mcpServers\": {\"b\": {\"command\": \"/opt/mcpdeck\", \"args\": [\"mcp\", \"b\", \"--as-is\"]}}, \"history\": []}\n  }\n}\n",
		},
		".codex/config.toml": {
			"# mine\n[mcp_servers.a]\nurl = 'https://a.example/mcp'\nhttp_headers = { K = 'v' }\nstartup_timeout_sec = 20 # slow\n\n[mcp_servers.b]\ncommand = 'b'\nenabled = true\n[mcp_servers.b.env]\nS = 'ecret'\n\n[tui]\nx = 1\n",
			"",
		},
		".config/opencode/opencode.json": {
			"{\n  // mine\n  \"mcp\": {\n    \"b\": {\"type\": \"local\", \"command\": [\"b\"], \"environment\": {\"S\": \"ecret\"}, \"enabled\": true}, // b\n  },\n}\n",
			"",
		},
		".kiro/settings/mcp.json":   {`{"mcpServers": {"b": {"command": "b", "env": {"S": "ecret"}, "autoApprove": ["x"], "disabled": false}}}`, ""},
		".config/zed/settings.json": {"{\n\t\"context_servers\": {\n\t\t\"b\": {\n\t\t\t\"source\": \"custom\",\n\t\t\t\"command\": {\"path\": \"b\", \"args\": [], \"env\": {\"S\": \"ecret\"}},\n\t\t\t\"settings\": {}\n\t\t}\n\t}\n}\n", ""},
	}
	texts := map[string]string{}
	for name, f := range files {
		texts[name] = f[0]
	}
	cfg, home := machine(t, texts)
	m := imported(t, cfg, "", Options{})
	if len(m.Cards) != 2 {
		t.Fatalf("cards:\n%s", rows(m))
	}
	edits, err := m.Edits(cfg, func(card string) []string { return []string{"/opt/mcpdeck", "mcp", card, "--as-is"} })
	if err != nil {
		t.Fatal(err)
	}
	j := change.Journal{Dir: cfg.Paths.Undo}
	if _, err := j.Apply("import", edits, nil); err != nil {
		t.Fatal(err)
	}
	for name := range files {
		b, err := os.ReadFile(filepath.Join(home, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		if strings.Contains(text, "ecret") || !strings.Contains(text, "/opt/mcpdeck") {
			t.Errorf("%s became\n%s", name, text)
		}
		for _, keep := range []string{"// mine", "# mine", "# slow", "autoApprove", "numStartups", "history", "settings\": {}", "[tui]", "enabled = true"} {
			if strings.Contains(texts[name], keep) && !strings.Contains(text, keep) {
				t.Errorf("%s lost %q:\n%s", name, keep, text)
			}
		}
		if want := files[name][1]; want != "" && text != want {
			t.Errorf("%s became\n%s\nwant\n%s", name, text, want)
		}
	}
	// A second import finds what leads to the deck.
	again, err := config.Load(config.Flags{Sections: plugin.Sections(), Port: -1, State: cfg.Paths.State})
	if err != nil {
		t.Fatal(err)
	}
	if m := imported(t, again, "", Options{}); len(m.Cards) != 0 || strings.Count(rows(m), "runs mcpdeck itself") != 7 {
		t.Errorf("again:\n%s", rows(m))
	}
	entries, err := j.Entries()
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	u, err := j.Plan(entries[0])
	if err != nil || !u.Exact() {
		t.Fatal(err)
	}
	if err := u.Apply(); err != nil {
		t.Fatal(err)
	}
	for name, want := range texts {
		if b, err := os.ReadFile(filepath.Join(home, filepath.FromSlash(name))); err != nil || string(b) != want {
			t.Errorf("%s is not what it was: %v\n%s", name, err, b)
		}
	}
	if left, err := filepath.Glob(filepath.Join(cfg.Paths.Cards, "*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestEntriesAreTakenOutAndPutBack has the deck start what clients start, too.
func TestEntriesAreTakenOutAndPutBack(t *testing.T) {
	files := map[string][2]string{
		".claude.json": {
			"{\n  \"mcpServers\": {\n    \"b\": {\"command\": \"b\", \"env\": {\"S\": \"ecret\"}},\n    \"a\": {\"command\": \"a\"}\n  },\n  \"projects\": {\"/x\": {\"mcpServers\": {\"c\": {\"command\": \"b\", \"env\": {\"S\": \"ecret\"}}}, \"history\": []}}\n}\n",
			"{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"a\"}\n  },\n  \"projects\": {\"/x\": {\"mcpServers\": {}, \"history\": []}}\n}\n",
		},
		".codex/config.toml": {
			"# mine\n[mcp_servers.b]\ncommand = 'b'\nenabled = true\n[mcp_servers.b.env]\nS = 'ecret'\n\n[tui]\nx = 1\n",
			"# mine\n\n[tui]\nx = 1\n",
		},
		".kiro/settings/mcp.json": {`{"mcpServers": {"b": {"command": "b", "env": {"S": "ecret"}}}}`, `{"mcpServers": {}}`},
		".config/opencode/opencode.json": {
			"{\n  // mine\n  \"mcp\": {\n    \"b\": {\"type\": \"local\", \"command\": [\"b\"], \"environment\": {\"S\": \"ecret\"}}, // b\n  },\n}\n",
			"{\n  // mine\n  \"mcp\": { // b\n  },\n}\n",
		},
		"p/.mcp.json": {`{"mcpServers": {"b": {"command": "b", "env": {"S": "ecret"}}}}`, `{"mcpServers": {"b": {"command": "b", "env": {"S": "ecret"}}}}`},
	}
	texts := map[string]string{}
	for name, f := range files {
		texts[name] = f[0]
	}
	cfg, home := machine(t, texts)
	root := filepath.Join(home, "p")
	edits, err := imported(t, cfg, root, Options{}).Edits(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	j := change.Journal{Dir: cfg.Paths.Undo}
	if _, err := j.Apply("import", edits, nil); err != nil {
		t.Fatal(err)
	}
	again, err := config.Load(config.Flags{Sections: plugin.Sections(), Port: -1, State: cfg.Paths.State})
	if err != nil {
		t.Fatal(err)
	}
	edits, err = imported(t, again, root, Options{}).Without("b")
	if err != nil {
		t.Fatal(err)
	}
	entry, err := j.Apply("remove b from claude", edits, nil)
	if err != nil {
		t.Fatal(err)
	}
	become := func(i int) {
		for name, f := range files {
			if b, err := os.ReadFile(filepath.Join(home, filepath.FromSlash(name))); err != nil || string(b) != f[i] {
				t.Errorf("%s became, %v,\n%s\nwant\n%s", name, err, b, f[i])
			}
		}
	}
	become(1)
	u, err := j.Plan(entry)
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Apply(); err != nil {
		t.Fatal(err)
	}
	become(0)
}

func TestCommandLinesAreTakenApart(t *testing.T) {
	for line, want := range map[string]string{
		`npx -y foo`: `["npx" "-y" "foo"]`, `a  'b c' "d e" f\ g`: `["a" "b c" "d e" "f g"]`, `a ""`: `["a" ""]`, `"a'b"`: `["a'b"]`, `a"b"'c'`: `["abc"]`,
		`a | b`: "", `a $X`: "", "a `b`": "", `a "$(b)"`: "", `a 'b`: "", `a \`: "", `a > b`: "", `'a|b'`: `["a|b"]`,
	} {
		words, ok := shellWords(line)
		if got := fmt.Sprintf("%q", words); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %v %s, want %s", line, ok, got, want)
		}
	}
}

func FuzzEntries(f *testing.F) {
	f.Add([]byte(`{"mcpServers": {"a": {"command": "a ${X} b", "args": [1, true], "env": {"A": "$B"}}}, "projects": {"/x": {"mcpServers": {"b": {"url": "u"}}}}}`))
	f.Add([]byte(`{"servers": {"a": {"command": {"path": "p"}, "env_vars": [{"name": "x"}]}}, "inputs": [{"id": 1}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := clients.JSONC.Decode(b)
		if err != nil {
			return
		}
		cfg := &config.Config{}
		for _, c := range clients.All() {
			m := Plan([]*Source{{Client: c, file: file}}, Options{Config: cfg})
			for _, card := range m.Cards {
				if err := cfg.CheckCardName(card.Name); err != nil {
					t.Fatal(err)
				}
				if _, _, err := card.Complete(card.Name); err != nil {
					t.Fatalf("%+v cannot be used: %v", card, err)
				}
			}
		}
	})
}
