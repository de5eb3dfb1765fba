package clippy

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// testDesktop is a desktop in a temporary home.
type testDesktop struct {
	*desktop
	dir string
	env map[string]string
}

func newDesktop(t *testing.T) testDesktop {
	t.Helper()
	home := t.TempDir()
	env := map[string]string{}
	d := &desktop{
		system: "linux", home: home, env: func(k string) string { return env[k] },
		known: func() (string, error) { return "", nil },
	}
	dir := filepath.Join(home, "Desktop")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return testDesktop{d, dir, env}
}

func TestDesktopIsReadFromUserDirs(t *testing.T) {
	const home = "/home/ada"
	tests := []struct{ name, text, want string }{
		{"usual", `XDG_DESKTOP_DIR="$HOME/Desktop"`, "/home/ada/Desktop"},
		{"braces", `XDG_DESKTOP_DIR="${HOME}/Schreibtisch"`, "/home/ada/Schreibtisch"},
		{"absolute", `XDG_DESKTOP_DIR="/data/desk"`, "/data/desk"},
		{"last one counts", "XDG_DESKTOP_DIR=\"/a\"\nXDG_DESKTOP_DIR=\"/b\"\n", "/b"},
		{"a bad last one does not count", "XDG_DESKTOP_DIR=\"/a\"\nXDG_DESKTOP_DIR=\"b\"\n", "/a"},
		{"comment", `#XDG_DESKTOP_DIR="/a"`, ""},
		{"leading blanks", " \tXDG_DESKTOP_DIR=\"/a\"", "/a"},
		{"line end of Windows", "XDG_DESKTOP_DIR=\"/a\"\r\n", "/a"},
		{"comment behind", `XDG_DESKTOP_DIR="/a" # mine`, "/a"},
		{"command behind", `XDG_DESKTOP_DIR="/a"; rm -rf x`, ""},
		{"escapes", `XDG_DESKTOP_DIR="/a\"b\\c\$d\` + "`" + `e\f"`, `/a"b\c$d` + "`" + `e\f`},
		{"command", "XDG_DESKTOP_DIR=\"/a/`id`\"", ""},
		{"substitution", `XDG_DESKTOP_DIR="/a/$(id)"`, ""},
		{"other variable", `XDG_DESKTOP_DIR="$DATA/x"`, ""},
		{"variable inside", `XDG_DESKTOP_DIR="$HOME/$USER"`, ""},
		{"longer variable", `XDG_DESKTOP_DIR="$HOMEX/a"`, ""},
		{"home run on", `XDG_DESKTOP_DIR="${HOME}x"`, ""},
		{"relative", `XDG_DESKTOP_DIR="Desktop"`, ""},
		{"unquoted", `XDG_DESKTOP_DIR=/a`, ""},
		{"never closed", `XDG_DESKTOP_DIR="/a`, ""},
		{"blank around the sign", `XDG_DESKTOP_DIR = "/a"`, ""},
		{"other folder", `XDG_DOWNLOAD_DIR="/a"`, ""},
		{"home itself", `XDG_DESKTOP_DIR="$HOME"`, "/home/ada"},
		{"empty", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := parseUserDirs(tt.text, home); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzUserDirs(f *testing.F) {
	f.Add(`XDG_DESKTOP_DIR="$HOME/Desktop"`)
	f.Add("XDG_DESKTOP_DIR=\"/a\\\"`\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		if dir := parseUserDirs(text, "/home/ada"); dir != "" && !filepath.IsAbs(dir) {
			t.Fatalf("%q gave %q", text, dir)
		}
	})
}

func TestDesktopFolder(t *testing.T) {
	tests := []struct {
		name, system, configured string
		env                      map[string]string
		dirs                     string // content of user-dirs.dirs
		known                    string
		noHome                   bool
		want                     string // HOME stands for the home folder
		err                      string
	}{
		{name: "default", system: "linux", want: "HOME/Desktop"},
		{name: "configured", system: "linux", configured: "/x/y", want: "/x/y"},
		{name: "configured below home", system: "linux", configured: "~/y", want: "HOME/y"},
		{name: "configured relative", system: "linux", configured: "y", err: "clippy.desktop_dir must be an absolute path or start with ~/"},
		{name: "user-dirs.dirs", system: "linux", dirs: `XDG_DESKTOP_DIR="$HOME/Tisch"`, want: "HOME/Tisch"},
		{name: "BSD too", system: "freebsd", dirs: `XDG_DESKTOP_DIR="$HOME/Tisch"`, want: "HOME/Tisch"},
		{name: "before the environment", system: "linux", dirs: `XDG_DESKTOP_DIR="$HOME/Tisch"`, env: map[string]string{"XDG_DESKTOP_DIR": "/e"}, want: "HOME/Tisch"},
		{name: "environment", system: "linux", env: map[string]string{"XDG_DESKTOP_DIR": "/e"}, want: "/e"},
		{name: "relative environment", system: "linux", env: map[string]string{"XDG_DESKTOP_DIR": "e"}, want: "HOME/Desktop"},
		{name: "relative config folder", system: "linux", env: map[string]string{"XDG_CONFIG_HOME": "c"}, dirs: `XDG_DESKTOP_DIR="/d"`, want: "/d"},
		{name: "home means none", system: "linux", dirs: `XDG_DESKTOP_DIR="$HOME/"`, err: "no Desktop folder is configured"},
		{name: "mac has no user-dirs", system: "darwin", dirs: `XDG_DESKTOP_DIR="/d"`, want: "HOME/Desktop"},
		{name: "windows known folder", system: "windows", known: "/OneDrive/Desktop", want: "/OneDrive/Desktop"},
		{name: "windows profile", system: "windows", env: map[string]string{"USERPROFILE": "/Users/ada"}, want: "/Users/ada/Desktop"},
		{name: "no home", system: "linux", noHome: true, err: "no Desktop folder is configured"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesktop(t)
			d.system = tt.system
			d.known = func() (string, error) { return tt.known, nil }
			for k, v := range tt.env {
				d.env[k] = v
			}
			put(t, filepath.Join(d.home, ".config", "user-dirs.dirs"), tt.dirs)
			home := d.home
			if tt.noHome {
				d.home = ""
			}
			got, err := d.folder(tt.configured)
			if words(t, err) != tt.err {
				t.Fatalf("got error %v, want %q", err, tt.err)
			}
			if want := strings.Replace(tt.want, "HOME", home, 1); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func words(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	return sentence(err)
}

func TestWriteNote(t *testing.T) {
	const taken = "a file with that name already exists on the Desktop; it was not changed. Choose another name, or set overwrite to replace it"
	const notPlain = "that name is taken by something that is not a regular file"
	tests := []struct {
		name    string
		prepare func(t *testing.T, dir string)
		note    Note
		want    Written
		err     string
	}{
		{name: "new", note: Note{Name: "a.txt", Content: "boo"}, want: Written{Bytes: 3}},
		{name: "empty", note: Note{Name: "a.txt"}, want: Written{}},
		{name: "as received", note: Note{Name: "a.txt", Content: "\ufeffa\r\nb\x00"}, want: Written{Bytes: 8}},
		{name: "taken", prepare: holding("a.txt"), note: Note{Name: "a.txt"}, err: taken},
		{name: "replaced", prepare: holding("a.txt"), note: Note{Name: "a.txt", Content: "x", Overwrite: true}, want: Written{Bytes: 1, Replaced: true}},
		{name: "overwrite of nothing", note: Note{Name: "a.txt", Content: "x", Overwrite: true}, want: Written{Bytes: 1}},
		{name: "link", prepare: link("target"), note: Note{Name: "a.txt"}, err: taken},
		{name: "link, overwrite", prepare: link("target"), note: Note{Name: "a.txt", Overwrite: true}, err: notPlain},
		{name: "dangling link", prepare: link("nowhere"), note: Note{Name: "a.txt"}, err: taken},
		{name: "dangling link, overwrite", prepare: link("nowhere"), note: Note{Name: "a.txt", Overwrite: true}, err: notPlain},
		{name: "directory, overwrite", prepare: func(t *testing.T, dir string) { t.Helper(); mkdir(t, filepath.Join(dir, "a.txt")) }, note: Note{Name: "a.txt", Overwrite: true}, err: notPlain},
		{name: "longest content", note: Note{Name: "a.txt", Content: strings.Repeat("a", maxNote)}, want: Written{Bytes: maxNote}},
		{name: "content too long", note: Note{Name: "a.txt", Content: strings.Repeat("a", maxNote+1)}, err: "content is too large (1048577 bytes, max 1048576)"},
		{name: "Desktop missing", prepare: func(t *testing.T, dir string) { t.Helper(); must(t, os.Remove(dir)) }, note: Note{Name: "a.txt"}, err: "the Desktop folder does not exist; the user can create it, or set clippy.desktop_dir in config.toml"},
		{name: "a file in place of the Desktop", prepare: func(t *testing.T, dir string) { t.Helper(); must(t, os.Remove(dir)); put(t, dir, "") }, note: Note{Name: "a.txt"}, err: "the Desktop folder is not a directory"},
		{name: "bad name", note: Note{Name: "../a"}, err: "filename must not contain path separators"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesktop(t)
			if tt.prepare != nil {
				tt.prepare(t, d.dir)
			}
			before := tree(t, d.dir)
			got, err := d.write(tt.note, Settings{})
			if words(t, err) != tt.err {
				t.Fatalf("got error %v, want %q", err, tt.err)
			}
			if err != nil {
				if after := tree(t, d.dir); after != before {
					t.Errorf("a failed call changed the folder:\n%s\nnow\n%s", before, after)
				}
				return
			}
			tt.want.Path = filepath.Join(d.dir, tt.note.Name)
			if got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			if c := get(t, got.Path); c != tt.note.Content {
				t.Errorf("content differs: %d bytes, want %d", len(c), len(tt.note.Content))
			}
			info, err := os.Lstat(got.Path)
			must(t, err)
			if info.Mode().Perm()&0o111 != 0 || info.Mode().Perm()&0o600 != 0o600 {
				t.Errorf("mode is %v", info.Mode())
			}
			if left, _ := filepath.Glob(filepath.Join(d.dir, ".mcpdeck-*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func holding(name string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		put(t, filepath.Join(dir, name), "old")
	}
}

func link(target string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		put(t, filepath.Join(dir, "target"), "old")
		must(t, os.Symlink(target, filepath.Join(dir, "a.txt")))
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	must(t, os.MkdirAll(path, 0o755))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tree describes everything below dir: names, modes, sizes, times, link targets.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		target, _ := os.Readlink(path)
		b.WriteString(strings.Join([]string{path, info.Mode().String(), strconv.FormatInt(info.Size(), 10), info.ModTime().String(), target}, " ") + "\n")
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return b.String()
}
