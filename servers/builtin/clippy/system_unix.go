//go:build unix

package clippy

import (
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	noWait = syscall.O_NONBLOCK // do not wait at a FIFO

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
	default:
		return kindOther
	}
}

func errnoName(no syscall.Errno) string { return unix.ErrnoName(no) }

func systemDesktop() (string, error) { return "", nil }

// terminalPath is the controlling terminal.
const terminalPath = "/dev/tty"
