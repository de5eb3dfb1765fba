package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
)

func TestASavedPictureStaysInItsFolder(t *testing.T) {
	for _, r := range []struct{ name, tool, kind, want string }{
		{"png", "draw", "image/png", "draw-1.png"},
		{"jpeg", "draw", "image/jpeg", "draw-1.jpg"},
		{"a type that is a path", "draw", "image/../../../x", "draw-1.bin"},
		{"a tool that is a path", "../draw", "image/gif", ".._draw-1.gif"},
	} {
		t.Run(r.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "a", "b")
			path, err := saveImage(dir, r.tool, 1, r.kind, "AAAA")
			if err != nil || path != filepath.Join(dir, r.want) {
				t.Fatalf("%s, %v", path, err)
			}
			if _, err := os.Stat(path); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAllServersAreCompleted(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	a := &app{flags: config.Flags{Port: -1, State: filepath.Join(t.TempDir(), "state")}}
	cfg, err := a.load()
	if err != nil {
		t.Fatal(err)
	}
	h, err := build(cfg, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer h.stop()
	var names []string
	for _, s := range h.host.Snapshot().Servers {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	if got := slices.Sorted(slices.Values(serverNames())); !slices.Equal(got, names) {
		t.Errorf("completed are %v, there are %v", got, names)
	}
}
