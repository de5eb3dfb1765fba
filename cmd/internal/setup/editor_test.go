package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAnEditorStartsAnAgentByMcpdeckUntilThatIsUndone(t *testing.T) {
	for name, before := range map[string]string{
		"no agents":  "// mine\n{\n  \"theme\": \"One Dark\"\n}\n",
		"others":     "{\n\t\"agent_servers\": {\n\t\t\"Other\": {\"command\": \"other\"}, // kept\n\t},\n}\n",
		"set before": "{\"agent_servers\": {\"OpenCode (mcpdeck)\": {\"type\": \"custom\", \"command\": \"/old\", \"args\": [], \"env\": {\"A\": \"b\"}}}}\n",
	} {
		t.Run(name, func(t *testing.T) {
			e := Editing{Entry: entry(t), Agent: []string{"opencode", "acp"}, Title: "OpenCode (mcpdeck)"}
			e.Options = []string{"--name", "work"}
			c, _ := find("zed")
			path := c.User(e.Folders)[0]
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
				t.Fatal(err)
			}
			made, err := PlanEditor("zed", e)
			if err == nil {
				err = made.Apply()
			}
			if err != nil {
				t.Fatal(err)
			}
			after, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(strings.Fields(string(after)), " ")
			for _, part := range []string{`"OpenCode (mcpdeck)": {`, `"type": "custom"`, `"command": "` + e.Command + `"`, `"--name", "work", "acp", "--", "opencode", "acp"`} {
				if !strings.Contains(got, part) {
					t.Errorf("%s is not in\n%s", part, after)
				}
			}
			if kept := strings.Contains(before, "// kept"); kept != strings.Contains(got, `"Other": {"command": "other"}, // kept`) {
				t.Errorf("another agent is gone:\n%s", after)
			}
			if again, err := PlanEditor("zed", e); err != nil || !again.Same() {
				t.Errorf("a second run changes the file: %v", err)
			}
			undo, err := UndoEditor("zed", e)
			if err == nil {
				err = undo.Apply()
			}
			if back, _ := os.ReadFile(path); err != nil || string(back) != before {
				t.Errorf("undone, %v:\n%s", err, back)
			}
			if _, err := UndoEditor("zed", e); err == nil {
				t.Error("it is undone twice")
			}
		})
	}
	if _, err := PlanEditor("cursor", Editing{}); err == nil {
		t.Error("the settings of an editor are written whose agents are not known")
	}
}
