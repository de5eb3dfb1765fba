package app

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/cmd/internal/sessions"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
)

func TestSettingsFollowTheConfigurationFile(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	path := filepath.Join(t.TempDir(), "config.toml")
	a := &cli.Globals{Flags: config.Flags{Port: -1, State: t.TempDir(), File: path}}
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
	settings := FollowSettings(t.Context(), a.Load, path, func(c *config.Config, err error) []string { took <- taken{c, err}; return nil })
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
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if last = <-took; last.err == nil || !strings.Contains(last.err.Error(), "settings unchanged") {
		t.Errorf("after the file was deleted that a flag names: %v", last.err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if last = <-took; last.err == nil || !strings.Contains(last.err.Error(), "it is a folder; move it away") || !strings.Contains(last.err.Error(), "settings unchanged") {
		t.Errorf("with a folder in its place: %v", last.err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	<-took
	write("[ui]\nmouse = true\n")
	if last = <-took; last.err != nil {
		t.Errorf("after it is mended: %v", last.err)
	}
	if s = <-settings; s.NoMouse {
		t.Errorf("settings %+v after the file was mended", s)
	}
	if FollowSettings(t.Context(), a.Load, "/nowhere/at/all/config.toml", nil) != nil {
		t.Error("a folder far from any that exists is followed")
	}
}

// What is wrong with the configuration is shown for as long as it is, and once.
func TestWarningsOfTheConfigurationHoldUntilItIsMended(t *testing.T) {
	built, err := router.New(router.Options{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "config.toml")
	h := &App{Agents: sessions.New(&config.Config{}, new(atomic.Pointer[config.Config]), nil), Config: &config.Config{Paths: config.Paths{Config: path}}}
	h.prepare()
	h.bind(built)
	take := h.Reload()
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
	a := &cli.Globals{Flags: config.Flags{Port: -1, State: t.TempDir(), Sections: plugin.Sections()}}
	seen := make(chan *config.Config, 100)
	if !followConfig(t.Context(), a.Load, path, func(c *config.Config, err error) {
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

func TestCardsFollowTheirFiles(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	folder := filepath.Join(home, ".config", "mcpdeck")
	a := &cli.Globals{Flags: config.Flags{Port: -1, State: t.TempDir(), Sections: plugin.Sections()}}
	seen := make(chan string, 100)
	if !followConfig(t.Context(), a.Load, filepath.Join(folder, "config.toml"), func(c *config.Config, err error) {
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

// late is a watcher of a user who makes every folder right after it was found missing.
type late struct{ watched, told, unseen []string }

func (l *late) Add(dir string) error {
	if exists(dir) {
		l.watched = append(l.watched, dir)
		return nil
	}
	top := dir
	for !exists(filepath.Dir(top)) {
		top = filepath.Dir(top)
	}
	switch parent := filepath.Dir(top); {
	case slices.Contains(l.watched, parent):
		l.told = append(l.told, top)
	case !slices.ContainsFunc(l.told, func(seen string) bool { return strings.HasPrefix(top, seen) }):
		l.unseen = append(l.unseen, top)
	}
	_ = os.MkdirAll(dir, 0o700)
	return os.ErrNotExist
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestNoFolderOfTheConfigurationIsMadeUnseen(t *testing.T) {
	l := &late{}
	if !watchNear(l, filepath.Join(t.TempDir(), ".config", "mcpdeck", "config.toml")) {
		t.Fatal("nothing is watched")
	}
	if l.unseen != nil || l.told == nil {
		t.Errorf("made while nothing watched: %v; while something did: %v", l.unseen, l.told)
	}
}

func TestADamagedFileOfTheScreenIsAWarningAndNoMore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "screen.json")
	s, err := newStore(path)
	if err != nil {
		t.Fatalf("without a file: %v", err)
	}
	if err := s.Put("theme", "light"); err != nil {
		t.Fatal(err)
	}
	if s, err = newStore(path); err != nil || s.Get("theme") != "light" {
		t.Errorf("after a restart: %q, %v", s.Get("theme"), err)
	}
	for _, damaged := range []string{"{", "null", "[]", ""} {
		if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := newStore(path)
		if damaged != "null" && (err == nil || !strings.Contains(err.Error(), "starts anew")) {
			t.Errorf("%q: %v", damaged, err)
		}
		if err := s.Put("page", "ask"); err != nil || s.Get("page") != "ask" {
			t.Errorf("%q: nothing is kept any more: %v", damaged, err)
		}
	}
}
