package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/clippy"
	"github.com/mcpdeck/mcpdeck/servers/host"
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
	type taken struct {
		cfg *config.Config
		err error
	}
	took := make(chan taken, 1)
	write("[ui]\nmouse = true\n")
	settings := followSettings(t.Context(), a, deckFlags{}, path, func(c *config.Config, err error) { took <- taken{c, err} })
	write("[ui]\nmouse = false\n[keys]\n\"calls.copy\" = [\"c\"]\n")
	last := <-took
	s := <-settings
	if !s.NoMouse || !slices.Equal(s.Keys["calls.copy"], []string{"c"}) {
		t.Errorf("settings %+v", s)
	}
	if last.err != nil || last.cfg.File.UI.Mouse {
		t.Errorf("applied %+v", last)
	}
	write("[ui\n")
	if last = <-took; last.err == nil || !strings.Contains(last.err.Error(), "settings unchanged") {
		t.Errorf("after a file that cannot be read: %v", last.err)
	}
	write("[ui]\nmouse = true\n")
	if last = <-took; last.err != nil {
		t.Errorf("after it is mended: %v", last.err)
	}
	if s = <-settings; s.NoMouse {
		t.Errorf("settings %+v after the file was mended", s)
	}
	if followSettings(t.Context(), a, deckFlags{}, "/nowhere/at/all/config.toml", nil) != nil {
		t.Error("a folder far from any that exists is followed")
	}
}

// What is wrong with the configuration is shown for as long as it is, and once.
func TestWarningsOfTheConfigurationHoldUntilItIsMended(t *testing.T) {
	built, err := host.New(host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "config.toml")
	h := &instance{host: built, clippy: clippy.New(clippy.Options{Dir: t.TempDir()}), cfg: &config.Config{Paths: config.Paths{Config: path}}}
	take := h.reload()
	bad := fmt.Errorf("read the configuration %s, line 2: expected a value; settings unchanged", path)
	for _, step := range []struct {
		name     string
		warnings []string
		err      error
		want     []string
		pinned   bool
	}{
		{"unknown settings", []string{"unknown setting a", "unknown setting b"}, nil, []string{"unknown setting a", "unknown setting b"}, false},
		{"one of them mended", []string{"unknown setting b"}, nil, []string{"unknown setting b"}, false},
		{"unreadable", nil, bad, []string{"config.toml, line 2: expected a value; settings unchanged"}, true},
		{"the same again", nil, bad, []string{"config.toml, line 2: expected a value; settings unchanged"}, true},
		{"readable", []string{"unknown setting b"}, nil, []string{"unknown setting b"}, false},
		{"mended", nil, nil, nil, false},
	} {
		take(&config.Config{Warnings: step.warnings}, step.err)
		var got []string
		for _, w := range built.Snapshot().Warnings {
			got = append(got, w.Text)
			if w.Pinned != step.pinned || w.From != "config" {
				t.Errorf("%s: %+v", step.name, w)
			}
		}
		if !slices.Equal(got, step.want) {
			t.Errorf("%s: warnings %q, want %q", step.name, got, step.want)
		}
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
