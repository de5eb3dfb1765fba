//go:build unix

package socket

import (
	"errors"
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
