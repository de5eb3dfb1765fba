package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestProgramsWhosePromptsAreTurnedOffHaveNoAdapter(t *testing.T) {
	h := built(t, true)
	agents := func() []string { return slices.Collect(maps.Keys(h.agents.adapters())) }
	if !slices.Contains(agents(), "codex") {
		t.Errorf("there are adapters for %q", agents())
	}
	h.cfg.File.Prompts.Codex = false
	if got := agents(); slices.Contains(got, "codex") || len(got) == 0 {
		t.Errorf("without Codex, there are adapters for %q", got)
	}
	h.cfg.File.Prompts.Enabled = false
	if got := agents(); len(got) > 0 {
		t.Errorf("without prompts, there are adapters for %q", got)
	}
}

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
