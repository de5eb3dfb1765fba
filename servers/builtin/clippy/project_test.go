package clippy

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/roots"
)

// testProject is a folder with one of everything, beside a folder outside.
func testProject(t testing.TB) (root, outside string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root, outside = filepath.Join(base, "project"), filepath.Join(base, "outside")
	for _, dir := range []string{root + "/src/deep", root + "/empty", root + "/Zeta", outside + "/secret"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, size := range map[string]int{"b.txt": 3, "A.txt": 5, ".env": 7, "src/main.go": 11, "src/deep/x": 1, "../outside/key": 99} {
		if err := os.WriteFile(filepath.Join(root, name), make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"to-src": "src", "to-b": "b.txt", "to-outside": "../outside", "to-key": "../outside/key",
		"absolute": root + "/src", "dangling": "nowhere", "loop": "loop", "src/up": "..",
	} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	return root, outside
}

func TestPathsStayInTheProject(t *testing.T) {
	root, outside := testProject(t)
	spelled := filepath.Join(filepath.Dir(root), "spelled")
	must(t, os.Symlink(root, spelled))
	const out = `the path is outside the project; use one inside it, such as "." for its root`
	tests := []struct{ name, in, want, err string }{
		{"root", ".", ".", ""},
		{"root with slash", "./", ".", ""},
		{"below", "src", "src", ""},
		{"below with slash", "src/", "src", ""},
		{"two below", "src/deep", "src/deep", ""},
		{"dot dot inside", "src/../empty", "empty", ""},
		{"dot dot to the root", "src/..", ".", ""},
		{"through a link inside", "to-src/deep", "to-src/deep", ""},
		{"through a link up, inside", "src/up/empty", "src/up/empty", ""},
		{"absolute root", root, ".", ""},
		{"absolute below", root + "/src", "src", ""},
		{"absolute with dot dot", root + "/src/../empty", "empty", ""},
		{"absolute as spelled", spelled + "/src", "src", ""},
		{"empty", "", "", "directoryPath is required"},
		{"NUL", "a\x00", "", "directoryPath is invalid"},
		{"too long", strings.Repeat("a/", 2049), "", "directoryPath is invalid"},
		{"above", "..", "", out},
		{"above by a way round", "src/../../outside", "", out},
		{"absolute outside", outside, "", out},
		{"absolute outside that does not exist", outside + "-not", "", out},
		{"absolute beside with the same beginning", root + "-not", "", out},
		{"absolute climbing", root + "/../outside", "", out},
		{"top", "/", "", out},
		{"link that leaves", "to-outside", "", out},
		{"below a link that leaves", "to-outside/secret", "", out},
		{"below a link that leaves, missing", "to-outside/nothing", "", out},
		{"absolute link", "absolute", "", out},
		{"missing", "nothing", "", "directory does not exist: nothing"},
		{"missing below", "src/nothing", "", "directory does not exist: src/nothing"},
		{"dangling", "dangling", "", "directory does not exist: dangling"},
		{"tilde is a name", "~", "", "directory does not exist: ~"},
		{"backslash is a name", `src\deep`, "", `directory does not exist: src\deep`},
		{"file", "b.txt", "", "not a directory: b.txt"},
		{"below a file", "b.txt/x", "", "not a directory: b.txt/x"},
		{"link to a file", "to-b", "", "not a directory: to-b"},
		{"loop", "loop", "", "too many symbolic links"},
		{"name too long", strings.Repeat("a", 300), "", "the name is too long"},
		{"control characters are escaped", "a\x1b\nb", "", `directory does not exist: a\x1b\nb`},
	}
	p := &projects{}
	before := tree(t, filepath.Dir(root))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, err := p.list(t.Context(), spelled, false, tt.in)
			if words(t, err) != tt.err {
				t.Fatalf("got error %v, want %q", err, tt.err)
			}
			if l.Path != tt.want {
				t.Errorf("got path %q, want %q", l.Path, tt.want)
			}
		})
	}
	if after := tree(t, filepath.Dir(root)); after != before {
		t.Errorf("listing changed the tree:\n%s\nnow\n%s", before, after)
	}
}

func TestEntriesOfAFolder(t *testing.T) {
	root, _ := testProject(t)
	makeFIFO(t, filepath.Join(root, "pipe"))
	p := &projects{}
	l, err := p.list(t.Context(), root, false, ".")
	must(t, err)
	want := []Entry{
		{Name: "empty", Type: "directory"},
		{Name: "src", Type: "directory"},
		{Name: "to-src", Type: "directory", Link: true},
		{Name: "Zeta", Type: "directory"},
		{Name: ".env", Type: "file", Size: 7},
		{Name: "A.txt", Type: "file", Size: 5},
		{Name: "absolute", Type: "file", Link: true},
		{Name: "b.txt", Type: "file", Size: 3},
		{Name: "dangling", Type: "file", Link: true},
		{Name: "loop", Type: "file", Link: true},
		{Name: "pipe", Type: "file", Special: true},
		{Name: "to-b", Type: "file", Size: 3, Link: true},
		{Name: "to-key", Type: "file", Link: true},
		{Name: "to-outside", Type: "file", Link: true},
	}
	got, _ := json.MarshalIndent(l.Entries, "", " ")
	exp, _ := json.MarshalIndent(want, "", " ")
	if string(got) != string(exp) {
		t.Errorf("got %s\nwant %s", got, exp)
	}
	if l.Total != len(want) || l.Truncated {
		t.Errorf("total %d, truncated %v", l.Total, l.Truncated)
	}
	if l, err := p.list(t.Context(), root, false, "empty"); err != nil || l.Entries == nil || len(l.Entries) != 0 {
		t.Errorf("empty directory: %+v, %v", l, err)
	}
}

func TestLongListingIsCut(t *testing.T) {
	root := t.TempDir()
	for i := range maxEntries + 5 {
		put(t, filepath.Join(root, fmt.Sprintf("f%04d", i)), "")
	}
	mkdir(t, filepath.Join(root, "z"))
	l, err := (&projects{}).list(t.Context(), root, false, ".")
	must(t, err)
	if len(l.Entries) != maxEntries || l.Total != maxEntries+6 || !l.Truncated || l.AtLeast {
		t.Errorf("%d entries of %d, truncated %v", len(l.Entries), l.Total, l.Truncated)
	}
	if l.Entries[0].Name != "z" || l.Entries[1].Name != "f0000" {
		t.Errorf("cut before sorting: %v", l.Entries[:2])
	}
}

func TestProjectRoot(t *testing.T) {
	root, outside := testProject(t)
	p := &projects{rules: roots.New(roots.Options{Homes: []string{outside}})}
	for name, tt := range map[string]struct {
		root   string
		chosen bool
		err    string
	}{
		"top":              {"/", false, "this connection has no project folder; start the agent inside a project"},
		"home":             {outside, false, "this connection has no project folder; start the agent inside a project"},
		"relative":         {"project", false, "this connection has no project folder; start the agent inside a project"},
		"missing":          {root + "/nothing", false, "the project folder cannot be opened"},
		"home, configured": {outside, true, "the folder of clippy.project_root is not allowed; the user can set another in config.toml"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := p.list(t.Context(), tt.root, tt.chosen, "."); words(t, err) != tt.err {
				t.Errorf("got %v, want %q", err, tt.err)
			}
		})
	}
	t.Run("a link turned elsewhere changes nothing", func(t *testing.T) {
		spelled := filepath.Join(t.TempDir(), "spelled")
		must(t, os.Symlink(root, spelled))
		_, err := p.list(t.Context(), spelled, false, "src")
		must(t, err)
		must(t, os.Remove(spelled))
		must(t, os.Symlink(outside, spelled))
		if _, err := p.list(t.Context(), spelled, false, "src"); err != nil {
			t.Errorf("the root moved: %v", err)
		}
	})
	t.Run("a folder made anew is found", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "p")
		mkdir(t, dir)
		_, err := p.list(t.Context(), dir, false, ".")
		must(t, err)
		must(t, os.Remove(dir))
		mkdir(t, filepath.Join(dir, "new"))
		l, err := p.list(t.Context(), dir, false, ".")
		must(t, err)
		if len(l.Entries) != 1 {
			t.Errorf("got %+v", l.Entries)
		}
	})
}

func FuzzProjectPath(f *testing.F) {
	for _, s := range []string{".", "..", "src/../..", "to-outside", "to-src/deep", "absolute", "src/up/..", "/etc", "src//deep/.", "loop/.."} {
		f.Add(s)
	}
	root, _ := testProject(f)
	p := &projects{}
	f.Fuzz(func(t *testing.T, path string) {
		l, err := p.list(t.Context(), root, false, path)
		if err != nil {
			return
		}
		if !filepath.IsAbs(path) {
			path = root + "/" + path // no cleaning: links count
		}
		real, err := os.Stat(path)
		if err != nil {
			t.Fatalf("%q was listed and cannot be found: %v", path, err)
		}
		found := false
		_ = filepath.WalkDir(root, func(inside string, d fs.DirEntry, err error) error {
			if info, ierr := os.Stat(inside); err == nil && ierr == nil && d.IsDir() && os.SameFile(info, real) {
				found = true
			}
			return nil
		})
		if !found {
			t.Fatalf("%q is outside and was listed: %+v", path, l)
		}
	})
}

// TestALongListingTakesLittle lists a folder with many more entries than are returned: of
// those that are not, nothing but their names is asked for and kept.
func TestALongListingTakesLittle(t *testing.T) {
	const files = 8_000
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.Mkdir(filepath.Join(root, "many"), 0o755))
	for i := range files {
		must(t, os.WriteFile(filepath.Join(root, "many", fmt.Sprintf("File-%05d.TXT", i*7919%files)), nil, 0o644))
	}
	p := &projects{}
	var got Listing
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err = p.list(t.Context(), root, true, "many")
	runtime.ReadMemStats(&after)
	must(t, err)
	if got.Total != files || len(got.Entries) != maxEntries || got.Entries[0].Name != "File-00000.TXT" || got.Entries[999].Name != "File-00999.TXT" {
		t.Fatalf("%d of %d, from %s to %s", len(got.Entries), got.Total, got.Entries[0].Name, got.Entries[len(got.Entries)-1].Name)
	}
	t.Logf("%d bytes a file", (after.TotalAlloc-before.TotalAlloc)/files)
	if each := (after.TotalAlloc - before.TotalAlloc) / files; each > 900 {
		t.Errorf("%d bytes were allocated for each file", each)
	}
}
