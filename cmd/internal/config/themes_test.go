package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/theme"
)

func TestThemesAreReadByName(t *testing.T) {
	c := load(t, map[string]string{
		"config.toml":      "[theme]\nname = 'mine'\n[theme.light]\naccent = '#112233'\n",
		"themes/mine.toml": "base = 'light'\naccent = '#ff0000'\n",
		"themes/hard.toml": "base = 'high-contrast-dark'\ngood = '#00ff00'\nacent = '#ffffff'\n",
		"themes/dark.toml": "accent = '#ff0000'\n", "themes/odd.toml": "base = 'lihgt'\n", "themes/bad.toml": "accent = 'red'\n",
	})
	o := c.ThemeOptions()
	if s := o.Scheme; s.Name != "mine" || s.Dark != nil || s.Light.Accent != "#ff0000" || s.Light.Good != theme.Light().Good {
		t.Errorf("scheme %+v", s)
	}
	hard := c.scheme("hard")
	if !hard.Strong || hard.Dark.Good != "#00ff00" || hard.Dark.Selection != "" || hard.Dark.Text != theme.HighContrastDark().Text {
		t.Errorf("scheme %+v", hard)
	}
	if auto := c.scheme(theme.Follows); auto.Light.Accent != "#112233" || auto.Dark.Accent != theme.Dark().Accent {
		t.Errorf("auto: %+v", auto)
	}
	all := strings.Join(c.Warnings, "\n")
	for _, w := range []string{
		"themes/dark.toml: mcpdeck has a theme of this name", `themes/odd.toml: base: unknown value "lihgt"; use dark, light, high-contrast-dark, high-contrast-light; did you mean "light"?`,
		"themes/hard.toml: line 3: unknown setting acent, ignored; did you mean accent?", `themes/bad.toml: line 1: accent: "red" is not a colour such as #8ab4ff`,
	} {
		if !strings.Contains(all, w) {
			t.Errorf("no warning %q in\n%s", w, all)
		}
	}
	c = load(t, map[string]string{"config.toml": "theme.name = 'drak'\n"})
	if weak := c.WeakThemes(); len(weak) > 0 {
		t.Errorf("the built-in colours: %q", weak)
	}
	if all := strings.Join(c.Warnings, "\n"); !strings.Contains(all, `config.toml line 1: theme.name: unknown value "drak"`) || !strings.HasSuffix(all, `did you mean "dark"?`) {
		t.Errorf("warnings %q", all)
	}
	if s := load(t, nil).ThemeOptions().Scheme; s.Name != "" {
		t.Errorf("without a configuration: %+v", s)
	}
}

func TestTheThemeIsWrittenWhereItIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	if set, err := SetTheme(path, "dark"); set || err != nil {
		t.Errorf("without a file: %v, %v", set, err)
	}
	for _, tt := range []struct {
		name, before, after string
		set, fails          bool
	}{
		{"no theme", "[theme.dark]\naccent = '#ffffff'\n", "", false, false},
		{"one", "# mine\n[theme]\nname = 'light' # day\n[ui]\nascii = true\n", "# mine\n[theme]\nname = \"dark\" # day\n[ui]\nascii = true\n", true, false},
		{"one with a dotted key", "theme.name = 'light'\n", "theme.name = \"dark\"\n", true, false},
	} {
		if err := os.WriteFile(path, []byte(tt.before), 0o600); err != nil {
			t.Fatal(err)
		}
		set, err := SetTheme(path, "dark")
		got, _ := os.ReadFile(path)
		if tt.after == "" {
			tt.after = tt.before
		}
		if set != tt.set || (err != nil) != tt.fails || string(got) != tt.after {
			t.Errorf("%s: %v, %v\n%s", tt.name, set, err, got)
		}
	}
}

func TestColoursThatAreHardToReadAreNamed(t *testing.T) {
	c := load(t, map[string]string{
		"config.toml":      "[theme.dark]\ngood = '#ccffcc'\n[theme.light]\ngood = '#ccffcc'\n",
		"themes/mine.toml": "base = 'dark'\naccent = '#333333'\n",
		"themes/fine.toml": "base = 'dark'\naccent = '#ffffff'\n",
	})
	got := strings.Join(c.WeakThemes(), "\n")
	for _, want := range []string{"config.toml line 4: theme.light: good #ccffcc is hard to read on", filepath.Join("themes", "mine.toml") + ": line 2: accent #333333 is hard to read on"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if len(c.WeakThemes()) != 2 || len(c.Warnings) > 0 {
		t.Errorf("weak: %q, warnings: %q", got, c.Warnings)
	}
}
