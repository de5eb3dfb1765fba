//go:build unix

package file_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// TestNothingWaitsAtANamedPipe would hang if one of these opened it as a file or a folder.
func TestNothingWaitsAtANamedPipe(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	must(t, syscall.Mkfifo(pipe, 0o600))
	must(t, os.Symlink("pipe", filepath.Join(dir, "link")))
	must(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	root, err := file.Root(dir)
	must(t, err)
	defer root.Close()
	for name, open := range map[string]func() error{
		"Read":                      func() error { _, err := file.Read(pipe, 10); return err },
		"Open for appending":        func() error { _, err := file.Open(pipe, os.O_WRONLY|os.O_APPEND|os.O_CREATE); return err },
		"ReadPlain":                 func() error { _, err := file.ReadPlain(pipe, true, 10); return err },
		"ReadPlain through a link":  func() error { _, err := file.ReadPlain(pipe[:len(pipe)-4]+"link", true, 10); return err },
		"OpenPlain":                 func() error { _, err := file.OpenPlain(pipe, false); return err },
		"Inside":                    func() error { _, err := file.Inside(root, "pipe", 10); return err },
		"Inside through a link":     func() error { _, err := file.Inside(root, "link", 10); return err },
		"Root":                      func() error { _, err := file.Root(pipe); return err },
		"RootIn":                    func() error { _, err := file.RootIn(root, "pipe"); return err },
		"a folder of FS":            func() error { _, err := fs.ReadDir(file.FS(root), "pipe"); return err },
		"a folder that is a link":   func() error { _, err := fs.ReadDir(file.FS(root), "link"); return err },
		"a name without a file":     func() error { _, err := file.OpenPlain(filepath.Join(dir, "none"), true); return err },
		"a folder that is not open": func() error { _, err := file.RootIn(root, "none"); return err },
	} {
		if err := open(); err == nil {
			t.Errorf("%s opens it", name)
		}
	}
	if _, err := file.ReadPlain(pipe, true, 10); !errors.Is(err, file.ErrNotPlain) {
		t.Errorf("err = %v", err)
	}
	lock := file.Lock(pipe)
	if free, err := lock.TryLockContext(context.Background(), 1); !free || err != nil {
		t.Errorf("locked: %v, %v", free, err)
	}
	must(t, lock.Unlock())
	names, err := fs.Glob(file.FS(root), "*")
	if err != nil || len(names) != 3 {
		t.Errorf("%q, %v", names, err)
	}
	inner, err := file.RootIn(root, "folder")
	must(t, err)
	inner.Close()
}
