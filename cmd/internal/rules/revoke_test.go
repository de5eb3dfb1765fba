package rules

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/rules/granted"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

func TestRevokedEntriesComeBackByteForByte(t *testing.T) {
	dir := t.TempDir()
	shop := filepath.Join(dir, "shop")
	for name, text := range map[string]string{
		".claude/settings.json":           "{\r\n  \"permissions\": {\r\n    // mine\r\n    \"allow\": [\"Bash(xargs:*)\", \"Edit\"]\r\n  }\r\n}\r\n",
		"shop/.claude/settings.json":      "{\"permissions\":{\"allow\":[\n  \"Bash(find *)\"\n]}}",
		".codex/rules/default.rules":      "prefix_rule(pattern=[\"go\"], decision=\"allow\")\n# the last\n",
		"shop/opencode.json":              "{\"permission\": {\"bash\": {\"ls *\": \"allow\", /* no */ \"rm *\": \"deny\"}}}\n",
		".config/opencode/opencode.jsonc": "{\n\t\"permission\": \"allow\", // all\n}\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list := func() []granted.Entry {
		return agents.Granted(granted.Where{Folders: clients.Folders{Home: dir}, Projects: []string{shop}, System: dir}).Entries
	}
	j := change.Journal{Dir: filepath.Join(dir, "undo")}
	n := 0
	for i, e := range list() {
		if e.Verdict != granted.Allow {
			continue
		}
		n++
		before, err := os.ReadFile(e.File)
		if err != nil {
			t.Fatal(err)
		}
		d, err := without(&e)
		if err != nil {
			t.Fatalf("%s: %v", e.Text, err)
		}
		made, err := j.Apply("rules revoke", []change.Edit{d.Edit}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, left := range list() {
			if left.File == e.File && left.Text == e.Text {
				t.Errorf("%s is still there", e.Text)
			}
		}
		if _, err := without(&e); err == nil || !strings.Contains(err.Error(), "changed meanwhile") {
			t.Errorf("%s is revoked twice: %v", e.Text, err)
		}
		u, err := j.Plan(made)
		if err == nil {
			err = u.Apply()
		}
		after, _ := os.ReadFile(e.File)
		if err != nil || !bytes.Equal(before, after) {
			t.Errorf("undo of %s: %v\n%s", e.Text, err, after)
		}
		if again := list(); again[i].Text != e.Text {
			t.Errorf("%s is not back", e.Text)
		}
	}
	if n != 6 {
		t.Errorf("%d entries were revoked, want 6", n)
	}
}
