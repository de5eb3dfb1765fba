package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// Root is os.OpenRoot, which waits for a writer where the path is that of a FIFO: only a
// folder is opened, by a name that nothing else can have.
func Root(dir string) (*os.Root, error) {
	return os.OpenRoot(dir + string(filepath.Separator) + ".")
}

// RootIn is Root for a folder below an open one.
func RootIn(root *os.Root, name string) (*os.Root, error) {
	return root.OpenRoot(name + string(filepath.Separator) + ".")
}

// OpenFolder opens a folder below an open one, to list it.
func OpenFolder(root *os.Root, name string) (*os.File, error) {
	return root.OpenFile(filepath.Join(name, "."), os.O_RDONLY|noWait, 0)
}

// FS is what lies below an open folder, to walk or to search: a FIFO that takes a
// folder's place meanwhile is not waited for.
func FS(root *os.Root) fs.FS { return below{root} }

type below struct{ root *os.Root }

func (b below) Open(name string) (fs.File, error) {
	return OpenFolder(b.root, filepath.FromSlash(name))
}

// Lock is a lock on the file at a path, which is made, 0600, if it is missing. What is in
// its place is neither followed nor waited for.
func Lock(path string) *flock.Flock {
	return flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDONLY|NoFollow|noWait), flock.SetPermissions(0o600))
}

// Alone runs do while no other process does anything alone with the file at a path, whose folder is made if it is
// missing. It waits as long as ctx lasts for another that does.
func Alone(ctx context.Context, path string, do func() error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	lock := Lock(path + ".lock")
	defer lock.Close() //nolint:errcheck // nothing was written through it
	switch ok, err := lock.TryLockContext(ctx, 5*time.Millisecond); {
	case errors.Is(err, context.DeadlineExceeded), err == nil && !ok:
		return errors.New("the file is locked by another program")
	case err != nil:
		return err
	}
	return do()
}

// Within reports whether a path is a folder, or lies in it, by its spelling.
func Within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}
