package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
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

// TestAVersionGetsThePluginThatItLoads is OpenCode 2, whose plugins are others, and whoever goes
// from one version to the other.
func TestAVersionGetsThePluginThatItLoads(t *testing.T) {
	p := prompter(t)
	version := ""
	p.Version = func(clients.Client) string { return version }
	file := func(folder string) string {
		return filepath.Join(p.Folders.Home, ".config", "opencode", folder, "mcpdeck.js")
	}
	for _, step := range []struct{ version, there, gone string }{{"", "plugin", "plugins"}, {"1.18.33", "plugin", "plugins"}, {"2.0.0", "plugins", "plugin"}, {"2.1.0", "plugins", "plugin"}, {"1.19.0", "plugin", "plugins"}} {
		version = step.version
		change, err := PlanPrompts("opencode", p)
		if err == nil {
			err = change.Apply()
		}
		if err != nil {
			t.Fatal(step.version, err)
		}
		text, err := os.ReadFile(file(step.there))
		if _, other := os.Stat(file(step.gone)); err != nil || other == nil || strings.Contains(string(text), "OpenCode 2") != (step.there == "plugins") {
			t.Errorf("%q: in %s %v, in %s %v", step.version, step.there, err, step.gone, other)
		}
		for _, s := range SurveyPrompts(p) {
			if s.Client.ID == "opencode" && (s.State != SetUp || s.Path != file(step.there)) {
				t.Errorf("%q: %s is %v", step.version, s.Path, s.State)
			}
		}
	}
	version = "2.0.0"
	if change, err := PlanPrompts("opencode", p); err != nil || change.Apply() != nil {
		t.Fatal(err)
	}
	u, err := UndoPrompts("opencode", p)
	if err == nil {
		err = u.Apply()
	}
	if _, there := os.Stat(file("plugins")); err != nil || there == nil {
		t.Errorf("undone: %v, %v", err, there)
	}
	if change, err := PlanPrompts("kilo", p); err != nil || !strings.Contains(filepath.ToSlash(change.Path), "kilo/plugin/") {
		t.Errorf("another program: %v", err)
	}
}
