package agents_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/rules/granted"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

const (
	claudeUser = `{
  // mine
  "permissions": {
    "allow": [
      "Bash(git log:*)", // reads
      /* more */ "Edit",
      "Bash(xargs:*)"
    ],
    "deny": ["Bash(rm:*)"], "defaultMode": "acceptEdits"
  }
}
`
	codexRules = `# mine
prefix_rule(pattern=["go", ["test", "vet"]], decision="allow") # tests
prefix_rule(
    pattern = ["git", "log"],
    justification = 'a "log"',
)
prefix_rule(pattern=["rm"], decision="forbidden", justification="no")
`
	codexConfig = `model = "x"
approval_policy = "never" # asks nothing
[profiles.all]
sandbox_mode = "danger-full-access"
`
	openUser    = `{"permission": {"edit": "allow", "bash": {"*": "ask", "ls *": "allow", "rm *": "deny"}}}`
	openProject = `{
  "permission": {
    "bash": {
      "rm -f *": "allow",
      "find *": "allow"
    },
    "webfetch": "allow",
  },
}
`
)

// home is a prepared home with a project. The files are written with the line ends that are wanted.
func home(t *testing.T, crlf bool) granted.Where {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		".claude/settings.json": claudeUser, "shop/.claude/settings.json": claudeUser, "shop/.claude/settings.local.json": claudeUser,
		"etc/claude-code/managed-settings.json": claudeUser,
		".codex/rules/default.rules":            codexRules, ".codex/config.toml": codexConfig, "shop/.codex/rules/x.rules": codexRules,
		".config/opencode/opencode.json": openUser, "shop/opencode.json": openProject,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if crlf {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return granted.Where{Folders: clients.Folders{Home: dir}, Projects: []string{filepath.Join(dir, "shop")}, System: dir}
}

func TestEveryEntryIsListedWithItsLine(t *testing.T) {
	in := home(t, false)
	l := agents.Granted(in)
	if len(l.Skipped) > 0 {
		t.Errorf("not read: %v", l.Skipped)
	}
	var got []string
	for _, e := range l.Entries {
		rel, _ := filepath.Rel(in.Folders.Home, e.File)
		first, _, _ := strings.Cut(e.Text, "\n")
		got = append(got, fmt.Sprintf("%s:%d %s %s", filepath.ToSlash(rel), e.Line, e.Verdict, first))
	}
	for _, file := range []string{"etc/claude-code/managed-settings.json", ".claude/settings.json", "shop/.claude/settings.json", "shop/.claude/settings.local.json"} {
		for _, want := range []string{":5 allow Bash(git log:*)", ":6 allow Edit", ":7 allow Bash(xargs:*)", ":9 deny Bash(rm:*)", ":9 allow defaultMode: acceptEdits"} {
			if !slices.Contains(got, file+want) {
				t.Errorf("%s%s is missing", file, want)
			}
		}
	}
	for _, want := range []string{
		`.codex/config.toml:2 allow approval_policy = "never"`, `.codex/config.toml:4 allow sandbox_mode = "danger-full-access"`,
		`.codex/rules/default.rules:2 allow prefix_rule(pattern=["go", ["test", "vet"]], decision="allow")`,
		`.codex/rules/default.rules:3 allow prefix_rule(`, `.codex/rules/default.rules:7 deny prefix_rule(pattern=["rm"], decision="forbidden", justification="no")`,
		`shop/.codex/rules/x.rules:3 allow prefix_rule(`,
		`.config/opencode/opencode.json:1 allow "edit": "allow"`, `.config/opencode/opencode.json:1 allow bash: "ls *": "allow"`,
		`shop/opencode.json:4 allow bash: "rm -f *": "allow"`, `shop/opencode.json:5 allow bash: "find *": "allow"`, `shop/opencode.json:7 allow "webfetch": "allow"`,
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if t.Failed() {
		t.Logf("listed:\n%s", strings.Join(got, "\n"))
	}
}

func TestMarksOfAllAgents(t *testing.T) {
	in := home(t, false)
	for want, marks := range map[string][]string{
		`opencode bash: "rm -f *": "allow"`:                                    {granted.WritesFiles, granted.BeatsDeny, granted.Repository},
		`opencode bash: "find *": "allow"`:                                     {granted.RunsAnything, granted.WritesFiles, granted.Repository},
		`opencode bash: "ls *": "allow"`:                                       {granted.WritesFiles},
		`codex sandbox_mode = "danger-full-access"`:                            {granted.RunsAnything, granted.WritesFiles, granted.Unsandboxed},
		`codex prefix_rule(pattern=["go", ["test", "vet"]], decision="allow")`: {granted.RunsAnything, granted.Unsandboxed},
	} {
		found := false
		for _, e := range agents.Granted(in).Entries {
			if e.Agent+" "+e.Text == want && slices.Equal(e.Marks, marks) {
				found = true
			} else if e.Agent+" "+e.Text == want {
				t.Logf("%s: %q", want, e.Marks)
			}
		}
		if !found {
			t.Errorf("%s is not marked %q", want, marks)
		}
	}
}

func TestRulesOfAFolderThatCodexDoesNotTrustAreMarked(t *testing.T) {
	for config, idle := range map[string]bool{"": true, "trusted": false, "untrusted": true} {
		in := home(t, false)
		text := codexConfig
		if config != "" {
			text += fmt.Sprintf("[projects.%q]\ntrust_level = %q\n", in.Projects[0], config)
		}
		if err := os.WriteFile(filepath.Join(in.Folders.Home, ".codex", "config.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, e := range agents.Granted(in).Entries {
			if e.Agent != "codex" || e.Verdict != granted.Allow {
				continue
			}
			n++
			if got := slices.Contains(e.Marks, granted.Untrusted); got != (idle && e.Scope == granted.Project) {
				t.Errorf("trust %q: %s of %s is marked %q", config, e.Text, e.Scope, e.Marks)
			}
		}
		if n < 6 {
			t.Errorf("trust %q: only %d entries", config, n)
		}
	}
}

// TestWithoutAnEntryAFileKeepsAllElse takes each entry out of its file and compares the bytes that are left with
// those of the file: they are a part of it, in order, and what was taken is the entry, its comma and its line.
func TestWithoutAnEntryAFileKeepsAllElse(t *testing.T) {
	for _, crlf := range []bool{false, true} {
		n := 0
		for _, e := range agents.Granted(home(t, crlf)).Entries {
			text, err := os.ReadFile(e.File)
			if err != nil {
				t.Fatal(err)
			}
			out, err := e.Without(text)
			if e.Scope == granted.Managed || e.Verdict != granted.Allow {
				if err == nil {
					t.Errorf("%s %s is taken out", e.File, e.Text)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", e.Text, err)
				continue
			}
			n++
			if len(text)-len(out) > e.Cuts[0].End-e.Cuts[0].Start+12 {
				t.Errorf("%s: too much has gone:\n%s", e.Text, out)
			}
			for _, comment := range []string{"// mine", "// reads", "/* more */", "# mine", "# tests", "# asks nothing"} {
				if strings.Contains(string(text), comment) != strings.Contains(string(out), comment) {
					t.Errorf("%s: the comment %q has gone:\n%s", e.Text, comment, out)
				}
			}
			if crlf && strings.Count(string(out), "\n") != strings.Count(string(out), "\r\n") {
				t.Errorf("%s: the line ends are mixed:\n%q", e.Text, out)
			}
			if _, err := e.Without(append(text, '\n')); err == nil {
				t.Errorf("%s is taken out of a file that has changed", e.Text)
			}
		}
		if n < 19 {
			t.Errorf("only %d entries were taken out", n)
		}
	}
}

func TestOddFilesAreNamedAndNotRead(t *testing.T) {
	in := home(t, false)
	dir := in.Folders.Home
	out := filepath.Join(t.TempDir(), "x.json")
	local := filepath.Join(dir, "shop", ".claude", "settings.local.json")
	for _, err := range []error{
		os.WriteFile(filepath.Join(dir, ".claude", "settings.json"), []byte(`{"a":"`+strings.Repeat("x", 1<<20)+`"}`), 0o600),
		os.WriteFile(out, []byte(claudeUser), 0o600), os.Remove(local), os.Symlink(out, local),
		os.WriteFile(filepath.Join(dir, "shop", "opencode.json"), []byte("{"), 0o600),
		os.WriteFile(filepath.Join(dir, ".codex", "rules", "default.rules"), []byte("x = 1\n"+codexRules), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	l := agents.Granted(in)
	why := map[string]string{}
	for _, s := range l.Skipped {
		why[s.File] = s.Why
	}
	for file, want := range map[string]string{
		filepath.Join(dir, ".claude", "settings.json"): "too large", local: "a link leads out", filepath.Join(dir, "shop", "opencode.json"): "cannot be understood",
	} {
		if !strings.Contains(why[file], want) {
			t.Errorf("%s: %q, want %q", file, why[file], want)
		}
	}
	for _, e := range l.Entries {
		if strings.HasSuffix(e.File, "default.rules") && e.Fixed == "" {
			t.Errorf("%s could be revoked in a file with more than rules", e.Text)
		}
		if why[e.File] != "" {
			t.Errorf("%s is read: %s", e.File, e.Text)
		}
	}
}
