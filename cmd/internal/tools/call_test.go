package tools

import (
	"os"
	"path/filepath"
	"testing"
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
