package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/clippy"
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
	var warned atomic.Pointer[string]
	var applied atomic.Pointer[config.Config]
	write("[ui]\nmouse = true\n")
	settings := followSettings(t.Context(), a, deckFlags{}, path, func(c *config.Config) { applied.Store(c) }, func(text string) { warned.Store(&text) })
	write("[ui]\nmouse = false\n[keys]\n\"calls.copy\" = [\"c\"]\n")
	s := <-settings
	if !s.NoMouse || !slices.Equal(s.Keys["calls.copy"], []string{"c"}) {
		t.Errorf("settings %+v", s)
	}
	if c := applied.Load(); c == nil || c.File.UI.Mouse {
		t.Errorf("applied %+v", c)
	}
	write("[ui\n")
	s = <-settings
	if !s.NoMouse || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "settings unchanged") {
		t.Errorf("after a file that cannot be read: %+v", s)
	}
	if w := warned.Load(); w == nil || !strings.Contains(*w, "settings unchanged") {
		t.Error("the warnings do not have it")
	}
	if !strings.HasPrefix(s.Broken, "config.toml, line ") {
		t.Errorf("broken: %q", s.Broken)
	}
	write("[ui]\nmouse = false\n")
	if s = <-settings; s.Broken != "" {
		t.Errorf("broken when it is mended: %q", s.Broken)
	}
	if followSettings(t.Context(), a, deckFlags{}, "/nowhere/at/all/config.toml", nil, nil) != nil {
		t.Error("a folder far from any that exists is followed")
	}
}

func TestTheConfigurationMayComeLater(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	path := filepath.Join(home, ".config", "mcpdeck", "config.toml")
	a := &app{flags: config.Flags{Port: -1, State: t.TempDir()}}
	seen := make(chan *config.Config, 100)
	if !followConfig(t.Context(), a, path, func(c *config.Config, err error) {
		if err == nil { // half of a file is none
			seen <- c
		}
	}) {
		t.Fatal("the home folder is not watched")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, mouse := range []bool{false, true} {
		if err := os.WriteFile(path, fmt.Appendf(nil, "[ui]\nmouse = %v\nstart = \"calls\"\n", mouse), 0o600); err != nil {
			t.Fatal(err)
		}
		for c := range seen {
			if c.File.UI.Mouse == mouse && c.File.UI.Start == "calls" {
				break
			}
		}
	}
}

func TestClippyFollowsTheConfiguration(t *testing.T) {
	h := &instance{clippy: clippy.New(clippy.Options{Dir: t.TempDir()})}
	cfg := func(enabled, muted bool) *config.Config {
		return &config.Config{File: config.File{Clippy: config.Clippy{Enabled: enabled, Muted: muted}}}
	}
	apply := h.clippyFollows(cfg(true, false))
	h.clippy.Mute(true) // by the key
	for _, step := range []struct {
		name           string
		enabled, muted bool
		wantMuted      bool
	}{
		{"another setting leaves what the key did", false, false, true},
		{"back again", true, false, true},
		{"muted there as well", true, true, true},
		{"loud again", true, false, false},
	} {
		apply(cfg(step.enabled, step.muted))
		if off := h.clippy.Off("manage_memory") != ""; off == step.enabled || h.clippy.Muted() != step.wantMuted {
			t.Errorf("%s: got turned off %v, muted %v; want %v, %v", step.name, off, h.clippy.Muted(), !step.enabled, step.wantMuted)
		}
	}
}

func TestCardsFollowTheirFiles(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	folder := filepath.Join(home, ".config", "mcpdeck")
	a := &app{flags: config.Flags{Port: -1, State: t.TempDir()}}
	seen := make(chan string, 100)
	if !followConfig(t.Context(), a, filepath.Join(folder, "config.toml"), func(c *config.Config, err error) {
		if err == nil {
			var names []string
			for _, card := range c.Cards {
				names = append(names, card.Name+":"+card.Mode)
			}
			seen <- strings.Join(names, " ")
		}
	}) {
		t.Fatal("the home folder is not watched")
	}
	cards := filepath.Join(folder, "servers.d")
	if err := os.MkdirAll(cards, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ name, text, want string }{
		{"a.toml", "command = ['a']", "a:last"},
		{"b.toml", "command = ['b']", "a:last b:last"},
		{"a.toml", "command = ['a']\nmode = 'on'", "a:on b:last"},
		{"b.toml", "", "a:on"},
	} {
		path := filepath.Join(cards, step.name)
		err := os.WriteFile(path, []byte(step.text), 0o600)
		if step.text == "" {
			err = os.Remove(path)
		}
		if err != nil {
			t.Fatal(err)
		}
		for got := range seen {
			if got == step.want {
				break
			}
		}
	}
}
