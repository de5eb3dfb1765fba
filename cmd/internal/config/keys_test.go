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
	c, err := Load(Flags{Port: -1, State: t.TempDir(), File: path})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]int{"quit": 4, "calls.copy": 6, "list.down": 9}; !maps.Equal(c.KeyLines, want) {
		t.Errorf("lines %v, want %v", c.KeyLines, want)
	}
}
