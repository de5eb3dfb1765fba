package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestWhyAFileCannotBeReadIsSaid(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(path("file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"good": "file", "gone": "nowhere", "loop": "loop", "through": "file/below", "locked": "closed/file"} {
		if err := os.Symlink(to, path(link)); err != nil {
			t.Skip("no links here:", err)
		}
	}
	if err := os.Mkdir(path("closed"), 0); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"file": "", "good": "", "none": "", ".": "a folder; move it away",
		"gone": "a link to a file that is not there; mend or delete it",
	}
	if runtime.GOOS != "windows" { // which has other words for it
		want["loop"] = "a link that cannot be followed (too many levels of symbolic links); mend or delete it"
		want["through"] = "a link that cannot be followed (not a directory); mend or delete it"
		if os.Getuid() > 0 { // root may enter every folder
			want["locked"] = "a link that cannot be followed (permission denied); mend or delete it"
		}
	}
	for name, why := range want {
		if got := Unreadable(path(name)); got != why {
			t.Errorf("%s is %q, want %q", name, got, why)
		}
	}
	if _, err := Load(Flags{Sections: sections(), Port: -1, State: t.TempDir(), File: path("loop")}); runtime.GOOS != "windows" && (err == nil || !strings.Contains(err.Error(), "it is a link that cannot be followed")) {
		t.Errorf("it is read with %v", err)
	}
}
