//go:build unix

package socket

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Alive tells whether a process runs, as far as the system says.
func Alive(pid int) bool {
	if pid <= 0 {
		return false
	}
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

func ownedByUser(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}

func openToOthers(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }
