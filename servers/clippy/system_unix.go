//go:build unix

package clippy

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	noFollow = syscall.O_NOFOLLOW // do not open through a link put in place at the last moment
	noWait   = syscall.O_NONBLOCK // do not wait at a FIFO

	keepsFolders = true // a folder that is open may still be renamed and removed
)

func kindOf(no syscall.Errno) kind {
	switch no {
	case syscall.ENOSPC, syscall.EDQUOT:
		return kindFull
	case syscall.EROFS:
		return kindReadOnly
	case syscall.ENAMETOOLONG:
		return kindNameLength
	case syscall.ELOOP:
		return kindLoop
	}
	return kindOther
}

func errnoName(no syscall.Errno) string { return unix.ErrnoName(no) }

// syncFolder makes a rename in dir outlast a power cut. Some network file
// systems refuse it; the rename itself has happened by then.
func syncFolder(dir string) {
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync()
		f.Close()
	}
}

// replace renames from to to, replacing what was there.
func replace(from, to string) error { return os.Rename(from, to) }

func systemDesktop() (string, error) { return "", nil }

// terminalPath is the controlling terminal.
const terminalPath = "/dev/tty"
