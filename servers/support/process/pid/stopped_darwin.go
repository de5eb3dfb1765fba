package pid

import "golang.org/x/sys/unix"

// Stopped reports whether a process is stopped, by a signal or a debugger: it goes on only
// when it is told to.
func Stopped(id int) bool {
	const stopped = 4 // SSTOP
	k, err := unix.SysctlKinfoProc("kern.proc.pid", id)
	return err == nil && int(k.Proc.P_pid) == id && k.Proc.P_stat == stopped
}
