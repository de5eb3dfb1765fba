//go:build unix

package file_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

func TestFilesOfOtherUsersAreNotTrusted(t *testing.T) {
	dir, name := "/etc", "passwd"
	if os.Geteuid() == 0 {
		dir, name = filepath.Join(t.TempDir(), "theirs"), "plain"
		must(t, os.Mkdir(dir, 0o700))
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
		for _, path := range []string{filepath.Join(dir, name), dir} {
			if err := os.Chown(path, 12345, -1); err != nil {
				t.Skipf("nothing can be given to another user here: %v", err)
			}
		}
	}
	path := filepath.Join(dir, name)
	info, err := os.Stat(path)
	must(t, err)
	if file.OwnedByUser(info) {
		t.Errorf("%s counts as the user's own", path)
	}
	root, err := os.OpenRoot(dir)
	must(t, err)
	defer root.Close()
	for what, open := range map[string]func() error{
		"Open":       func() error { _, err := file.Open(path, os.O_RDONLY); return err },
		"Read":       func() error { _, err := file.Read(path, 1<<20); return err },
		"OpenInside": func() error { _, err := file.OpenInside(root, name); return err },
		"Folder":     func() error { return file.Folder(dir) },
	} {
		if err := open(); !errors.Is(err, file.ErrForeign) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, read := range map[string]func() error{
		"ReadPlain": func() error { _, err := file.ReadPlain(path, false, 1<<20); return err },
		"Inside":    func() error { _, err := file.Inside(root, name, 1<<20); return err },
	} {
		if err := read(); err != nil {
			t.Errorf("%s, for which it does not matter whose it is: %v", what, err)
		}
	}
}

func TestTheSystemsFilesAreThoseOfTheAdministrator(t *testing.T) {
	info, err := os.Stat(t.TempDir())
	must(t, err)
	if got := file.OwnedBySystem(info); got != (os.Geteuid() == 0) {
		t.Errorf("a folder of the user %d: %v", os.Geteuid(), got)
	}
}
