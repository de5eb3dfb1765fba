package process

import (
	"os/exec"
	"syscall"
)

// badArchitecture is what exec answers for a program of another processor.
const badArchitecture = syscall.ENOEXEC

// isolate gives the child its own process group and has the kernel end it
// with mcpdeck.
func isolate(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
