//go:build linux

package claude

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const toolRules = `version = 1
[[rule]]
id = "e1"
verdict = "allow"
agent = ["claude"]
edit = { below = "docs", not = ["*.sh"] }
[[rule]]
id = "e2"
verdict = "deny"
tell = "Not the law."
edit = { below = "docs/law" }
[[rule]]
id = "f1"
verdict = "allow"
agent = ["claude"]
fetch = { hosts = ["go.dev"] }
[[rule]]
id = "c1"
verdict = "allow"
agent = ["claude"]
mcp = { server = "db", tool = "query", args = { "/limit" = "max:10" } }
[[rule]]
id = "c2"
verdict = "deny"
tell = "Not the law."
mcp = { server = "db", tool = "drop" }
`

const toldOfTools = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"Not the law."}}}`

// TestRulesAnswerForToolsThatRunNoCommand has Claude Code ask for edits, pages and calls of its own servers.
func TestRulesAnswerForToolsThatRunNoCommand(t *testing.T) {
	input := func(pairs ...string) map[string]any {
		out := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			out[pairs[i]] = pairs[i+1]
		}
		return out
	}
	edit := func(file string) map[string]any {
		return input("file_path", file, "old_string", "a", "new_string", "b")
	}
	const allow, deny, asked = ruledAllow, toldOfTools, ""
	for name, c := range map[string]struct {
		tool  string
		input map[string]any
		mode  string
		want  string
	}{
		"an edit":                            {"Edit", edit("docs/a.md"), "default", allow},
		"a file that is left out":            {"Edit", edit("docs/a.sh"), "default", asked},
		"a file elsewhere":                   {"Edit", edit("a.md"), "default", asked},
		"a file that is denied":              {"Edit", edit("docs/law/a.md"), "default", deny},
		"a file that gives power":            {"Edit", edit("docs/.claude/settings.json"), "default", asked},
		"a new file":                         {"Write", input("file_path", "docs/new.md", "content", "b"), "default", asked},
		"a link that leads elsewhere":        {"Edit", edit("docs/link"), "default", asked},
		"an edit that cannot be shown":       {"NotebookEdit", input("notebook_path", "docs/a.ipynb", "new_source", "b"), "default", asked},
		"an edit in plan mode":               {"Edit", edit("docs/a.md"), "plan", asked},
		"a page":                             {"WebFetch", input("url", "https://go.dev/doc", "prompt", "x"), "default", allow},
		"a page elsewhere":                   {"WebFetch", input("url", "https://go.dev.evil.com/", "prompt", "x"), "default", asked},
		"a call that is allowed":             {"mcp__db__query", map[string]any{"limit": 5}, "default", allow},
		"a call with other arguments":        {"mcp__db__query", map[string]any{"limit": 50}, "default", asked},
		"a call of another server":           {"mcp__other__query", map[string]any{"limit": 5}, "default", asked},
		"a call that is denied":              {"mcp__db__drop", map[string]any{"table": "a"}, "default", deny},
		"a tool of which nothing else tells": {"Task", input("prompt", "docs/a.md"), "default", asked},
	} {
		t.Run(name, func(t *testing.T) {
			_, set := ruled(t, toolRules, true)
			bubble(t, set, func(d *desk) {
				for _, dir := range []string{"docs/law", "docs/.claude"} {
					if err := os.MkdirAll(filepath.Join(d.project, dir), 0o700); err != nil {
						t.Fatal(err)
					}
				}
				for _, file := range []string{"a.md", "docs/a.md", "docs/a.sh", "docs/law/a.md", "docs/a.ipynb", "docs/.claude/settings.json"} {
					if err := os.WriteFile(filepath.Join(d.project, file), []byte("a\n"), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				if err := os.Symlink("../a.md", filepath.Join(d.project, "docs/link")); err != nil {
					t.Fatal(err)
				}
				for _, key := range []string{"file_path", "notebook_path"} {
					if p, is := c.input[key].(string); is && !strings.HasPrefix(p, "/") {
						c.input[key] = filepath.Join(d.project, p)
					}
				}
				more := suggests()
				more["permission_mode"], more["tool_name"], more["tool_input"] = c.mode, c.tool, c.input
				if h := d.bash("", more); c.want == asked {
					d.waits(h)
				} else {
					d.prints(h, c.want)
				}
			})
		})
	}
}
