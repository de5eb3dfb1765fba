package file_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

func TestWritingIsOneStep(t *testing.T) {
	tests := []struct {
		name    string
		prepare func(t *testing.T, path string)
		options file.Options
		err     error
		mode    fs.FileMode // 0: not looked at
	}{
		{"a new file is private", nil, file.Options{}, nil, 0o600},
		{"a new file is for others if asked", nil, file.Options{Mode: 0o444}, nil, 0o444},
		{"a file that others could read is private again", holding(0o644), file.Options{}, nil, 0o600},
		{"a file keeps its mode", holding(0o640), file.Options{Keep: true}, nil, 0o640},
		{"a name that is taken", holding(0o600), file.Options{New: true}, fs.ErrExist, 0o600},
		{"a name that is not", nil, file.Options{New: true}, nil, 0o600},
		{"without waiting for the disk", holding(0o600), file.Options{Fleeting: true}, nil, 0o600},
		{"a link is replaced", func(t *testing.T, path string) {
			t.Helper()
			must(t, os.WriteFile(path+".target", []byte("theirs"), 0o644))
			must(t, os.Symlink(path+".target", path))
		}, file.Options{Keep: true}, nil, 0o600},
		{"a folder is in the way", func(t *testing.T, path string) { t.Helper(); must(t, os.MkdirAll(filepath.Join(path, "x"), 0o700)) }, file.Options{}, errAny, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.json")
			if tt.prepare != nil {
				tt.prepare(t, path)
			}
			err := file.Write(path, []byte("new"), tt.options)
			if tt.err == nil && err != nil || tt.err != nil && (err == nil || !errors.Is(tt.err, errAny) && !errors.Is(err, tt.err)) {
				t.Fatalf("error %v, want %v", err, tt.err)
			}
			if b, rerr := os.ReadFile(path); err == nil && (rerr != nil || string(b) != "new") {
				t.Errorf("content %q, %v", b, rerr)
			}
			info, lerr := os.Lstat(path)
			must(t, lerr)
			if err == nil && !info.Mode().IsRegular() {
				t.Errorf("it is %v", info.Mode())
			}
			if runtime.GOOS != "windows" && tt.mode != 0 && info.Mode().Perm() != tt.mode {
				t.Errorf("mode %v, want %v", info.Mode(), tt.mode)
			}
			if b, err := os.ReadFile(path + ".target"); err == nil && string(b) != "theirs" {
				t.Errorf("the link was followed: %q", b)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

var errAny = errors.New("any")

func TestTheOpenFolderIsWrittenInWhateverHasItsPath(t *testing.T) {
	dir := t.TempDir()
	inside, outside := filepath.Join(dir, "inside"), filepath.Join(dir, "outside")
	must(t, os.Mkdir(inside, 0o700))
	must(t, os.Mkdir(outside, 0o700))
	root, err := os.OpenRoot(inside)
	must(t, err)
	defer root.Close()
	if err := os.Rename(inside, inside+".moved"); err != nil {
		t.Skipf("an open folder cannot be renamed here: %v", err)
	}
	must(t, os.Symlink(outside, inside))
	must(t, file.WriteIn(root, "a", []byte("x"), file.Options{}))
	if _, err := os.Stat(filepath.Join(inside+".moved", "a")); err != nil {
		t.Error(err)
	}
}

func TestOnlyOwnPlainFilesAreOpened(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must(t, os.WriteFile(at("plain"), []byte("12345"), 0o600))
	must(t, os.Symlink(at("plain"), at("link")))
	must(t, os.Symlink(at("missing"), at("dangling")))
	must(t, os.Mkdir(at("folder"), 0o700))
	tests := []struct {
		name string
		flag int
		want error
	}{
		{"plain", os.O_RDONLY, nil},
		{"link", os.O_RDONLY, file.ErrNotPlain},
		{"link", os.O_WRONLY | os.O_APPEND | os.O_CREATE, file.ErrNotPlain},
		{"dangling", os.O_WRONLY | os.O_CREATE, file.ErrNotPlain},
		{"folder", os.O_RDONLY, file.ErrNotPlain},
		{"none", os.O_RDONLY, fs.ErrNotExist},
		{"made", os.O_WRONLY | os.O_CREATE, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := file.Open(at(tt.name), tt.flag)
			if err == nil {
				f.Close()
			}
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
	if _, err := os.Lstat(at("missing")); err == nil {
		t.Error("a file was made at the end of a link")
	}
	if b, err := file.Read(at("plain"), 5); err != nil || string(b) != "12345" {
		t.Errorf("read %q, %v", b, err)
	}
	if _, err := file.Read(at("plain"), 4); !errors.Is(err, file.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	if _, err := file.ReadPlain(at("link"), true, 5); err != nil {
		t.Errorf("through the link: %v", err)
	}
}

func TestNoLinkLeadsOutOfTheFolder(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, "in", name) }
	must(t, os.MkdirAll(at("folder"), 0o700))
	must(t, os.WriteFile(at("plain"), []byte("12345"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "out"), []byte("secret"), 0o600))
	must(t, os.Symlink("plain", at("link")))
	must(t, os.Symlink(filepath.Join("..", "out"), at("leading out")))
	root, err := os.OpenRoot(filepath.Join(dir, "in"))
	must(t, err)
	defer root.Close()
	tests := []struct {
		name  string
		limit int64
		want  error
	}{
		{"plain", 5, nil},
		{"plain", 4, file.ErrTooLarge},
		{"link", 5, nil},
		{"leading out", 10, errAny},
		{filepath.Join("..", "out"), 10, errAny},
		{"folder", 10, file.ErrNotPlain},
		{"none", 10, fs.ErrNotExist},
	}
	for _, tt := range tests {
		data, err := file.Inside(root, tt.name, tt.limit)
		if tt.want == nil && (err != nil || string(data) != "12345") || tt.want != nil && (err == nil || data != nil) ||
			!errors.Is(tt.want, errAny) && !errors.Is(err, tt.want) {
			t.Errorf("%s: got %q, %v; want %v", tt.name, data, err, tt.want)
		}
		f, err := file.OpenInside(root, tt.name)
		if err == nil {
			f.Close()
		}
		if good := tt.want == nil || errors.Is(tt.want, file.ErrTooLarge); good != (err == nil) {
			t.Errorf("%s: opening it: %v", tt.name, err)
		}
	}
}

func TestAFileThatWasReplacedHasAnotherVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	version := func() file.Version {
		info, err := os.Stat(path)
		must(t, err)
		return file.VersionOf(info)
	}
	past := time.Now().Add(-time.Hour)
	must(t, os.WriteFile(path, []byte("old"), 0o600))
	must(t, os.Chtimes(path, past, past))
	before := version()
	if again := version(); again != before {
		t.Errorf("%v is %v when nothing has changed", before, again)
	}
	must(t, file.Write(path, []byte("new"), file.Options{}))
	if after := version(); after == before {
		t.Errorf("it is still %v", after)
	}
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("the system does not tell of a change that somebody hides")
	}
	must(t, os.Chtimes(path, past, past)) // of the same size and age as before
	if after := version(); after.Size != before.Size || after.Modified != before.Modified || after == before {
		t.Errorf("%v, before %v", after, before)
	}
}

func TestMovingReplacesAFile(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	must(t, os.WriteFile(from, []byte("new"), 0o600))
	must(t, os.WriteFile(to, []byte("old"), 0o600))
	must(t, file.Move(from, to))
	if b, err := os.ReadFile(to); err != nil || string(b) != "new" {
		t.Errorf("there is %q, %v", b, err)
	}
	if err := file.Move(from, to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("moving what is gone: %v", err)
	}
	if b, err := os.ReadFile(to); err != nil || string(b) != "new" {
		t.Errorf("after a move of nothing there is %q, %v", b, err)
	}
}

func TestOnlyPermissionsOfOthersOpenAFileToThem(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing here")
	}
	path := filepath.Join(t.TempDir(), "a")
	must(t, os.WriteFile(path, nil, 0o600))
	for mode, want := range map[fs.FileMode]bool{0o600: false, 0o700: false, 0o640: true, 0o604: true, 0o602: true} {
		must(t, os.Chmod(path, mode))
		info, err := os.Stat(path)
		must(t, err)
		if got := file.OpenToOthers(info); got != want {
			t.Errorf("mode %v: %v", mode, got)
		}
	}
}

func TestAFolderIsMadeForAFileOnlyIfAsked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	path := filepath.Join(dir, "state")
	if err := file.Write(path, nil, file.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a folder: %v", err)
	}
	must(t, file.Write(path, []byte("new"), file.Options{Folder: true}))
	if b, err := os.ReadFile(path); err != nil || string(b) != "new" {
		t.Errorf("there is %q, %v", b, err)
	}
	if err := file.Write(filepath.Join(path, "below"), nil, file.Options{Folder: true}); err == nil {
		t.Error("a file counts as a folder")
	}
}

func TestAFolderIsTakenAsItIsOrNotAtAll(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing here")
	}
	dir := t.TempDir()
	at := func(name string, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		must(t, os.Mkdir(path, 0o700))
		must(t, os.Chmod(path, mode))
		return path
	}
	link := filepath.Join(dir, "link")
	must(t, os.Symlink(at("target", 0o700), link))
	tests := []struct {
		name, path    string
		make          func(string) error
		good, private bool
	}{
		{"one that is missing is made", filepath.Join(dir, "a", "b"), file.Private, true, true},
		{"others may look", at("look", 0o755), file.Private, false, false},
		{"others may look, which does not matter", at("looks", 0o755), file.Folder, true, false},
		{"others may write", at("write", 0o777), file.Folder, false, false},
		{"a link", link, file.Folder, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before, _ := os.Lstat(tt.path)
			if err := tt.make(tt.path); (err == nil) != tt.good {
				t.Errorf("got %v", err)
			}
			after, err := os.Lstat(tt.path)
			must(t, err)
			if before != nil && before.Mode() != after.Mode() || tt.private && after.Mode().Perm() != 0o700 {
				t.Errorf("the mode is %v", after.Mode())
			}
		})
	}
}

func TestLeftoversAreSwept(t *testing.T) {
	dir := t.TempDir()
	past := time.Now().Add(-2 * time.Hour)
	for _, name := range []string{".mcpdeck-old.tmp", ".mcpdeck-new.tmp", ".other.tmp", "kept"} {
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
		if name != ".mcpdeck-new.tmp" {
			must(t, os.Chtimes(filepath.Join(dir, name), past, past))
		}
	}
	file.Sweep(dir, time.Now().Add(-time.Hour))
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != 3 || entries[0].Name() != ".mcpdeck-new.tmp" {
		t.Errorf("there are %v", entries)
	}
}

func holding(mode fs.FileMode) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		t.Helper()
		must(t, os.WriteFile(path, []byte("old"), 0o600))
		must(t, os.Chmod(path, mode))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
