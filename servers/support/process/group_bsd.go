//go:build unix && !linux

package process

import (
	"os/exec"
	"syscall"
)

// badArchitecture is EBADARCH, which exec answers on macOS.
const badArchitecture = syscall.Errno(86)

// isolate gives the child its own process group. It ends with mcpdeck because
// its input is closed then.
func isolate(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// KeepDescendants cannot be done here: what leaves its parent is nobody's descendant.
func KeepDescendants() error { return nil }
