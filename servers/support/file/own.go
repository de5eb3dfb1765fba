package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// What is at a path may be none of what the deck reads.
var (
	ErrNotPlain = errors.New("not a plain file")
	ErrTooLarge = errors.New("file is too large")
	ErrForeign  = errors.New("it belongs to another user")

	ErrNotFolder = errors.New("it is a link or a file, not a folder")
	ErrShared    = errors.New("other users can access it")
)

// FolderError says why a folder cannot be used: it wraps [ErrForeign], [ErrNotFolder] or
// [ErrShared].
type FolderError struct {
	Dir  string
	Mode fs.FileMode
	Err  error
}

func (e *FolderError) Error() string {
	text := fmt.Sprintf("use the folder %s: %v", e.Dir, e.Err)
	if errors.Is(e.Err, ErrShared) {
		text += fmt.Sprintf(" (mode %04o); fix it with: chmod 700 %s", e.Mode.Perm(), e.Dir)
	}
	return text
}

// Unwrap returns what is wrong.
func (e *FolderError) Unwrap() error { return e.Err }

// Folder makes the folder dir, 0700, if it is missing, and refuses one that is a
// link, another user's, or one that others may write in. It looks at dir alone,
// not at the folders above.
func Folder(dir string) error { return folder(dir, 0o022) }

// Private is Folder for one that others may not even look into.
func Private(dir string) error { return folder(dir, 0o077) }

func folder(dir string, closed fs.FileMode) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		if info, there := os.Lstat(dir); there == nil && !info.IsDir() {
			return &FolderError{dir, info.Mode(), ErrNotFolder}
		}
		return fmt.Errorf("make the folder %s: %w", dir, err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("look at the folder %s: %w", dir, err)
	}
	switch {
	case !info.IsDir():
		err = ErrNotFolder
	case !OwnedByUser(info):
		err = ErrForeign
	case modeOf(info)&closed != 0:
		err = ErrShared
	default:
		return nil
	}
	return &FolderError{dir, info.Mode(), err}
}

// Open opens a plain file of the user's own, never through a link. With
// os.O_CREATE in flag it is made, 0600, if it is missing.
func Open(path string, flag int) (*os.File, error) { return open(path, flag, false, true) }

func open(path string, flag int, follow, own bool) (*os.File, error) {
	check := func(info fs.FileInfo) error {
		switch {
		case !info.Mode().IsRegular():
			return &fs.PathError{Op: "open", Path: path, Err: ErrNotPlain}
		case own && !OwnedByUser(info):
			return &fs.PathError{Op: "open", Path: path, Err: ErrForeign}
		}
		return nil
	}
	look := os.Lstat
	if follow {
		look = os.Stat
	} else {
		flag |= NoFollow
	}
	info, err := look(path)
	if err == nil {
		err = check(info)
	}
	if err != nil && (!errors.Is(err, fs.ErrNotExist) || flag&os.O_CREATE == 0) {
		return nil, err
	}
	// Something else may have come in between: a link is refused by the system, a
	// FIFO must not be waited for.
	f, err := os.OpenFile(path, flag|noWait, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = check(info)
	}
	if err != nil {
		_ = f.Close() // the first error counts
		return nil, err
	}
	return f, nil
}

// Read reads a plain file of the user's own, of at most limit bytes, never
// through a link.
func Read(path string, limit int64) ([]byte, error) { return read(path, limit, false, true) }

// ReadPlain reads a plain file, whosever it is, of at most limit bytes, through
// a link only when follow says so.
func ReadPlain(path string, follow bool, limit int64) ([]byte, error) {
	return read(path, limit, follow, false)
}

// OpenPlain opens a plain file for reading, whosever it is, through a link only when
// follow says so.
func OpenPlain(path string, follow bool) (*os.File, error) {
	return open(path, os.O_RDONLY, follow, false)
}

func read(path string, limit int64, follow, own bool) ([]byte, error) {
	f, err := open(path, os.O_RDONLY, follow, own)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, path, limit)
}

// OpenToOthers tells whether anybody but the owner may read or write a file.
func OpenToOthers(info fs.FileInfo) bool { return modeOf(info)&0o077 != 0 }

// Inside reads a plain file, whosever it is, of at most limit bytes, below an
// open folder that no link leads out of.
func Inside(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := openInside(root, name, false)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, name, limit)
}

// OpenInside opens a plain file of the user's own for reading, below an open folder that
// no link leads out of.
func OpenInside(root *os.Root, name string) (*os.File, error) { return openInside(root, name, true) }

func openInside(root *os.Root, name string, own bool) (*os.File, error) {
	// A FIFO must not be waited for.
	f, err := root.OpenFile(name, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = &fs.PathError{Op: "open", Path: name, Err: ErrNotPlain}
	case own && !OwnedByUser(info):
		err = &fs.PathError{Op: "open", Path: name, Err: ErrForeign}
	default:
		return f, nil
	}
	_ = f.Close() // the first error counts
	return nil, err
}

func readAll(f *os.File, name string, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = &fs.PathError{Op: "read", Path: name, Err: ErrTooLarge}
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}
