package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
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

// TestEveryServerIsWhole says what a newcomer's server lacks.
func TestEveryServerIsWhole(t *testing.T) {
	h := built(t, false)
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	all := h.host.Snapshot().Servers
	if len(all) != len(plugin.All()) {
		t.Fatalf("%d servers are hosted, %d in the table", len(all), len(plugin.All()))
	}
	for i, s := range all {
		name := plugin.Names()[i]
		if s.Name != name || s.Title == "" {
			t.Errorf("row %q makes the server %q with title %q: want the same name, and a title", name, s.Name, s.Title)
		}
		page := "servers/builtin/" + name + "/README.md"
		if _, err := os.Stat("../../" + page); err != nil || !strings.Contains(string(readme), "("+page+")") {
			t.Errorf("server %s: the README has no link to its page %s, or there is none", name, page)
		}
	}
}
