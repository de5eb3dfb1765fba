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

	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// maxPath is the longest socket path in bytes that all systems take.
const maxPath = 103

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
	path string

	mu     sync.Mutex // guards what follows
	inner  *net.UnixListener
	inode  fs.FileInfo // of the socket
	lock   *flock.Flock
	locked fs.FileInfo // the lock's file
	closed bool
}

// Listen binds path: folder 0700 and owned by the user, socket 0600. A socket
// left by a dead process is replaced, under a lock file that is held until
// Close; nothing else ever is. A live owner is an *InUseError.
func Listen(path string) (*Listener, error) {
	if len(path) > maxPath {
		return nil, fmt.Errorf("listen on %s: the path is %s long, the limit is %d; choose a shorter one", path, humanize.Count(len(path), "byte"), maxPath)
	}
	l := &Listener{path: path}
	if err := l.open(); err != nil {
		return nil, err
	}
	return l, nil
}

// open takes the lock, unless it is held, and binds the path.
func (l *Listener) open() error {
	if err := file.Private(filepath.Dir(l.path)); err != nil {
		return err
	}
	lock, locked := l.lock, l.locked
	if now, err := os.Lstat(l.path + ".lock"); err != nil || locked == nil || !os.SameFile(now, locked) {
		if lock, locked, err = takeLock(l.path); err != nil {
			return err
		}
	}
	inner, inode, err := bind(l.path)
	if err != nil {
		if lock != l.lock {
			_ = lock.Unlock() // the first error counts
		}
		return err
	}
	if l.lock != nil && lock != l.lock {
		_ = l.lock.Unlock() // of a file that nobody sees any more
	}
	l.inner, l.inode, l.lock, l.locked = inner, inode, lock, locked
	return nil
}

// takeLock locks the file beside a socket and writes this process's number into
// it, which is only for the sentence that a second process prints.
func takeLock(path string) (*flock.Flock, fs.FileInfo, error) {
	name := path + ".lock"
	f, err := file.Open(name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, nil, fmt.Errorf("lock %s: %w; remove it", path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("lock %s: %w", path, err)
	}
	lock := flock.New(name, flock.SetFlag(os.O_RDWR|file.NoFollow))
	switch free, err := lock.TryLock(); {
	case err != nil:
		return nil, nil, fmt.Errorf("lock %s: %w", path, err)
	case !free:
		return nil, nil, &InUseError{Path: path, PID: holder(path)}
	}
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteString(strconv.Itoa(os.Getpid()))
	}
	return lock, info, nil
}

// Restore binds the path again if its socket is gone or is another one: somebody has
// deleted it. Connections stay. It tells whether it had to.
func (l *Listener) Restore() (restored bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false, nil
	}
	if now, err := os.Lstat(l.path); err == nil && os.SameFile(now, l.inode) {
		return false, nil
	}
	old := l.inner
	if err := l.open(); err != nil {
		return false, err
	}
	_ = old.Close() // Accept goes on with the new one
	return true, nil
}

func (l *Listener) current() *net.UnixListener {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inner
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	c, err := l.AcceptUnix()
	if err != nil {
		return nil, err
	}
	return c, nil
}

// AcceptUnix is Accept.
func (l *Listener) AcceptUnix() (*net.UnixConn, error) {
	for {
		inner := l.current()
		if c, err := inner.AcceptUnix(); err == nil || inner == l.current() {
			return c, err
		}
	}
}

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return l.current().Addr() }

func bind(path string) (*net.UnixListener, fs.FileInfo, error) {
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, nil, fmt.Errorf("listen on %s: %w", path, err)
	case info.Mode().Type() != fs.ModeSocket:
		return nil, nil, fmt.Errorf("listen on %s: a file that is not a socket is in the way; remove it", path)
	default:
		if c, err := net.Dial("unix", path); err == nil {
			c.Close()
			return nil, nil, &InUseError{Path: path}
		}
		if err := os.Remove(path); err != nil {
			return nil, nil, fmt.Errorf("remove the stale socket %s: %w", path, err)
		}
	}
	inner, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	inner.SetUnlinkOnClose(false)
	if err := os.Chmod(path, 0o600); err != nil {
		inner.Close()
		return nil, nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	info, err := os.Lstat(path)
	if err != nil {
		inner.Close()
		return nil, nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	return inner, info, nil
}

// Path of the socket file.
func (l *Listener) Path() string { return l.path }

// Close ends the listener and removes the file if it is still the one that was
// bound.
func (l *Listener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.inner.Close()
	if l.closed {
		return err
	}
	l.closed = true
	if now, e := os.Lstat(l.path); e == nil && os.SameFile(now, l.inode) {
		os.Remove(l.path)
	}
	_ = l.lock.Unlock() // the process's end would release it too
	return err
}

func holder(path string) int {
	b, err := file.Read(path+".lock", 100)
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
