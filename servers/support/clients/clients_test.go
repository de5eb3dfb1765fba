package clients

import (
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestEveryRowIsWhole says what a newcomer's row lacks.
func TestEveryRowIsWhole(t *testing.T) {
	ids := map[string]bool{}
	f := Folders{Home: "/home/user"}
	for _, c := range All() {
		t.Run(c.ID, func(t *testing.T) {
			if c.ID == "" || c.ID != strings.ToLower(c.ID) || ids[c.ID] || c.Title == "" {
				t.Errorf("ID %q and title %q: want one of its own, in lower case, and a title", c.ID, c.Title)
			}
			ids[c.ID] = true
			if len(c.Introduces) == 0 {
				t.Error("no name that it gives itself: nothing that is known of it would ever count")
			}
			for _, pattern := range c.Introduces {
				name := strings.Trim(pattern, "*")
				if pattern != strings.ToLower(pattern) || len(name) < 3 && name != pattern {
					t.Errorf("name %q: want lower case, and * only beside three letters or more", pattern)
				}
				if got, _ := Of(strings.ToUpper(name)); got.ID != c.ID {
					t.Errorf("name %q: got client %q, a row above takes it", name, got.ID)
				}
			}
			if got, ok := Find(c.ID); !ok || got.ID != c.ID {
				t.Errorf("found by its ID: got %q", got.ID)
			}
			if c.Section == "" {
				t.Error("no section: its file could not be written or searched")
			}
			var files []string
			if c.User != nil {
				files = c.User(f)
				if len(files) == 0 {
					t.Error("no file of the user's own, but a function for them")
				}
			}
			for _, file := range slices.Concat(files, c.Project) {
				if (path.Ext(file) == ".toml") != (c.Grammar == TOML) {
					t.Errorf("file %s is not of its grammar", file)
				}
			}
			for _, file := range c.Project {
				if path.IsAbs(file) || path.Clean(file) != file {
					t.Errorf("file %s: want one below a project, with slashes", file)
				}
			}
			if (c.Form.Timeout != "") != (c.Form.Unit > 0) {
				t.Errorf("limit %q in units of %v: want both or neither", c.Form.Timeout, c.Form.Unit)
			}
		})
	}
}

func TestClientsAreKnownByTheNamesTheyGiveThemselves(t *testing.T) {
	for name, want := range map[string]string{
		"claude-code": "claude", "Claude Code": "claude", "claude-ai": "claude-desktop", "claude-ai (via mcp-remote 0.1.37)": "claude-desktop",
		"codex-mcp-client": "codex", "gemini-cli-mcp-client": "gemini", "qwen-cli-mcp-client-mcpdeck": "qwen", "cursor-vscode": "cursor", "Visual Studio Code": "vscode",
		"omp-coding-agent": "oh-my-pi", "pi": "pi", "copilot-cli": "copilot", "kimi-code": "kimi", "copilot": "", "Kiro": "kiro", "kiro-cli": "", "": "",
	} {
		if got, ok := Of(name); got.ID != want || ok != (want != "") {
			t.Errorf("%q: got %q, want %q", name, got.ID, want)
		}
	}
}

func TestCommandsTakeAClientsIDOrItsName(t *testing.T) {
	for name, want := range map[string]string{"claude": "claude", "claude-code": "claude", "kiro-ide": "kiro", "claude-codes": "", "": ""} {
		if got, _ := Find(name); got.ID != want {
			t.Errorf("%q: got %q, want %q", name, got.ID, want)
		}
	}
}

func TestNamesFitPatternsWithAStarAtEitherEnd(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"a", "a", true},
		{"a", "ab", false},
		{"a*", "ab", true},
		{"a*", "ba", false},
		{"*a", "ba", true},
		{"*a", "ab", false},
		{"*a*", "bab", true},
		{"*a*", "b", false},
		{"*", "b", true},
		{"", "b", false},
	} {
		if got := Match(tt.pattern, tt.name); got != tt.want {
			t.Errorf("%q, %q: got %v, want %v", tt.pattern, tt.name, got, tt.want)
		}
	}
}

func TestAnEntryTellsTheLimitThatItRaises(t *testing.T) {
	server := Server{Command: "x", Args: []string{"mcp"}, Limit: time.Hour}
	member := func(f Form, key string) any {
		for _, m := range f.Members(server) {
			if m.Key == key {
				return m.Value
			}
		}
		return nil
	}
	f := Form{Timeout: "seconds", Unit: time.Second}
	if got := member(f, "seconds"); got != 3600 {
		t.Errorf("limit: got %v, want 3600", got)
	}
	if env, _ := member(f, "env").(map[string]string); env[LimitHint] != "3600000" {
		t.Errorf("environment: got %v, want the limit in milliseconds", env)
	}
	if got := member(Form{}, "env"); got != nil {
		t.Errorf("without a limit: got environment %v, want none", got)
	}
	if got := member(Form{Env: "environment"}, "environment"); got == nil {
		t.Error("an environment that is always written is missing")
	}
}

func TestAClientHasOneName(t *testing.T) {
	for _, tt := range []struct {
		want  string
		names []string
	}{
		{"claude", []string{"claude-code", "node"}},
		{"codex", []string{"codex-mcp-client", ""}},
		{"gemini", []string{"Gemini-CLI-mcp-client-deck"}},
		{"claude", []string{"shop-bot", "claude"}}, // the system says so
		{"shop-bot", []string{"shop-bot", "python3"}},
		{"unix", []string{"", "", "unix"}},
		{"", nil},
	} {
		if got := Name(tt.names...); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.names, got, tt.want)
		}
	}
}

func TestProgramsKeepWhatTheyDoWhereTheUserSays(t *testing.T) {
	f := Folders{Home: "/home/ana", Codex: "/srv/codex", Claude: "not absolute"}
	for id, want := range map[string]string{"claude": "/home/ana/.claude", "codex": "/srv/codex", "gemini": "/home/ana/.gemini", "qwen": "/home/ana/.qwen", "copilot": "/home/ana/.copilot", "kimi": "/home/ana/.kimi-code", "opencode": "", "nobody": ""} {
		if runtime.GOOS == "windows" && id == "codex" {
			continue // there, this path is not absolute
		}
		if got := filepath.ToSlash(f.Program(id)); got != want {
			t.Errorf("%s keeps it in %q, want %q", id, got, want)
		}
	}
}
