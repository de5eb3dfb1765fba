package claude

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

func inputOf(t *testing.T, tool string, input map[string]any) *asked {
	t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		t.Fatal(err)
	}
	return &asked{tool: tool, raw: raw, input: o}
}

func TestAnEditIsShownAgainstTheFileOnDisk(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := write("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\ntwo")
	crlf := write("crlf.txt", "1\r\n2\r\n")
	large := write("large.txt", strings.Repeat("x", maxFile+1))
	secret := filepath.Join(outside, "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(secret, link); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, tool string
		input      map[string]any
		diff, mark string
	}{
		{"an edit", "Edit", map[string]any{"file_path": file, "old_string": "two", "new_string": "three\n"}, "@@ -7,4 +7,4 @@\n 7\n 8\n 9\n-two\n\\ No newline at end of file\n+three\n", ""},
		{"two hunks", "MultiEdit", map[string]any{"file_path": file, "edits": []any{
			map[string]any{"old_string": "1\n", "new_string": ""}, map[string]any{"old_string": "9", "new_string": "nine"},
		}}, "@@ -1,4 +1,3 @@\n-1\n 2\n 3\n 4\n@@ -6,5 +5,5 @@\n 6\n 7\n 8\n-9\n+nine\n two\n\\ No newline at end of file\n", ""},
		{"a new file", "Write", map[string]any{"file_path": filepath.Join(dir, "new/b.txt"), "content": "one\n"}, "@@ -0,0 +1,1 @@\n+one\n", "new file"},
		{"another text", "Write", map[string]any{"file_path": crlf, "content": "1\n3\n"}, "@@ -1,2 +1,2 @@\n 1\n-2\n+3\n", ""},
		{"the file has changed", "Edit", map[string]any{"file_path": file, "old_string": "gone", "new_string": "x"}, "", "the file has changed since"},
		{"a link", "Write", map[string]any{"file_path": link, "content": "x"}, "", "not a plain file"},
		{"elsewhere", "Write", map[string]any{"file_path": secret, "content": "x"}, "", "names a path outside the project"},
		{"by dots", "Write", map[string]any{"file_path": dir + "/../" + filepath.Base(outside) + "/secret", "content": "x"}, "", "names a path outside the project"},
		{"too large", "Edit", map[string]any{"file_path": large, "old_string": "x", "new_string": "y"}, "", "the file cannot be compared"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			diff, marks := preview(inputOf(t, tt.tool, tt.input), dir)
			_, body, _ := strings.Cut(diff, "+++ ")
			_, body, _ = strings.Cut(body, "\n")
			if body != tt.diff || strings.Join(marks, ", ") != tt.mark {
				t.Errorf("diff\n%smarks %q", diff, marks)
			}
		})
	}
}

// FuzzUnified applies each diff with the program that all diffs are for.
func FuzzUnified(f *testing.F) {
	f.Add("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\nx\n4\n5\n6\n7\n8\n9\n0")
	f.Add("", "a\n")
	f.Add("a", "")
	f.Add("a\nb\na\nb\na\nb\na\nb\na\nb\na\nb\na\nb\n", "b\na\nb\na\nb\na\nb\na\nb\na\nb\na\nc\n")
	git, err := exec.LookPath("git")
	if err != nil {
		f.Skip("needs git")
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		if before == after || strings.ContainsAny(before+after, "\x00\r") {
			return
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		c := exec.Command(git, "apply", "--unsafe-paths", "-p0", "--whitespace=nowarn", "-")
		c.Dir, c.Env = dir, []string{"GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir), "HOME=" + dir}
		c.Stdin = strings.NewReader(unified("f", before, after))
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, unified("f", before, after))
		}
		if got, _ := os.ReadFile(filepath.Join(dir, "f")); string(got) != after {
			t.Errorf("%q became %q, want %q", before, got, after)
		}
	})
}

func TestTheLongestArgumentOfAToolComesFirst(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		d.hook("PermissionRequest", map[string]any{"tool_name": "mcp__paint__draw", "tool_input": json.RawMessage(`{"a":1,"text":"a long one","b":"xy"}`)})
		p := d.only().Request.Prompt
		if p.Kind != ask.Permission || p.Tool != "mcp__paint__draw" || string(p.Args) != `{"text":"a long one","b":"xy","a":1}` {
			t.Errorf("the prompt is %+v, with %s", p, p.Args)
		}
	})
}

// FuzzRequest has an agent ask anything: it can always be shown, and an option of it is
// answered with what the agent itself offered.
func FuzzRequest(f *testing.F) {
	f.Add("PermissionRequest", "Bash", `{"command":"x"}`, suggested)
	f.Add("PermissionRequest", "AskUserQuestion", twoQuestions, "")
	f.Add("PermissionRequest", "ExitPlanMode", `{"plan":"x"}`, `[]`)
	f.Add("PermissionRequest", "Edit", `{"file_path":"/p/a","old_string":"a","new_string":"b"}`, "")
	f.Add("Elicitation", "", oneField, "")
	a := Agent().New(approvals.Deps{}).(*Adapter)
	f.Fuzz(func(t *testing.T, event, tool, input, suggestions string) {
		payload := rawjson.Object{{Key: "tool_name", Value: rawjson.Quote(tool)}}
		for key, raw := range map[string]string{"tool_input": input, "requested_schema": input, "permission_suggestions": suggestions} {
			if json.Valid([]byte(raw)) {
				payload = append(payload, rawjson.Member{Key: key, Value: json.RawMessage(raw)})
			}
		}
		q, r := a.request(session{ID: "s", Folder: "/p", own: true}, hook.Message{Event: event, Payload: payload})
		if r.Prompt == nil || len(r.Questions) == 0 {
			t.Fatalf("nothing is shown: %+v", r)
		}
		if r.Prompt.Kind == ask.Permission && len(r.Prompt.Grants) != len(r.Questions[0].Options) {
			t.Fatalf("%d grants for %d options", len(r.Prompt.Grants), len(r.Questions[0].Options))
		}
		for _, o := range r.Questions[0].Options {
			said := q.answer(&r, ask.Reply{Status: ask.Answered, Results: []ask.Result{chosen(o.Label)}})
			if said != "" && !json.Valid([]byte(said)) {
				t.Errorf("it prints %s", said)
			}
			g, ok := r.Granted([]ask.Result{chosen(o.Label)})
			if ok && g.Allow != strings.Contains(said, `"behavior":"allow"`) && !inTerminal(ask.Item{Request: r}) {
				t.Errorf("%+v prints %s", g, said)
			}
		}
		labels := map[string]bool{}
		for _, c := range q.choices {
			if labels[c.Label] {
				t.Errorf("two options are %q", c.Label)
			}
			labels[c.Label] = true
		}
	})
}
