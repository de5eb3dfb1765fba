package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
)

func TestSettingsFollowTheConfigurationFile(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	path := filepath.Join(t.TempDir(), "config.toml")
	a := &app{flags: config.Flags{Port: -1, State: t.TempDir(), File: path}}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil { // as editors do
			t.Fatal(err)
		}
	}
	write("[ui]\nmouse = true\n")
	settings := followSettings(t.Context(), a, deckFlags{}, path)
	write("[ui]\nmouse = false\n[keys]\n\"calls.copy\" = [\"c\"]\n")
	s := <-settings
	if !s.NoMouse || !slices.Equal(s.Keys["calls.copy"], []string{"c"}) {
		t.Errorf("settings %+v", s)
	}
	write("[ui\n")
	s = <-settings
	if !s.NoMouse || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "as before") {
		t.Errorf("after a file that cannot be read: %+v", s)
	}
	if followSettings(t.Context(), a, deckFlags{}, "/nowhere/config.toml") != nil {
		t.Error("a folder that does not exist is followed")
	}
}
