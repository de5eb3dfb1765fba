package config

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
)

func TestKeysKnowTheirLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	t.Setenv("HOME", t.TempDir())
	text := "debug = false\n\n[keys]\nquit = []\n# a remark\n\"calls.copy\" = [\n  \"c\",\n]\n\"list.down\" = [\"n\"]\n\n[ui]\nmouse = true\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(Flags{Sections: sections(), Port: -1, State: t.TempDir(), File: path})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]int{"quit": 4, "calls.copy": 6, "list.down": 9}; !maps.Equal(c.KeyLines, want) {
		t.Errorf("lines %v, want %v", c.KeyLines, want)
	}
}

func TestTheCaseOfAnOptionsNameDoesNotMatter(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	path := filepath.Join(home, "config.toml")
	text := "[Ask]\nSnooze = \"7m\"\n[Keys]\nquit = [\"x\"]\n[Profile.z]\n[Profile.a]\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(Flags{Sections: sections(), Port: -1, State: t.TempDir(), File: path})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range c.Settings() {
		if s.Key == "ask.snooze" && (s.Literal != `"7m"` || s.From != path+":2") {
			t.Errorf("it is %s of %s", s.Literal, s.From)
		}
	}
	if got := c.KeyLines["quit"]; got != 4 {
		t.Errorf("the key's line is %d", got)
	}
	if all := c.Profiles(); len(all) != 2 || all[0].Name != "z" {
		t.Errorf("the profiles are %+v", all)
	}
}

func TestWhereAnOptionOfAnInlineTableIsWritten(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	path := filepath.Join(home, "config.toml")
	for name, text := range map[string]string{
		"config.toml":     "debug = true\nlogicstamp = { depth = 3 }\nkeys = { quit = [\"x\"] }\nprofile = { z = {}, a = {} }\n",
		"mcp-config.json": `{"server": {"defaultMode": "full", "defaultDepth": 5}}`,
	} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Load(Flags{Sections: sections(), Port: -1, State: t.TempDir(), File: path})
	if err != nil {
		t.Fatal(err)
	}
	from := map[string]string{}
	for _, s := range c.Settings() {
		from[s.Key] = s.From
	}
	for key, want := range map[string]string{
		"logicstamp.depth": path + ":2", "logicstamp.mode": filepath.Join(home, "mcp-config.json"), "logicstamp.publish": "default", "keys": path + ":3",
	} {
		if got := from[key]; got != want {
			t.Errorf("%s is of %q, want %q", key, got, want)
		}
	}
	if got := c.KeyLines["quit"]; got != 3 {
		t.Errorf("the key's line is %d", got)
	}
	if all := c.Profiles(); len(all) != 2 || all[0].Name != "z" {
		t.Errorf("the profiles are %+v", all)
	}
}
