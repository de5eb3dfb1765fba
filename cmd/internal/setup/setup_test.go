package setup

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

func entry(t *testing.T) Entry {
	t.Helper()
	return Entry{Command: "/opt/mcpdeck", Root: t.TempDir(), State: t.TempDir(), Folders: clients.Folders{Home: t.TempDir()}}
}

// undo puts back what was before setup.
func undo(name string, e Entry) (exact bool, err error) {
	u, err := Undo(name, e)
	if err != nil {
		return false, err
	}
	return u.Exact(), u.Apply()
}

func TestEveryClientGetsAnEntryItCanRead(t *testing.T) {
	for _, c := range all() {
		t.Run(c.ID, func(t *testing.T) {
			e := entry(t)
			change, err := Plan(c.ID, e)
			if err != nil {
				t.Fatal(err)
			}
			if err := change.Apply(); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(change.Path)
			if err != nil {
				t.Fatal(err)
			}
			var any map[string]any
			if strings.HasSuffix(change.Path, ".toml") {
				err = toml.Unmarshal(b, &any)
			} else {
				err = json.Unmarshal(b, &any)
			}
			if err != nil || !strings.Contains(string(b), "/opt/mcpdeck") || !strings.Contains(string(b), `"mcp"`) {
				t.Fatalf("%v in\n%s", err, b)
			}
			// Those that never ask for a changed list of tools.
			fixed := slices.Contains([]string{"claude-desktop", "codex", "cursor", "kimi", "kiro"}, c.ID)
			if strings.Contains(string(b), "--gateway") != fixed {
				t.Errorf("with the gateway: %v\n%s", !fixed, b)
			}
			again, err := Plan(c.ID, e)
			if err != nil || !again.Same() {
				t.Errorf("a second time changes something: %v\n%s", err, again.Edit().After)
			}
			if _, err := undo(c.ID, e); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(change.Path); !os.IsNotExist(err) {
				t.Errorf("the file that was not there before is still there")
			}
		})
	}
}

func TestEditingKeepsWhatIsThere(t *testing.T) {
	tests := []struct{ name, before, after string }{
		{"comments and a trailing comma", `{
	// mine
	"mcpServers": {
		"other": {"command": "x"}, // keep
	},
	"a": 1,
}
`, `{
	// mine
	"mcpServers": {
		"other": {"command": "x"}, // keep
		"mcpdeck": {
			"command": "/opt/mcpdeck",
			"args": ["mcp", "--gateway"]
		},
	},
	"a": 1,
}
`},
		{"no servers yet", `{
  "a": 1
}
`, `{
  "a": 1,
  "mcpServers": {
    "mcpdeck": {
      "command": "/opt/mcpdeck",
      "args": ["mcp", "--gateway"]
    }
  }
}
`},
		{"an entry of ours", `{"mcpServers": {"mcpdeck": {"command": "old", "disabled": false, "args": []}, "z": {}}}
`, `{"mcpServers": {"mcpdeck": {"command": "/opt/mcpdeck", "disabled": false, "args": ["mcp", "--gateway"]}, "z": {}}}
`},
		{"an entry of ours by address", `{"mcpServers": {"mcpdeck": {"url": "http://127.0.0.1:7337/mcp"}}}
`, `{"mcpServers": {"mcpdeck": {
  "command": "/opt/mcpdeck",
  "args": ["mcp", "--gateway"]
}}}
`},
		{"a byte order mark and other line ends", "\ufeff{\r\n\t\"a\": 1\r\n}\r\n", "\ufeff{\r\n\t\"a\": 1,\r\n\t\"mcpServers\": {\r\n\t\t\"mcpdeck\": {\r\n" +
			"\t\t\t\"command\": \"/opt/mcpdeck\",\r\n\t\t\t\"args\": [\"mcp\", \"--gateway\"]\r\n\t\t}\r\n\t}\r\n}\r\n"},
		{"nothing", ``, `{
  "mcpServers": {
    "mcpdeck": {
      "command": "/opt/mcpdeck",
      "args": ["mcp", "--gateway"]
    }
  }
}
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := entry(t)
			path := filepath.Join(e.Root, ".cursor", "mcp.json")
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(tt.before), 0o600); err != nil {
				t.Fatal(err)
			}
			change, err := Plan("cursor", e)
			if err != nil {
				t.Fatal(err)
			}
			if string(change.edit.After) != tt.after {
				t.Fatalf("got\n%s\nwant\n%s", change.edit.After, tt.after)
			}
			if err := change.Apply(); err != nil {
				t.Fatal(err)
			}
			if _, err := undo("cursor", e); err != nil {
				t.Fatal(err)
			}
			if b, err := os.ReadFile(path); err != nil || string(b) != tt.before {
				t.Errorf("undone: %v\n%s", err, b)
			}
		})
	}
}

func TestAFileThatChangedMeanwhileIsLeftAlone(t *testing.T) {
	e := entry(t)
	change, err := Plan("codex", e)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(change.Path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(change.Path, []byte("model = \"x\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := change.Apply(); err == nil || !strings.Contains(err.Error(), "changed meanwhile") {
		t.Fatalf("got %v", err)
	}
	if change, err = Plan("codex", e); err != nil {
		t.Fatal(err)
	}
	if err := change.Apply(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(change.Path, append(change.edit.After, "# mine\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if exact, err := undo("codex", e); err != nil || exact {
		t.Fatalf("exact %v, %v", exact, err)
	}
	if b, err := os.ReadFile(change.Path); err != nil || string(b) != "model = \"x\"\n# mine\n" {
		t.Fatalf("without the entry alone: %v\n%s", err, b)
	}
	if err := change.Apply(); err == nil {
		t.Fatal("a plan from another file was written")
	}
	if change, err = Plan("codex", e); err != nil {
		t.Fatal(err)
	}
	if err := change.Apply(); err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(string(change.edit.After), "[\"mcp\"", "[\"mcp\", \"ask\"", 1)
	if err := os.WriteFile(change.Path, []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := undo("codex", e); err == nil || !strings.Contains(err.Error(), "by hand") {
		t.Fatalf("with another entry of the user's: %v", err)
	}
	if err := os.WriteFile(change.Path, []byte("model = \"x\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := undo("codex", e); err == nil || !strings.Contains(err.Error(), "nothing to undo") {
		t.Fatalf("after the user has taken the entry out: %v", err)
	}
}

// The screen sets up the user's own file; the command line, in a project, means the
// project's first.
func TestUndoFindsTheFileThatSetupChanged(t *testing.T) {
	e := entry(t)
	own := e
	own.User = true
	apply := func(e Entry) string {
		t.Helper()
		change, err := Plan("claude", e)
		if err != nil {
			t.Fatal(err)
		}
		if err := change.Apply(); err != nil {
			t.Fatal(err)
		}
		return change.Path
	}
	inOwn, inProject := apply(own), apply(e)
	for i, want := range []string{inProject, inOwn} {
		u, err := Undo("claude", e)
		if err != nil {
			t.Fatalf("undo %d: %v", i+1, err)
		}
		if len(u.Files) != 1 || u.Files[0].Path != want {
			t.Fatalf("undo %d is of %v, want %s", i+1, u.Files, want)
		}
		if err := u.Apply(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Undo("claude", e); err == nil || !strings.Contains(err.Error(), inProject) {
		t.Errorf("with nothing left: %v, want an error about %s", err, inProject)
	}

	// What is in the way in the project is not passed over.
	apply(own)
	apply(e)
	if err := os.WriteFile(inProject, []byte(`{"mcpServers": {"mcpdeck": {"command": "other"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Undo("claude", e); err == nil || !strings.Contains(err.Error(), inProject) {
		t.Errorf("with a changed file in the project: %v, want an error about %s", err, inProject)
	}
}

func TestPlanRefuses(t *testing.T) {
	e := entry(t)
	if _, err := Plan("nope", e); err == nil || !strings.Contains(err.Error(), "claude") {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(filepath.Join(e.Root, ".mcp.json"), []byte(`{"mcpServers": [`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Plan("claude", e); err == nil || !strings.Contains(err.Error(), ".mcp.json") {
		t.Errorf("got %v", err)
	}
}

func FuzzEditJSON(f *testing.F) {
	f.Add([]byte(`{"mcpServers":{},/*c*/}`))
	f.Add([]byte("{\n\t\"a\": 1 // x\n}"))
	f.Fuzz(func(t *testing.T, before []byte) {
		ms := entryOf(t, "cursor", "x")
		after, err := edit(clients.JSONC, before, "mcpServers", ms)
		if err != nil {
			return
		}
		v, err := hujson.Parse(bytes.TrimPrefix(after, []byte(clients.ByteOrderMark)))
		if err != nil || v.Find("/mcpServers/mcpdeck/command") == nil {
			t.Fatalf("%q became %q: %v", before, after, err)
		}
		if again, err := edit(clients.JSONC, after, "mcpServers", ms); err != nil || string(again) != string(after) {
			t.Fatalf("%q became %q: %v", after, again, err)
		}
	})
}

func FuzzEditTOML(f *testing.F) {
	f.Add([]byte("mcp_servers = { a = { command = \"x\" } }\n"))
	f.Add([]byte("[mcp_servers.mcpdeck]\ncommand = \"old\" # mine\n\n[mcp_servers.mcpdeck.env]\nA = '1'\n"))
	f.Add([]byte("mcp_servers.mcpdeck.command = 'old'\n[x]\ny = 1"))
	f.Fuzz(func(t *testing.T, before []byte) {
		ms := entryOf(t, "codex", "x")
		after, err := edit(clients.TOML, before, "mcp_servers", ms)
		if err != nil {
			return
		}
		var file map[string]any
		err = toml.Unmarshal(bytes.TrimPrefix(after, []byte(clients.ByteOrderMark)), &file)
		servers, _ := file["mcp_servers"].(map[string]any)
		entry, _ := servers["mcpdeck"].(map[string]any)
		if err != nil || entry["command"] != "x" {
			t.Fatalf("%q became %q: %v", before, after, err)
		}
		if again, err := edit(clients.TOML, after, "mcp_servers", ms); err != nil || string(again) != string(after) {
			t.Fatalf("%q became %q: %v", after, again, err)
		}
	})
}

// entryOf are the members that a client's entry gets.
func entryOf(t *testing.T, name, command string) []clients.Member {
	t.Helper()
	c, ok := find(name)
	if !ok {
		t.Fatalf("no client %s", name)
	}
	return c.members(Entry{Command: command})
}
