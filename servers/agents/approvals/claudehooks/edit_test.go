package claudehooks

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
)

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
		name       string
		input      map[string]any
		diff, mark string
	}{
		{"an edit", map[string]any{"file_path": file, "old_string": "two", "new_string": "three\n"}, "@@ -7,4 +7,4 @@\n 7\n 8\n 9\n-two\n\\ No newline at end of file\n+three\n", ""},
		{"two hunks", map[string]any{"file_path": file, "edits": []any{
			map[string]any{"old_string": "1\n", "new_string": ""}, map[string]any{"old_string": "9", "new_string": "nine"},
		}}, "@@ -1,4 +1,3 @@\n-1\n 2\n 3\n 4\n@@ -6,5 +5,5 @@\n 6\n 7\n 8\n-9\n+nine\n two\n\\ No newline at end of file\n", ""},
		{"a new file", map[string]any{"file_path": filepath.Join(dir, "new/b.txt"), "content": "one\n"}, "@@ -0,0 +1,1 @@\n+one\n", "new file"},
		{"another text", map[string]any{"file_path": crlf, "content": "1\n3\n"}, "@@ -1,2 +1,2 @@\n 1\n-2\n+3\n", ""},
		{"the file has changed", map[string]any{"file_path": file, "old_string": "gone", "new_string": "x"}, "", "the file has changed since"},
		{"a link", map[string]any{"file_path": link, "content": "x"}, "", "not a plain file"},
		{"elsewhere", map[string]any{"file_path": secret, "content": "x"}, "", "outside the project"},
		{"by dots", map[string]any{"file_path": dir + "/../" + filepath.Base(outside) + "/secret", "content": "x"}, "", "outside the project"},
		{"too large", map[string]any{"file_path": large, "old_string": "x", "new_string": "y"}, "", "the file cannot be compared"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			raw, err := json.Marshal(tt.input)
			if err != nil {
				t.Fatal(err)
			}
			diff, marks := preview(tt.input["file_path"].(string), raw, dir)
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
		c.Stdin = strings.NewReader(approvals.Unified("f", before, after))
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, approvals.Unified("f", before, after))
		}
		if got, _ := os.ReadFile(filepath.Join(dir, "f")); string(got) != after {
			t.Errorf("%q became %q, want %q", before, got, after)
		}
	})
}
