package app

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
)

// What is written to the configuration while a deck runs, and needs a restart, is said by the
// next deck, once.
func TestWhatARestartMakesToHoldIsSaid(t *testing.T) {
	home, state := t.TempDir(), filepath.Join(t.TempDir(), "state")
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	dir := filepath.Join(home, ".config", "mcpdeck")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	starts := func(text string) (said []string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := config.Load(config.Flags{Sections: plugin.Sections(), Port: 0, State: state})
		if err != nil {
			t.Fatal(err)
		}
		if err := cfg.Paths.Make(); err != nil {
			t.Fatal(err)
		}
		h := &App{Config: cfg}
		if h.Host, err = router.New(router.Options{}); err != nil {
			t.Fatal(err)
		}
		h.sayChanged()
		for _, w := range h.Host.Snapshot().Warnings {
			if w.From == "settings" {
				said = append(said, w.Text)
			}
		}
		return said
	}
	const secret = "q7Rk2vTz9Lw4"
	for _, step := range []struct {
		name, text string
		want       []string
	}{
		{"the first start", "[ui]\nmouse = false\n[http]\nenabled = true\n", nil},
		{"nothing has changed", "[ui]\nmouse = true\n[http]\nenabled = true\n", nil}, // the mouse needs no restart
		{"a setting is there", "[http]\nenabled = true\n[pencil]\ncommand = \"/tmp/evil\"\n", []string{`config.toml line 4: pencil.command = "/tmp/evil" is new since the deck last ran`}},
		{"it is said once", "[http]\nenabled = true\n[pencil]\ncommand = \"/tmp/evil\"\n", nil},
		{"it differs, and another is gone", "[pencil]\ncommand = \"/tmp/worse\"\n", []string{
			`config.toml line 2: pencil.command = "/tmp/worse" is new since the deck last ran, which was with "/tmp/evil"`,
			"config.toml: http.enabled is not set any more; the deck last ran with true",
		}},
		{"a secret", "[pencil]\ncommand = \"/tmp/worse\"\nenv = { API_KEY = \"" + secret + "\" }\n", []string{`config.toml line 3: pencil.env = { API_KEY = "..." } is new since the deck last ran`}},
		{"another secret", "[pencil]\ncommand = \"/tmp/worse\"\nenv = { API_KEY = \"" + secret + "x\" }\n", []string{
			`config.toml line 3: pencil.env = { API_KEY = "..." } is new since the deck last ran, which was with { API_KEY = "..." }`,
		}},
	} {
		if said := starts(step.text); !slices.Equal(said, step.want) {
			t.Errorf("%s: said %q, want %q", step.name, said, step.want)
		}
	}
}
