//go:build unix

package pencil

import (
	"errors"
	"os/exec"
	"syscall"
)

func terminate(c *exec.Cmd) { syscall.Kill(-c.Process.Pid, syscall.SIGTERM) } //nolint:errcheck // gone already is fine

func kill(c *exec.Cmd) { syscall.Kill(-c.Process.Pid, syscall.SIGKILL) } //nolint:errcheck // gone already is fine

// adopt has nothing to do where process groups exist.
func adopt(*exec.Cmd) func() { return func() {} }

func wrongFormat(err error) bool {
	return errors.Is(err, syscall.ENOEXEC) || errors.Is(err, badArchitecture)
}
