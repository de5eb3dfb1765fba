// Package socket opens Unix sockets that only their owner can use, and says
// which process is at the other end.
package socket

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/gofrs/flock"
)

// MaxPath is the longest socket path in bytes that all systems take.
const MaxPath = 103

// InUseError says that another process holds the socket's lock.
type InUseError struct {
	Path string
	PID  int // 0 when it is not known
}

func (e *InUseError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("listen on %s: another process is using it", e.Path)
	}
	return fmt.Sprintf("listen on %s: process %d is using it", e.Path, e.PID)
}

// Listener accepts connections on a socket file that it owns.
type Listener struct {
	*net.UnixListener
	path  string
	inode fs.FileInfo
	lock  *flock.Flock
	once  sync.Once
}

// Listen binds path: folder 0700 and owned by the user, socket 0600. A socket
// left by a dead process is replaced, under a lock file that is held until
// Close; nothing else ever is. A live owner is an *InUseError.
func Listen(path string) (*Listener, error) {
	if len(path) > MaxPath {
		return nil, fmt.Errorf("listen on %s: the path has %d bytes, at most %d are possible; choose a shorter one", path, len(path), MaxPath)
	}
	if err := privateFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	free, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if !free {
		return nil, &InUseError{Path: path, PID: holder(path)}
	}
	l, err := bind(path)
	if err != nil {
		_ = lock.Unlock() // the first error counts
		return nil, err
	}
	l.lock = lock
	// The number is only for the sentence a second process prints.
	_ = os.WriteFile(path+".lock", []byte(strconv.Itoa(os.Getpid())), 0o600)
	return l, nil
}

func bind(path string) (*Listener, error) {
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	case info.Mode().Type() != fs.ModeSocket:
		return nil, fmt.Errorf("listen on %s: something that is not a socket is in the way; remove it", path)
	default:
		if c, err := net.Dial("unix", path); err == nil {
			c.Close()
			return nil, &InUseError{Path: path}
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("remove the stale socket %s: %w", path, err)
		}
	}
	inner, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	inner.SetUnlinkOnClose(false)
	if err := os.Chmod(path, 0o600); err != nil {
		inner.Close()
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	info, err := os.Lstat(path)
	if err != nil {
		inner.Close()
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	return &Listener{UnixListener: inner, path: path, inode: info}, nil
}

// Path of the socket file.
func (l *Listener) Path() string { return l.path }

// Close ends the listener and removes the file if it is still the one that was
// bound.
func (l *Listener) Close() error {
	err := l.UnixListener.Close()
	l.once.Do(func() {
		if now, e := os.Lstat(l.path); e == nil && os.SameFile(now, l.inode) {
			os.Remove(l.path)
		}
		if l.lock != nil {
			_ = l.lock.Unlock() // the process's end would release it too
		}
	})
	return err
}

// privateFolder makes sure that only the user can reach what is in dir. A folder
// that is there already is taken as it is or not at all: it may hold something
// else.
func privateFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder %s: %w", dir, err)
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return fmt.Errorf("look at the folder %s: %w", dir, err)
	case !info.IsDir():
		return fmt.Errorf("use the folder %s: it is a link or a file, not a folder", dir)
	case !ownedByUser(info):
		return fmt.Errorf("use the folder %s: it belongs to another user", dir)
	case openToOthers(info):
		return fmt.Errorf("use the folder %s: others may reach into it (mode %04o); close it with: chmod 700 %s", dir, info.Mode().Perm(), dir)
	}
	return nil
}

func holder(path string) int {
	b, err := os.ReadFile(path + ".lock")
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0
	}
	return pid
}

// Peer is the process at the other end of a connection.
type Peer struct {
	UID int
	PID int // 0 when the system does not say
}

// Trusted tells whether the peer is the same user, or the superuser.
func (p Peer) Trusted() bool { return p.UID == os.Geteuid() || p.UID == 0 }
