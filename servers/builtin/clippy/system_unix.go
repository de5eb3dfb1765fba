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

// known is what an error number means, "" for most.
func known(no syscall.Errno) string {
	switch no {
	case syscall.ENOSPC, syscall.EDQUOT:
		return full
	case syscall.EROFS:
		return readOnly
	case syscall.ENAMETOOLONG:
		return nameLength
	case syscall.ELOOP:
		return loop
	default:
		return ""
	}
}

func errnoName(no syscall.Errno) string { return unix.ErrnoName(no) }

func systemDesktop() (string, error) { return "", nil }

// terminalPath is the controlling terminal.
const terminalPath = "/dev/tty"
