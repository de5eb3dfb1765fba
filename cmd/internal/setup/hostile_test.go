package setup

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Skip("this system makes no links here: ", err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestAProjectCannotHaveFilesWrittenElsewhere plants links in a repository, as
// a hostile one could, and looks at where they lead.
func TestAProjectCannotHaveFilesWrittenElsewhere(t *testing.T) {
	const victim = "# the user's shell\n"
	tests := []struct {
		name   string
		client string
		at     string // link in the project
		target string // below the user's home, "" for the home itself
		works  bool   // setup does its work all the same
	}{
		{"the file", "claude", ".mcp.json", ".bashrc", false},
		{"the folder of the file", "gemini", ".gemini", "", false},
		{"a folder further up", "kiro", ".kiro", "", false},
		{"a backup beside it", "claude", ".mcp.json.before-mcpdeck", ".bashrc", true},
		{"a temporary file beside it", "claude", ".mcp.json.new", ".bashrc", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := entry(t)
			home := e.Folders.Home
			write(t, filepath.Join(home, ".bashrc"), victim)
			if tt.works {
				write(t, filepath.Join(e.Root, ".mcp.json"), `{"mcpServers": {}}`)
			}
			link(t, filepath.Join(home, tt.target), filepath.Join(e.Root, tt.at))
			change, err := Plan(tt.client, e)
			if err == nil {
				err = change.Apply()
			}
			if tt.works != (err == nil) {
				t.Errorf("set up: %v", err)
			}
			if err != nil && !strings.Contains(err.Error(), "is a link") {
				t.Errorf("the error does not say why: %v", err)
			}
			_, undone := undo(tt.client, e)
			if tt.works != (undone == nil) {
				t.Errorf("undone: %v", undone)
			}
			if got := read(t, filepath.Join(home, ".bashrc")); got != victim {
				t.Errorf("the file outside became %q", got)
			}
			entries, err := os.ReadDir(home)
			if err != nil || len(entries) != 1 {
				t.Errorf("in the home now: %v, %v", entries, err)
			}
		})
	}
}

// TestTheUsersOwnFilesAreWrittenThroughLinks follows links as people set them
// for files that they keep in a repository of their own.
func TestTheUsersOwnFilesAreWrittenThroughLinks(t *testing.T) {
	for _, before := range []string{"model = 'x'\n", ""} {
		e := entry(t)
		kept := filepath.Join(t.TempDir(), "codex.toml")
		if before != "" {
			write(t, kept, before)
		}
		own := filepath.Join(e.Folders.Home, ".codex", "config.toml")
		link(t, kept, own)
		change, err := Plan("codex", e)
		if err != nil {
			t.Fatal(err)
		}
		if err := change.Apply(); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(own); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("the link was replaced: %v, %v", info.Mode(), err)
		}
		if got := read(t, kept); !strings.Contains(got, "mcp_servers.mcpdeck") {
			t.Errorf("the file behind the link holds %q", got)
		}
		if _, err := undo("codex", e); err != nil {
			t.Fatal(err)
		}
		if b, _ := os.ReadFile(kept); string(b) != before {
			t.Errorf("undone, it holds %q, want %q", b, before)
		}
		if _, err := os.Lstat(own); err != nil {
			t.Errorf("the link is gone: %v", err)
		}
	}
}

// TestAFileThatItsClientCannotReadIsNotEdited holds that setup says what is
// wrong instead.
func TestAFileThatItsClientCannotReadIsNotEdited(t *testing.T) {
	tests := []struct{ client, before, says string }{
		{"claude", "{\n // mine\n \"mcpServers\": {}\n}", "a comment"},
		{"claude", `{"mcpServers": {},}`, "a trailing comma"},
		{"gemini", "{\n // mine\n \"mcpServers\": {\"a\": {},}\n}", "a trailing comma"},
		{"crush", `{"mcp": [1,]}`, "a trailing comma"},
		{"cursor", `{"mcpServers": {}, "mcpServers": {"a": {}}}`, `duplicate name "mcpServers"`},
		{"cursor", `{"mcpServers": {"mcpdeck": {}, "mcpdeck": {}}}`, `duplicate name "mcpdeck"`},
		{"cursor", `{"mcpServers": {"m\u0063pdeck": {}, "mcpdeck": {}}}`, `duplicate name "mcpdeck"`},
		{"cursor", `{"mcpServers": null}`, "not a table"},
		{"cursor", `[]`, "read it as JSON"},
		{"cursor", `null`, "read it as JSON: it contains null"},
		{"claude", " null\n", "read it as JSON: it contains null"},
		{"codex", "[mcp_servers.a]\n[mcp_servers.a]\n", "line 2"},
		{"codex", "mcp_servers = 1\n", "not a table"},
	}
	for _, tt := range tests {
		t.Run(tt.client+" "+tt.says, func(t *testing.T) {
			e := entry(t)
			c, _ := find(tt.client)
			p, err := c.place(e)
			if err != nil {
				t.Fatal(err)
			}
			write(t, p.Path(), tt.before)
			if _, err := Plan(tt.client, e); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want %q in it", err, tt.says)
			}
		})
	}
}

func TestAFileKeepsItsPermissionsAndANewSharedOneHasTheUmasks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions are not kept in modes here")
	}
	mode := func(path string) fs.FileMode {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	e := entry(t)
	probe := filepath.Join(t.TempDir(), "probe")
	f, err := os.OpenFile(probe, os.O_CREATE, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	apply := func(client string, e Entry) string {
		t.Helper()
		change, err := Plan(client, e)
		if err != nil {
			t.Fatal(err)
		}
		if err := change.Apply(); err != nil {
			t.Fatal(err)
		}
		return change.Path
	}
	if got, want := mode(apply("claude", e)), mode(probe); got != want {
		t.Errorf("a project's new file has %v, want %v", got, want)
	}
	own := e
	own.User = true
	if got := mode(apply("claude", own)); got != 0o600 {
		t.Errorf("the user's new file has %v, want 0600", got)
	}
	kept := filepath.Join(e.Root, ".cursor", "mcp.json")
	write(t, kept, "{}")
	if err := os.Chmod(kept, 0o640); err != nil {
		t.Fatal(err)
	}
	apply("cursor", e)
	if got := mode(kept); got != 0o640 {
		t.Errorf("a file that was there has %v, want 0640", got)
	}
	if _, err := undo("cursor", e); err != nil || mode(kept) != 0o640 {
		t.Errorf("undone it has %v, %v", mode(kept), err)
	}
}

// TestEveryClientHasTheUsersOwnFile holds that --user is never ignored, and
// that nothing is written below the working folder without a project.
func TestEveryClientHasTheUsersOwnFile(t *testing.T) {
	for _, c := range all() {
		for _, e := range []Entry{
			{Root: "/project", User: true, Folders: clients.Folders{Home: "/home/user"}},
			{Folders: clients.Folders{Home: "/home/user"}},
		} {
			p, err := c.place(e)
			if err != nil {
				t.Fatal(err)
			}
			if got := filepath.ToSlash(p.Path()); !strings.HasPrefix(got, "/home/user/") {
				t.Errorf("%s with %+v: %s", c.ID, e, got)
			}
		}
	}
}

func TestClientsFilesAreWhereTheirVariablesSay(t *testing.T) {
	f := clients.Folders{Home: "/home/user", Config: "/cfg", Claude: "/cl", Codex: "/cx"}
	want := map[string]string{"claude": "/cl/.claude.json", "codex": "/cx/config.toml", "opencode": "/cfg/opencode/opencode.json", "crush": "/cfg/crush/crush.json"}
	for name, path := range want {
		c, _ := find(name)
		p, err := c.place(Entry{Folders: f})
		if err != nil || filepath.ToSlash(p.Path()) != path {
			t.Errorf("%s: got %s, %v, want %s", name, p.Path(), err, path)
		}
	}
}

func TestOpenCodesOtherFileIsUsedWhereItIsThere(t *testing.T) {
	e := entry(t)
	e.User = true
	path := filepath.Join(e.Folders.Home, ".config", "opencode", "opencode.jsonc")
	write(t, path, "{} // mine\n")
	change, err := Plan("opencode", e)
	if err != nil || change.Path != path {
		t.Errorf("got %v, %v, want %s", change, err, path)
	}
}

func TestTheFileThatAProjectHasIsUsed(t *testing.T) {
	for client, file := range map[string]string{"opencode": "opencode.jsonc", "crush": ".crush.json"} {
		e := entry(t)
		path := filepath.Join(e.Root, file)
		write(t, path, "{}\n")
		change, err := Plan(client, e)
		if err != nil || change.Path != path {
			t.Errorf("%s: got %v, %v, want %s", client, change, err, path)
		}
	}
}

func TestAgentsReachTheDeckOfAnotherStateFolder(t *testing.T) {
	e := entry(t)
	e.Options = []string{"--state", "/srv/deck"}
	for _, c := range all() {
		change, err := Plan(c.ID, e)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(change.edit.After); !strings.Contains(got, `"--state", "/srv/deck"`) {
			t.Errorf("%s starts another deck's relay:\n%s", c.ID, got)
		}
	}
}

func TestNotesFitWhereTheEntryGoes(t *testing.T) {
	e := entry(t)
	has := func(e Entry, text string) bool {
		t.Helper()
		change, err := Plan("claude", e)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(strings.Join(change.Notes, "\n"), text)
	}
	own := e
	own.User = true
	if !has(e, "Use this MCP server") || has(own, "Use this MCP server") {
		t.Error("that Claude Code asks is said of the wrong file")
	}
	if !has(e, "path on this machine") || has(own, "path on this machine") {
		t.Error("that a path is of this machine is said of the wrong file")
	}
	e.Command = "mcpdeck"
	if has(e, "path on this machine") {
		t.Error("a name is called a path")
	}
}

func TestUndoGoesBackToWhatWasThereBeforeSeveralSetups(t *testing.T) {
	e := entry(t)
	path := filepath.Join(e.Root, ".cursor", "mcp.json")
	const before = `{"a": 1}`
	write(t, path, before)
	for _, command := range []string{"/old/mcpdeck", "/opt/mcpdeck"} {
		e.Command = command
		change, err := Plan("cursor", e)
		if err != nil {
			t.Fatal(err)
		}
		if err := change.Apply(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := undo("cursor", e); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != before {
		t.Errorf("got %q, want %q", got, before)
	}
	if _, err := undo("cursor", e); err == nil || !strings.Contains(err.Error(), "nothing to undo") {
		t.Errorf("a second time: %v", err)
	}
}

func TestUndoTakesTheFoldersAwayThatWereMade(t *testing.T) {
	e := entry(t)
	change, err := Plan("kiro", e)
	if err != nil {
		t.Fatal(err)
	}
	if err := change.Apply(); err != nil {
		t.Fatal(err)
	}
	if _, err := undo("kiro", e); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(e.Root); err != nil || len(entries) != 0 {
		t.Errorf("left in the project: %v, %v", entries, err)
	}
}

func TestSurveyTellsWhoIsHereAndSetUp(t *testing.T) {
	e := entry(t)
	write(t, filepath.Join(e.Folders.Home, ".cursor", "mcp.json"), `{"mcpServers": {"mcpdeck": {"command": "/old/mcpdeck", "args": ["mcp"]}}}`)
	write(t, filepath.Join(e.Root, ".mcp.json"), "{")
	change, err := Plan("gemini", e)
	if err != nil {
		t.Fatal(err)
	}
	if err := change.Apply(); err != nil {
		t.Fatal(err)
	}
	got := map[string]Status{}
	for _, s := range Survey(e, func(program string) bool { return program == "codex" }) {
		got[s.Client] = s
	}
	for name, want := range map[string]Status{
		"cursor": {Installed: true, State: Differs},
		"claude": {State: Broken},
		"gemini": {State: SetUp},
		"codex":  {Installed: true},
		"zed":    {},
	} {
		if s := got[name]; s.Installed != want.Installed || s.State != want.State || (s.Err != nil) != (want.State == Broken) {
			t.Errorf("%s: got %+v, want %+v", name, s, want)
		}
	}
	if len(got) != len(Names()) {
		t.Errorf("%d clients of %d", len(got), len(Names()))
	}
}
