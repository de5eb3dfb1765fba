package setup

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

func prompter(t *testing.T) Prompter {
	t.Helper()
	return Prompter{Hook: []string{"/opt/mcpdeck", "hook"}, Root: t.TempDir(), State: t.TempDir(), Folders: clients.Folders{Home: t.TempDir()}}
}

// prepare puts a client's settings in place, and returns their path.
func prepare(t *testing.T, name string, p Prompter, settings string) string {
	t.Helper()
	c, err := promptsOf(name, p)
	if err != nil {
		t.Fatal(err)
	}
	path := c.Prompts.User(p.Folders)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func planned(t *testing.T, name string, p Prompter) *Change {
	t.Helper()
	change, err := PlanPrompts(name, p)
	if err != nil {
		t.Fatal(err)
	}
	return change
}

func takenBack(t *testing.T, name string, p Prompter) (exact bool) {
	t.Helper()
	u, err := UndoPrompts(name, p)
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Apply(); err != nil {
		t.Fatal(err)
	}
	return u.Exact()
}

const mine = `{"matcher": "Bash", "hooks": [{"type": "command", "command": "notify-send mine"}]}`

// settingsBefore are files as users have them.
func settingsBefore() []struct{ name, client, before string } {
	return []struct{ name, client, before string }{
		{"an empty object", "claude", "{}\n"},
		{"an empty file", "claude", ""},
		{"no line end at the end", "claude", "{\n  \"model\": \"opus\"\n}"},
		{"tabs", "claude", "{\n\t\"model\": \"opus\",\n\t\"permissions\": {\"allow\": [\"Bash(ls:*)\"]}\n}\n"},
		{"hooks of another tool in the same event", "claude", "{\n  \"hooks\": {\n    \"PermissionRequest\": [\n      " + mine + "\n    ],\n    \"Stop\": [" + mine + "]\n  }\n}\n"},
		{"hooks on one line", "claude", `{"hooks": {"PermissionRequest": [` + mine + `], "SessionStart": []}}`},
		{"other line ends", "claude", "{\r\n    \"hooks\": {\r\n        \"SessionEnd\": [\r\n            " + mine + "\r\n        ]\r\n    }\r\n}\r\n"},
		{"a byte order mark", "claude", "\ufeff{\n  \"theme\": \"dark\"\n}\n"},
		{"an empty list over two lines", "claude", "{\n  \"hooks\": {\n    \"Elicitation\": [\n    ]\n  }\n}\n"},
		{"comments", "gemini", "{\n  // mine\n  \"theme\": \"Atom\", /* dark */\n  \"hooks\": {\n    // all of them\n    \"AfterTool\": [\n      " + mine + "\n      // none below\n    ]\n  }\n}\n"},
		{"a comment alone in a list", "gemini", "{\"hooks\": {\"Notification\": [\n  // later\n]}}\n"},
		{"servers beside it", "gemini", "{\n  \"mcpServers\": {\"git\": {\"command\": \"git-mcp\", \"env\": {}}},\n  \"security\": {\"auth\": {\"selectedType\": \"x\"}}\n}\n"},
		{"an empty file of hooks", "codex", ""},
		{"hooks with a description", "codex", "{\n  \"description\": \"mine\",\n  \"hooks\": {\n    \"Stop\": [" + mine + "]\n  }\n}\n"},
		{"hooks of the same event and other line ends", "codex", "{\"hooks\": {\r\n\t\"PermissionRequest\": [\r\n\t\t" + mine + "\r\n\t]\r\n}}\r\n"},
	}
}

func TestHooksAreAddedBehindOthersAndUndoneToTheByte(t *testing.T) {
	for _, tt := range settingsBefore() {
		t.Run(tt.name, func(t *testing.T) {
			p := prompter(t)
			p.Apart = tt.client == "codex"
			path := prepare(t, tt.client, p, tt.before)
			change := planned(t, tt.client, p)
			if err := change.Apply(); err != nil {
				t.Fatal(err)
			}
			after, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			c, err := promptsOf(tt.client, p)
			if err != nil {
				t.Fatal(err)
			}
			file, err := c.Prompts.Grammar.Decode(after)
			if err != nil {
				t.Fatalf("%v\n%s", err, after)
			}
			for _, e := range c.Prompts.Hooks {
				list, _ := file["hooks"].(map[string]any)[e.Event].([]any)
				last, _ := list[len(list)-1].(map[string]any)
				inner := last["hooks"].([]any)[0].(map[string]any)
				if inner["command"] != "/opt/mcpdeck hook "+tt.client || inner["timeout"] != float64(e.Timeout) || e.Async != (inner["async"] == true) {
					t.Errorf("%s: the last hook is %v", e.Event, inner)
				}
			}
			if strings.Count(tt.before, "mine\"") != strings.Count(string(after), "mine\"") {
				t.Errorf("the user's hooks are not all there:\n%s", after)
			}
			if again := planned(t, tt.client, p); !again.Same() {
				t.Errorf("a second run changes\n%s", again.Edit().After)
			}
			if !takenBack(t, tt.client, p) {
				t.Error("undone, but not to what was there")
			}
			if b, err := os.ReadFile(path); err != nil || string(b) != tt.before {
				t.Errorf("undone: %v\n%s", err, b)
			}
		})
	}
}

func TestSettingsBehindALinkAreEditedWhereTheyAre(t *testing.T) {
	p := prompter(t)
	path := prepare(t, "claude", p, "{}\n")
	real := filepath.Join(t.TempDir(), "dotfiles.json")
	if err := os.Rename(path, real); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, path); err != nil {
		t.Skip("this system makes no links here: ", err)
	}
	change := planned(t, "claude", p)
	if err := change.Apply(); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(real); err != nil || !bytes.Contains(b, []byte("hook claude")) {
		t.Errorf("%v\n%s", err, b)
	}
	takenBack(t, "claude", p)
	if b, err := os.ReadFile(real); err != nil || string(b) != "{}\n" {
		t.Errorf("undone: %v\n%s", err, b)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
}

func TestOfSettingsThatChangedSinceTheHooksAloneAreTakenOut(t *testing.T) {
	for _, tt := range []struct{ name, client, before, from, to, want string }{
		{"a setting added", "claude", "{\n  \"model\": \"opus\"\n}\n", `"model": "opus"`, `"model": "haiku"`, "{\n  \"model\": \"haiku\"\n}\n"},
		{"another hook behind ours", "claude", `{"hooks": {"PermissionRequest": []}}`, "86400}]}", "86400}]}, " + mine, `"PermissionRequest": [` + "\n  " + mine + "\n]"},
		{
			"another hook in our group", "gemini", "{}\n", `"command": "/opt/mcpdeck hook gemini", "timeout": 10000}`,
			`"command": "/opt/mcpdeck hook gemini", "timeout": 10000}, {"type": "command", "command": "mine"}`, `{"hooks": [{"type": "command", "command": "mine"}]}`,
		},
		{"ours moved to the front and quoted", "claude", "{\"hooks\": {\"Elicitation\": [" + mine + "]}}\n", "/opt/mcpdeck hook", "'/my bin/mcpdeck' hook", `{"hooks": {"Elicitation": [` + mine + `]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := prompter(t)
			path := prepare(t, tt.client, p, tt.before)
			change := planned(t, tt.client, p)
			if err := change.Apply(); err != nil {
				t.Fatal(err)
			}
			edited := strings.ReplaceAll(string(change.edit.After), tt.from, tt.to)
			if edited == string(change.edit.After) {
				t.Fatalf("%q is not in\n%s", tt.from, edited)
			}
			if err := os.WriteFile(path, []byte(edited), 0o600); err != nil {
				t.Fatal(err)
			}
			if takenBack(t, tt.client, p) {
				t.Error("it says that the file is as it was")
			}
			b, err := os.ReadFile(path)
			if err != nil || bytes.Contains(b, []byte("mcpdeck")) || !bytes.Contains(b, []byte(tt.want)) {
				t.Errorf("%v, want %s in\n%s", err, tt.want, b)
			}
			if _, err := UndoPrompts(tt.client, p); err == nil || !strings.Contains(err.Error(), "nothing to undo") {
				t.Errorf("a second time: %v", err)
			}
		})
	}
}

func TestHooksOfAnotherPathAreRenewedInTheirPlace(t *testing.T) {
	p := prompter(t)
	old := p
	old.Hook = []string{filepath.Join(p.Root, "gone dir", "mcpdeck"), "hook"}
	path := prepare(t, "claude", p, "{}\n")
	if err := planned(t, "claude", old).Apply(); err != nil {
		t.Fatal(err)
	}
	for _, s := range SurveyPrompts(p) {
		if s.Client.ID == "claude" && (s.State != Differs || len(s.Missing) != 1 || s.Missing[0] != old.Hook[0]) {
			t.Errorf("it stands as %d, missing %q", s.State, s.Missing)
		}
	}
	change := planned(t, "claude", p)
	if n := strings.Count(string(change.edit.After), "mcpdeck"); n != 4 || strings.Contains(string(change.edit.After), "gone") {
		t.Errorf("%d hooks of the deck:\n%s", n, change.edit.After)
	}
	if err := change.Apply(); err != nil {
		t.Fatal(err)
	}
	if !takenBack(t, "claude", p) {
		t.Error("undone, but not to what was there before the first")
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "{}\n" {
		t.Errorf("undone: %v\n%s", err, b)
	}
}

// TestHooksAreIndentedAsTheOnesBesideThem has hooks of an earlier setup in files of several
// styles, of which one is renewed and the others come beside it.
func TestHooksAreIndentedAsTheOnesBesideThem(t *testing.T) {
	const earlier, renewed = `{"hooks": [{"type": "command", "command": "/old/mcpdeck hook claude", "timeout": 86400}]}`, `{"hooks": [{"type": "command", "command": "/opt/mcpdeck hook claude", "timeout": 86400}]}`
	const brief = `{"hooks": [{"type": "command", "command": "/opt/mcpdeck hook claude", "async": true, "timeout": 10}]}`
	lines := func(open, event, element, closing, end string) (before, after string) {
		list := func(name, group string) string {
			return event + `"` + name + `": [` + element + group + closing + "]"
		}
		before = open + list("PermissionRequest", earlier) + end
		return before, open + list("PermissionRequest", renewed) + "," + list("Elicitation", renewed) + "," + list("SessionStart", brief) + "," + list("SessionEnd", brief) + end
	}
	for name, style := range map[string][5]string{
		"two spaces":                    {"{\n  \"hooks\": {", "\n    ", "\n      ", "\n    ", "\n  }\n}\n"},
		"four spaces":                   {"{\n    \"hooks\": {", "\n        ", "\n            ", "\n        ", "\n    }\n}\n"},
		"tabs":                          {"{\n\t\"hooks\": {", "\n\t\t", "\n\t\t\t", "\n\t\t", "\n\t}\n}\n"},
		"tabs, two brackets on a line":  {"{\"hooks\": {", "\n\t", "\n\t\t", "\n\t", "\n}}\n"},
		"tabs, two at once":             {"{\"hooks\": {", "\n\t\t", "\n\t\t\t", "\n\t\t", "\n\t}\n}\n"},
		"spaces, two brackets":          {"{\"hooks\": {", "\n    ", "\n      ", "\n    ", "\n  }\n}\n"},
		"tabs, below an indented text":  {"/*\n * mine\n */\n{\n\t\"hooks\": {", "\n\t\t", "\n\t\t\t", "\n\t\t", "\n\t}\n}\n"},
		"no indentation, but new lines": {"{\n\"hooks\": {", "\n", "\n  ", "\n", "\n}\n}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			before, want := lines(style[0], style[1], style[2], style[3], style[4])
			h := hooksOf(clientOf(t, "claude"), "/opt/mcpdeck hook claude")
			h.grammar = clients.JSONC
			got, err := h.add([]byte(before))
			if err != nil || string(got) != want {
				t.Errorf("%v, got\n%s\nwant\n%s", err, got, want)
			}
		})
	}
	t.Run("compact", func(t *testing.T) {
		h := hooksOf(clientOf(t, "claude"), "/opt/mcpdeck hook claude")
		got, err := h.add([]byte(`{"hooks":{"PermissionRequest":[` + earlier + `],"SessionStart":[` + mine + `]}}`))
		want := `{"hooks":{"PermissionRequest":[` + renewed + `],"SessionStart":[` + mine + `, ` + brief + "],\n" +
			"  \"Elicitation\": [\n    " + renewed + "\n  ],\n  \"SessionEnd\": [\n    " + brief + "\n  ]\n}}"
		if err != nil || string(got) != want {
			t.Errorf("%v, got\n%s\nwant\n%s", err, got, want)
		}
	})
}

func clientOf(t *testing.T, name string) clients.Client {
	t.Helper()
	c, err := promptsOf(name, Prompter{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSettingsThatDisableHooksAreNamed(t *testing.T) {
	p := prompter(t)
	prepare(t, "claude", p, `{"disableAllHooks": true}`)
	change := planned(t, "claude", p)
	if len(change.Notes) != 1 || !strings.Contains(change.Notes[0], "disableAllHooks") {
		t.Errorf("notes %q", change.Notes)
	}
}

func TestSettingsWithHooksOfAnotherFormAreRefused(t *testing.T) {
	for _, before := range []string{`{"hooks": []}`, `{"hooks": {"PermissionRequest": {}}}`, `{"hooks": {"PermissionRequest": "x"}}`, `[]`, `{"a": 1 /* no */}`, `{"hooks": {}, "hooks": {}}`} {
		p := prompter(t)
		path := prepare(t, "claude", p, before)
		if _, err := PlanPrompts("claude", p); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", before, err)
		}
	}
}

func TestThePluginIsWrittenAndRemovedWholly(t *testing.T) {
	p := prompter(t)
	p.Project = true
	change := planned(t, "opencode", p)
	if err := change.Apply(); err != nil {
		t.Fatal(err)
	}
	if version, ours := agents.Of("opencode").Plugin.Own(change.edit.After); !ours || version == 0 {
		t.Errorf("the plugin does not know itself: %d, %v", version, ours)
	}
	if again := planned(t, "opencode", p); !again.Same() {
		t.Error("a second run changes it")
	}
	takenBack(t, "opencode", p)
	if _, err := os.Stat(filepath.Join(p.Root, ".opencode")); !os.IsNotExist(err) {
		t.Errorf("its folders are still there: %v", err)
	}
	if _, err := UndoPrompts("opencode", p); err == nil {
		t.Error("it was undone twice")
	}
	// Without the record, as after a restore of the home, the hash is enough.
	if err := planned(t, "opencode", p).Apply(); err != nil {
		t.Fatal(err)
	}
	p.State = t.TempDir()
	takenBack(t, "opencode", p)
	if _, err := os.Stat(change.Path); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}

func TestAPluginThatTheUserHasEditedStays(t *testing.T) {
	p := prompter(t)
	change := planned(t, "opencode", p)
	if err := change.Apply(); err != nil {
		t.Fatal(err)
	}
	edited := append(bytes.Clone(change.edit.After), "// mine\n"...)
	prepare(t, "opencode", p, string(edited))
	if _, err := PlanPrompts("opencode", p); err == nil || !strings.Contains(err.Error(), "not as mcpdeck wrote it") {
		t.Errorf("written over: %v", err)
	}
	if _, err := UndoPrompts("opencode", p); err == nil || !strings.Contains(err.Error(), "not as mcpdeck wrote it") {
		t.Errorf("removed: %v", err)
	}
}

func TestCodexNeedsNoSetup(t *testing.T) {
	p := prompter(t)
	if change := planned(t, "codex", p); change != nil {
		t.Errorf("it writes %s", change.Path)
	}
	if _, err := UndoPrompts("codex", p); err == nil || !strings.Contains(err.Error(), "need none") {
		t.Errorf("got %v", err)
	}
	if _, err := PlanPrompts("zed", p); err == nil || !strings.Contains(err.Error(), "claude, codex, ") {
		t.Errorf("got %v", err)
	}
}

func TestCodexsOwnDialogIsToldAndItsTrustIsLeftToTheUser(t *testing.T) {
	p := prompter(t)
	p.Apart = true
	change := planned(t, "codex", p)
	if err := change.Apply(); err != nil {
		t.Fatal(err)
	}
	told := strings.Join(change.Notes, "\n")
	for _, line := range []string{"Hooks need review", "Event     PermissionRequest", "Command   /opt/mcpdeck hook codex"} {
		if !strings.Contains(told, line) {
			t.Errorf("%q is not in\n%s", line, told)
		}
	}
	files, err := os.ReadDir(filepath.Dir(change.Path))
	if err != nil || len(files) != 1 || files[0].Name() != "hooks.json" {
		t.Errorf("it wrote %v, %v", files, err)
	}
	for _, s := range SurveyPrompts(p) {
		if s.Client.ID == "codex" && (s.State != SetUp || !s.Apart || s.Path != change.Path) {
			t.Errorf("it stands as %+v", s)
		}
	}
	if _, err := PlanPrompts("claude", p); err == nil || !strings.Contains(err.Error(), "without --hooks") {
		t.Errorf("of Claude Code: %v", err)
	}
}

func TestAHooksCommandIsOneThatTheShellReads(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("other quotes there")
	}
	c, _ := clients.Find("claude")
	p := Prompter{Hook: []string{"/it's/my bin/mcpdeck", "hook"}, Options: []string{"--name", "two", "--state", "/a b"}}
	if got := p.command(c); got != `'/it'\''s/my bin/mcpdeck' hook claude --name two --state '/a b'` {
		t.Errorf("got %s", got)
	}
}

func FuzzHooks(f *testing.F) {
	for _, s := range settingsBefore() {
		f.Add([]byte(s.before))
	}
	f.Add([]byte(`{"hooks":{"SessionEnd":[{"hooks":[{"command":"/x/mcpdeck hook gemini"},],},]}}`))
	f.Add([]byte(`{"hooks":{"AfterTool":[null,1,{"hooks":null},{"hooks":[1]}]}}`))
	c, _ := clients.Find("gemini")
	f.Fuzz(func(t *testing.T, before []byte) {
		h := hooksOf(c, "/opt/mcpdeck hook gemini")
		h.grammar = clients.JSONC
		after, err := h.add(before)
		if err != nil {
			return
		}
		if again, err := h.add(after); err != nil || !bytes.Equal(again, after) {
			t.Fatalf("%q became %q: %v", after, again, err)
		}
		without, err := h.remove(after)
		if err != nil {
			t.Fatalf("%q: %v", after, err)
		}
		plain, err := h.remove(before)
		if err != nil || !h.same(without, plain) {
			t.Fatalf("%q without the hooks is %q, want what %q is: %v", after, without, before, err)
		}
	})
}

func TestSignalsAreAddedAndUndoneByEitherCommand(t *testing.T) {
	const before = "{\n  \"hooks\": {\n    \"Stop\": [" + mine + "]\n  }\n}\n"
	for _, signals := range []bool{true, false} {
		p := prompter(t)
		p.Signals = true
		path := prepare(t, "claude", p, before)
		if err := planned(t, "claude", p).Apply(); err != nil {
			t.Fatal(err)
		}
		after, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, event := range []string{"PermissionRequest", "PostToolUse", "PostToolUseFailure", "Stop"} {
			if !strings.Contains(string(after), `"`+event+`"`) {
				t.Errorf("%s is missing in\n%s", event, after)
			}
		}
		if n := strings.Count(string(after), `"async": true`); n != 5 {
			t.Errorf("%d hooks are not waited for, want 5", n)
		}
		p.Signals = signals
		takenBack(t, "claude", p)
		if now, _ := os.ReadFile(path); strings.Contains(string(now), "mcpdeck") || !strings.Contains(string(now), "notify-send mine") || signals && string(now) != before {
			t.Errorf("undone with signals %t, it is\n%s", signals, now)
		}
	}
	p := prompter(t)
	p.Signals = true
	if _, err := PlanPrompts("gemini", p); err == nil {
		t.Error("signals of Gemini CLI are set up")
	}
}

func TestTheHookOfWhatIsDeniedIsAddedAndUndone(t *testing.T) {
	p := prompter(t)
	p.Denied = true
	path := prepare(t, "claude", p, "{}\n")
	if err := planned(t, "claude", p).Apply(); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(path); err != nil || !strings.Contains(string(after), `"PermissionDenied"`) || !strings.Contains(string(after), `"PermissionRequest"`) {
		t.Errorf("%v\n%s", err, after)
	}
	takenBack(t, "claude", p)
	if now, _ := os.ReadFile(path); string(now) != "{}\n" {
		t.Errorf("undone, it is\n%s", now)
	}
	if _, err := PlanPrompts("gemini", p); err == nil {
		t.Error("denials of Gemini CLI are set up")
	}
}
