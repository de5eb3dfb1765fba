//go:build unix

package setup

import (
	"os"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

func TestAStatusLineRunsTheUsersOwnAndIsUndone(t *testing.T) {
	for _, tt := range []struct{ name, before, own string }{
		{"none", "{\n  \"model\": \"opus\"\n}\n", ""},
		{"no file yet", "", ""},
		{"a program", "{\"statusLine\": {\"type\": \"command\", \"command\": \"~/bin/status\", \"padding\": 0}}\n", "~/bin/status"},
		{"a command with quotation marks", "{\n\t\"statusLine\": {\n\t\t\"type\": \"command\",\n\t\t\"command\": \"jq -r '.model.display_name' | sed \\\"s/'//\\\"\"\n\t},\n\t\"theme\": \"dark\"\n}\n", `jq -r '.model.display_name' | sed "s/'//"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := prompter(t)
			path := prepare(t, "claude", p, tt.before)
			set := func() string {
				t.Helper()
				made, err := PlanQuota("claude", p)
				if err == nil {
					err = made.Apply()
				}
				if err != nil {
					t.Fatal(err)
				}
				b, _ := os.ReadFile(path)
				return string(b)
			}
			back := func() string {
				t.Helper()
				u, err := UndoQuota("claude", p)
				if err == nil {
					err = u.Apply()
				}
				if err != nil {
					t.Fatal(err)
				}
				b, _ := os.ReadFile(path)
				return string(b)
			}
			c, _ := clients.Find("claude")
			after := set()
			own, ours, err := statusLine(c, []byte(after))
			if err != nil || !ours || own != tt.own || !strings.Contains(after, "/opt/mcpdeck hook claude --statusline ") {
				t.Errorf("%q, %v, %v in\n%s", own, ours, err, after)
			}
			if again, err := PlanQuota("claude", p); err != nil || !again.Same() {
				t.Errorf("a second run changes the file: %v", err)
			}
			if got := back(); got != tt.before {
				t.Errorf("undone:\n%s", got)
			}
			edited := strings.Replace(set(), "/opt/mcpdeck", "/usr/bin/mcpdeck", 1)
			if err := os.WriteFile(path, []byte(edited), 0o600); err != nil {
				t.Fatal(err)
			}
			after = back()
			if own, ours, err := statusLine(c, []byte(after)); err != nil || ours || own != tt.own || tt.own == "" && strings.Contains(after, "statusLine") {
				t.Errorf("undone after an edit:\n%s", after)
			}
			if _, err := UndoQuota("claude", p); err == nil {
				t.Error("there is something left to undo")
			}
		})
	}
}
