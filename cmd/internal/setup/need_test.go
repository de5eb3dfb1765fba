package setup

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// statusOf is how a client's prompts stand.
func statusOf(t *testing.T, name string, p Prompter) PromptStatus {
	t.Helper()
	for _, s := range SurveyPrompts(p) {
		if s.Client.ID == name {
			return s
		}
	}
	t.Fatalf("%s is not surveyed", name)
	return PromptStatus{}
}

func TestHooksThatAnotherProgramRunsAsWellNeverFail(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("two shells may read a command there, so it has none around it")
	}
	const guarded = `set -- /opt/mcpdeck hook claude; [ -x "$1" ] && "$@"; exit 0`
	p := prompter(t)
	p.Project = true
	path := filepath.Join(p.Root, ".claude", "settings.local.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	const bare = `{"hooks": {"PermissionRequest": [{"hooks": [{"type": "command", "command": "/opt/mcpdeck hook claude", "timeout": 86400}]}]}}`
	if err := os.WriteFile(path, []byte(bare), 0o600); err != nil {
		t.Fatal(err)
	}
	if s := statusOf(t, "claude", p); s.State != Differs || s.Path != path {
		t.Errorf("with a command that can fail it stands as %d in %s", s.State, s.Path)
	}
	change := planned(t, "claude", p)
	if n := strings.Count(string(change.Edit().After), strings.ReplaceAll(guarded, `"`, `\"`)); n != 4 {
		t.Errorf("%d hooks cannot fail, want 4:\n%s", n, change.Edit().After)
	}
	if err := change.Apply(); err != nil {
		t.Fatal(err)
	}
	if s := statusOf(t, "claude", p); s.State != SetUp || len(s.Missing) != 1 || s.Missing[0] != "/opt/mcpdeck" {
		t.Errorf("it stands as %d and misses %q", s.State, s.Missing)
	}
	if again := planned(t, "claude", p); !again.Same() {
		t.Errorf("a second run changes\n%s", again.Edit().After)
	}
	p.State = t.TempDir() // without the record, it is the commands that tell which hooks to take out
	takenBack(t, "claude", p)
	if b, err := os.ReadFile(path); err != nil || strings.Contains(string(b), "mcpdeck") {
		t.Errorf("undone: %v\n%s", err, b)
	}
	p.Project = false
	prepare(t, "claude", p, "{}\n")
	if own := planned(t, "claude", p); strings.Contains(string(own.Edit().After), "set --") {
		t.Errorf("the user's own hooks, which Claude Code alone runs, are\n%s", own.Edit().After)
	}
}

func TestTheSettingThatAnExtensionNeedsIsTurnedOnAndPutBack(t *testing.T) {
	for name, tt := range map[string]struct{ before, want string }{
		"no settings":     {"", "{\n  \"experimental\": true\n}\n"},
		"off":             {"{\"experimental\": false, \"theme\": \"dark\"}", "{\"experimental\": true, \"theme\": \"dark\"}"},
		"others, a comma": {"{\n\t// mine\n\t\"theme\": \"dark\",\n}\n", "{\n\t// mine\n\t\"theme\": \"dark\",\n\t\"experimental\": true,\n}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := prompter(t)
			file := filepath.Join(p.Folders.Home, ".copilot", "settings.json")
			if tt.before != "" {
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(tt.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			change := planned(t, "copilot", p)
			if n := len(change.Parts()); n != 2 || !strings.Contains(change.Says, `wants elevated permissions`) || !strings.Contains(change.Parts()[1].Does, "experimental") {
				t.Errorf("%d files change; it says %q", n, change.Says)
			}
			if err := change.Apply(); err != nil {
				t.Fatal(err)
			}
			if b, err := os.ReadFile(file); err != nil || string(b) != tt.want {
				t.Errorf("%v, want %q, got %q", err, tt.want, b)
			}
			if s := statusOf(t, "copilot", p); s.State != SetUp {
				t.Errorf("it stands as %d", s.State)
			}
			// An earlier version of the extension is renewed alone; undoing that undoes both.
			older := p
			older.Socket = "/elsewhere/prompts.sock"
			if err := planned(t, "copilot", older).Apply(); err != nil {
				t.Fatal(err)
			}
			if !takenBack(t, "copilot", p) {
				t.Error("undone, but not to what was there")
			}
			if b, err := os.ReadFile(file); string(b) != tt.before || tt.before == "" && !os.IsNotExist(err) {
				t.Errorf("undone: %v %q", err, b)
			}
			if _, err := os.Stat(change.Path); !os.IsNotExist(err) {
				t.Errorf("the extension is still there: %v", err)
			}
		})
	}
}

func TestASettingThatTheUserHasChangedSinceStays(t *testing.T) {
	p := prompter(t)
	if err := planned(t, "copilot", p).Apply(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(p.Folders.Home, ".copilot", "settings.json")
	if err := os.WriteFile(file, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s := statusOf(t, "copilot", p); s.State != Differs {
		t.Errorf("without the setting it stands as %d", s.State)
	}
	takenBack(t, "copilot", p)
	if b, err := os.ReadFile(file); err != nil || string(b) != "{}\n" {
		t.Errorf("undone: %v %q", err, b)
	}
}
