//go:build unix

package process

import (
	"errors"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

func terminate(c *exec.Cmd) { syscall.Kill(-c.Process.Pid, syscall.SIGTERM) } //nolint:errcheck // gone already is fine

func kill(c *exec.Cmd) { syscall.Kill(-c.Process.Pid, syscall.SIGKILL) } //nolint:errcheck // gone already is fine

// killTree ends the child's group and its descendants. They are stopped first,
// so that none can start another one unseen.
func killTree(c *exec.Cmd) {
	const rounds = 16
	syscall.Kill(-c.Process.Pid, syscall.SIGSTOP) //nolint:errcheck // gone already is fine
	var family []relative
	for range rounds {
		now := descendants(c.Process.Pid)
		for _, p := range now {
			syscall.Kill(p.pid, syscall.SIGSTOP) //nolint:errcheck // gone already is fine
		}
		grown := len(now) > len(family)
		family = now
		if !grown {
			break
		}
	}
	endAll(family)
	kill(c)
}

// endAll ends those processes that are still the same.
func endAll(family []relative) {
	for _, p := range family {
		if now, ok := look(p.pid); ok && now.born == p.born {
			syscall.Kill(p.pid, syscall.SIGKILL) //nolint:errcheck // gone already is fine
		}
	}
}

// sessionOf is the session of terminals that a process is in; 0 if the process that began
// it is outside of this container, and -1 if the process is gone.
func sessionOf(pid int) int {
	id, err := unix.Getsid(pid)
	if err != nil {
		return -1
	}
	return id
}

// adopt has nothing to do where process groups exist.
func adopt(*exec.Cmd) func() { return func() {} }

func wrongFormat(err error) bool {
	return errors.Is(err, syscall.ENOEXEC) || errors.Is(err, badArchitecture)
}
