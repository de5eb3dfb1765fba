//go:build !linux

package watch

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// running tells whether a process lives; what it is, this system does not tell
// without starting a program.
func running(pid int, _ time.Time) (active, verified bool, reason string) {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false, true, fmt.Sprintf("process %d no longer runs", pid)
	}
	err = p.Signal(syscall.Signal(0))
	if err != nil && !errors.Is(err, os.ErrPermission) {
		return false, true, fmt.Sprintf("process %d no longer runs", pid)
	}
	return true, false, ""
}
