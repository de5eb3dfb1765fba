package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// load reads a configuration in a home of its own, files by their path below the
// folder of the configuration.
func load(t *testing.T, files map[string]string) *Config {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("MCPDECK_CONFIG", "")
	for name, text := range files {
		path := filepath.Join(home, ".config", "mcpdeck", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Load(Flags{Sections: sections(), Port: -1, State: filepath.Join(home, "state")})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCardsComeFromTheirFilesAndTheConfiguration(t *testing.T) {
	c := load(t, map[string]string{
		"config.toml":            "[server.two]\nurl = 'https://two.example/mcp'\n[server.three]\ncommand = ['inline']\n",
		"servers.d/one.toml":     "command = ['one']\nmode = 'on'\n",
		"servers.d/three.toml":   "command = ['file']\n",
		"servers.d/broken.toml":  "command = 1\n",
		"servers.d/pencil.toml":  "command = ['pencil']\n",
		"servers.d/Big.toml":     "command = ['big']\n",
		"servers.d/notes.txt":    "nothing\n",
		"servers.d/.swp.toml":    "nothing\n",
		"servers.d/warned.toml":  "comand = ['x']\ncommand = ['x']\n",
		"servers.d/nothing.toml": "",
	})
	var got []string
	for _, card := range c.Cards {
		got = append(got, card.Name+" "+strings.Join(card.Command, " ")+card.URL+" "+card.Mode+" "+filepath.Base(card.File))
	}
	want := []string{"one one on one.toml", "three inline last config.toml", "two https://two.example/mcp last config.toml", "warned x last warned.toml"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("cards\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	warnings := strings.Join(c.Warnings, "\n")
	for _, w := range []string{
		"three.toml is not read: config.toml has [server.three]",
		"broken.toml: line 1, column 11: ", "pencil.toml: mcpdeck has a server of this name", "Big.toml: \"Big\": invalid server name",
		`warned.toml: line 1: unknown setting comand, ignored; did you mean command?`, "nothing.toml: missing command or url",
	} {
		if !strings.Contains(warnings, w) {
			t.Errorf("no warning %q in\n%s", w, warnings)
		}
	}
	if len(c.Broken) != 4 {
		t.Errorf("broken: %+v", c.Broken)
	}
}

func TestAnUnknownSettingIsSaidWithTheOneThatWasMeant(t *testing.T) {
	c := load(t, map[string]string{"config.toml": "[htpp]\nport = 1\n[http]\nprot = 2\n[server.a]\ncommand = ['a']\ncal_timeout = '2s'\n[clippy.policy]\nany = 'allow'\n"})
	want := []string{
		`config.toml line 1: unknown setting htpp, ignored; did you mean http?`,
		`config.toml line 4: unknown setting http.prot, ignored; did you mean http.port?`,
		`config.toml line 7: unknown setting server.a.cal_timeout, ignored; did you mean server.a.call_timeout?`,
	}
	if got := strings.Join(c.Warnings, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s", got)
	}
}
