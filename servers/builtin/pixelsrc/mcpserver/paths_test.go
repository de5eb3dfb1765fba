package mcpserver

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestPathsOfSources(t *testing.T) {
	outside := t.TempDir()
	root := t.TempDir()
	put := func(dir, name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(outside, "secret.pxl", "SECRET-TEXT")
	put(outside, "pal.pxl", `{type:"palette",name:"p",colors:{SECRETTOKEN:"red"}}`)
	put(root, "notes.txt", "SECRET-TEXT")
	put(root, "big.pxl", strings.Repeat(" ", 2<<20))
	put(root, "include.pxl", `{type:"sprite",name:"s",size:[1,1],palette:"@include:../`+filepath.Base(outside)+`/pal.pxl",regions:{x:{points:[[0,0]]}}}`)
	put(root, "import.pxl", `{type:"import",from:"../`+filepath.Base(outside)+`/pal"}`+dot1)
	put(root, "link_include.pxl", `{type:"sprite",name:"s",size:[1,1],palette:"@include:link_pal.pxl",regions:{x:{points:[[0,0]]}}}`)
	if err := os.Symlink(filepath.Join(outside, "secret.pxl"), filepath.Join(root, "link.pxl")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "pal.pxl"), filepath.Join(root, "link_pal.pxl")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "dir.pxl"), 0o755); err != nil {
		t.Fatal(err)
	}
	fifo := filepath.Join(root, "pipe.pxl")
	if runtime.GOOS != "windows" {
		if err := exec.Command("mkfifo", fifo).Run(); err != nil {
			t.Fatal(err)
		}
	}
	r := newRig(t, root)
	r.initialize("2025-06-18")
	seen := map[string]bool{}
	for _, row := range []struct{ path, word string }{
		{"../" + filepath.Base(outside) + "/secret.pxl", ""},
		{filepath.Join(outside, "secret.pxl"), ""},
		{filepath.Join(outside, "missing.pxl"), ""},
		{"/etc/passwd", "only .pxl and .jsonl"},
		{"link.pxl", ""},
		{"pipe.pxl", "regular file"},
		{"dir.pxl", "regular file"},
		{"notes.txt", "only .pxl and .jsonl"},
		{"big.pxl", "limit"},
		{"nul\x00.pxl", ""},
	} {
		for _, tool := range []string{"pixelsrc_validate", "pixelsrc_render", "pixelsrc_format", "pixelsrc_suggest", "pixelsrc_explain"} {
			res := r.call(tool, args{"path": row.path})
			if !res.IsError || !strings.Contains(res.text(), "Failed to read file '") || !strings.Contains(res.text(), row.word) || strings.Contains(res.text(), "SECRET") {
				t.Errorf("%s %s: %s", tool, row.path, res.text())
			}
			if row.word == "" && !strings.Contains(row.path, "\x00") {
				seen[strings.ReplaceAll(res.text(), row.path, "PATH")] = true
			}
		}
	}
	if len(seen) != 1 {
		t.Errorf("outside and missing differ: %v", seen)
	}
	for _, path := range []string{"include.pxl", "import.pxl", "link_include.pxl"} {
		for _, tool := range []string{"pixelsrc_render", "pixelsrc_validate", "pixelsrc_explain"} {
			if res := r.call(tool, args{"path": path}); strings.Contains(res.text(), "SECRET") {
				t.Errorf("%s %s: %s", tool, path, res.text())
			}
		}
	}
}
