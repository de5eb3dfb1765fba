//go:build unix

package store

import (
	"errors"
	"syscall"
)

// alive tells whether a process exists, also one of another user.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
