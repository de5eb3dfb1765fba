package main

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

func TestProgramsWhosePromptsAreTurnedOffHaveNoAdapter(t *testing.T) {
	h := built(t, true)
	agents := func() (all []string) {
		for _, a := range h.adapters() {
			all = append(all, a.Agent())
		}
		return all
	}
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

func TestClaudeCodesOwnListIsAskedOfItsProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in is a shell script")
	}
	dir := t.TempDir()
	script := "#!/bin/sh\n[ \"$*\" = \"agents --json\" ] && printf '[{\"pid\":7,\"status\":\"%s\"}]' \"${CLAUDE_CONFIG_DIR-as by default}\"\n"
	if err := os.WriteFile(filepath.Join(dir, "claude"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	h := built(t, true)
	for set, folder := range map[string]string{"": "as by default", "/srv/claude": "/srv/claude"} {
		t.Setenv("CLAUDE_CONFIG_DIR", set)
		got, err := h.claudeAgents(t.Context())
		if want := `[{"pid":7,"status":"` + folder + `"}]`; err != nil || string(got) != want {
			t.Errorf("with the folder %q, got %s, %v, want %s", set, got, err, want)
		}
	}
}
