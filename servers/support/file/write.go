// Package file replaces files atomically and durably, and opens those that others may
// have written: plain files alone, bounded, and without waiting or following links.
package file

import (
	"cmp"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Options say how a file is written. The zero value is for a file of the deck's
// own: 0600, replaced if it is there.
type Options struct {
	// Mode is that of the file, less what the process's umask takes away; 0 is
	// 0600.
	Mode fs.FileMode
	// Keep leaves a file that is replaced the mode it has.
	Keep bool
	// New writes only where nothing is yet; otherwise the error is fs.ErrExist.
	New bool
	// Folder makes the folder, private, where there is none.
	Folder bool
	// Fleeting does not wait for the disk: a power cut may take the change.
	Fleeting bool
}

const (
	tempStart = ".mcpdeck-"
	tempEnd   = ".tmp"
)

// Write puts data at path in one step: whoever looks sees what was there before
// or all of the new. When it returns the data is on the disk. A link at path is
// replaced, never followed. The folder must exist, but with Options.Folder.
func Write(path string, data []byte, o Options) error {
	if o.Folder {
		if err := Folder(filepath.Dir(path)); err != nil {
			return err
		}
	}
	root, err := Root(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer closeRoot(root)
	return WriteIn(root, filepath.Base(path), data, o)
}

// WriteIn is Write for a name in a folder that is open already, which stays the
// same folder whatever becomes of its path.
func WriteIn(root *os.Root, name string, data []byte, o Options) error {
	mode, exact := o.Mode, false
	mode = cmp.Or(mode, 0o600)
	if info, err := root.Lstat(name); o.Keep && err == nil && info.Mode().IsRegular() {
		mode, exact = info.Mode().Perm(), true
	}
	temp := tempStart + rand.Text() + tempEnd
	if err := fill(root, temp, data, mode, exact, o.Fleeting); err != nil {
		return err
	}
	if err := place(root, temp, name, o.New); err != nil {
		_ = root.Remove(temp) // the first error counts
		if !o.New || errors.Is(err, fs.ErrExist) {
			return err
		}
		// No hard links here: FAT, some network shares.
		if err := fill(root, name, data, mode, exact, o.Fleeting); err != nil {
			return err
		}
	}
	if !o.Fleeting {
		syncRoot(root)
	}
	return nil
}

// place gives what is at temp its name. With fresh it must be nobody's yet.
func place(root *os.Root, temp, name string, fresh bool) error {
	if !fresh {
		return patiently(func() error { return root.Rename(temp, name) })
	}
	if err := root.Link(temp, name); err != nil {
		return err
	}
	return root.Remove(temp)
}

// fill makes the file name, which must not exist. After an error nothing is left
// of it. It is private until it is complete.
func fill(root *os.Root, name string, data []byte, mode fs.FileMode, exact, fleeting bool) (err error) {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			_ = root.Remove(name)
		}
	}()
	if !exact { // what the umask has left of the mode
		info, err := f.Stat()
		if err != nil {
			return err
		}
		mode = info.Mode().Perm()
	}
	if err := f.Chmod(mode & 0o700); err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	if !fleeting {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	return f.Chmod(mode)
}

// Move renames a file or a folder, and waits until the disk knows. A file that
// is at to is replaced.
func Move(from, to string) error {
	if err := patiently(func() error { return os.Rename(from, to) }); err != nil {
		return err
	}
	for _, dir := range []string{filepath.Dir(to), filepath.Dir(from)} {
		if root, err := Root(dir); err == nil {
			syncRoot(root)
			closeRoot(root)
		}
	}
	return nil
}

// Sweep removes what writers that were killed before a time have left in dir.
func Sweep(dir string, before time.Time) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), tempStart) || !strings.HasSuffix(e.Name(), tempEnd) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && info.ModTime().Before(before) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

func closeRoot(r *os.Root) { _ = r.Close() } // nothing is written through it
