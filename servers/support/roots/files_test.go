package roots

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// project makes a folder with files and returns it.
func project(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFilesAreThoseThatSomebodyWrote(t *testing.T) {
	dir := project(t, "main.go", "a/b/deep.go", "a/one.go", ".github/ci.yml", ".git/config", "web/node_modules/x/index.js", "two words.md")
	got, err := New(Options{}).Files(t.Context(), dir, nil)
	slices.Sort(got)
	if want := "[.github/ci.yml a/b/deep.go a/one.go main.go two words.md]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("got %v %v, want %s", got, err, want)
	}
}

func TestFilesFollowsNoLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	outside := project(t, "secret.txt")
	dir := project(t, "in/own.txt", "bad\nname/x.txt")
	for link, to := range map[string]string{"out": outside, "file": filepath.Join(outside, "secret.txt"), "in/up": "..", "again": "in"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := New(Options{}).Files(t.Context(), dir, nil)
	if err != nil || fmt.Sprint(got) != "[in/own.txt]" {
		t.Errorf("got %q %v, want the project's own file alone", got, err)
	}
}

func TestFilesKnowsABound(t *testing.T) {
	deep := strings.Repeat("d/", maxDepth+3) + "lost.txt"
	dir := project(t, "top.txt", deep)
	got, err := New(Options{}).Files(t.Context(), dir, nil)
	if err != nil || fmt.Sprint(got) != "[top.txt]" {
		t.Errorf("got %v %v, want what lies less deep", got, err)
	}
	many := project(t, "a", "b", "c/d", "e")
	if got, err := New(Options{}).files(t.Context(), many, nil, 3); err != nil || len(got) != 3 || slices.Contains(got, "c/d") {
		t.Errorf("got %v %v, want the first three", got, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if got, err := New(Options{}).Files(ended, many, nil); err != nil || len(got) > 1 {
		t.Errorf("without time it read %d files, %v", len(got), err)
	}
}

func TestFilesAreThoseThatAreListedIfAnyAre(t *testing.T) {
	dir := project(t, "main.go", "a/b/deep.go", "a/one.go", "dist/app.js", "web/node_modules/x/index.js")
	links := runtime.GOOS != "windows"
	if links {
		for link, to := range map[string]string{"again": "a", "one.go": "a/one.go"} {
			if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
				t.Fatal(err)
			}
		}
	}
	files := func(listed ...string) string {
		got, err := New(Options{}).Files(t.Context(), dir, func(_ context.Context, of string) []string {
			if of != resolve(dir) {
				t.Errorf("asked for those of %s", of)
			}
			return listed
		})
		if err != nil {
			t.Error(err)
		}
		return fmt.Sprint(got)
	}
	got := files("a/b/deep.go", "a/one.go", "gone.go", "gone/x.go", "a/b/", "a", "../x", "/etc/passwd", "a/../main.go", "", "web/node_modules/x/index.js", "again/one.go", "one.go", "main.go")
	if want := "[main.go a/one.go a/b/deep.go]"; got != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if all := files(); !strings.Contains(all, "dist/app.js") {
		t.Errorf("where nothing is listed, it has %v", all)
	}
}

func TestFilesAreAProjectsAlone(t *testing.T) {
	home := project(t, ".ssh/id", "notes.txt")
	rules := New(Options{Homes: []string{home}})
	for _, dir := range []string{home, filepath.Join(home, ".ssh"), "/", "relative"} {
		if got, err := rules.Files(t.Context(), dir, nil); err == nil {
			t.Errorf("%s: %v", dir, got)
		}
	}
}
