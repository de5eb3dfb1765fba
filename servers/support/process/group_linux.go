package process

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// badArchitecture is what exec answers for a program of another processor.
const badArchitecture = syscall.ENOEXEC

// isolate gives the child its own process group and has the kernel end it
// with mcpdeck.
func isolate(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// KeepDescendants has everything that this process starts from now on remain its descendant,
// also what leaves its group and loses its parent. For commands that end soon: nobody hears of
// the end of what they have taken over.
func KeepDescendants() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }
