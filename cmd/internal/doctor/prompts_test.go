package doctor

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTheVersionOfAPackagedProgramIsReadNotAskedFor uses programs that would not say theirs.
func TestTheVersionOfAPackagedProgramIsReadNotAskedFor(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("modules/@google/gemini-cli/package.json", `{"version":"0.61.0","bin":{"gemini":"bundle/gemini.js"}}`)
	write("modules/other/package.json", `{"version":"9.9.9","bin":{"other":"x"}}`)
	for name, tt := range map[string]struct{ program, want string }{
		"its own package": {"modules/@google/gemini-cli/bundle/gemini.js", "0.61.0"},
		"of another one":  {"modules/other/gemini", ""},
		"of none":         {"alone/gemini", ""},
	} {
		t.Run(name, func(t *testing.T) {
			program := write(tt.program, "")
			link := filepath.Join(t.TempDir(), "gemini")
			if err := os.Symlink(program, link); err != nil {
				t.Skip("no links here:", err)
			}
			if got := packagedVersion(link, "gemini"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
