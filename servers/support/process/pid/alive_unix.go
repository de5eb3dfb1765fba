//go:build unix

package pid

import (
	"errors"
	"syscall"
)

// Alive reports whether a process runs, also one of another user.
func Alive(id int) bool {
	if id <= 0 {
		return false
	}
	err := syscall.Kill(id, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
