package pid

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Born returns when a process began, as a word that no other process with its ID has; ""
// if it is unknown.
func Born(id int) string {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", id)
	if err != nil || int(k.Proc.P_pid) != id {
		return ""
	}
	return fmt.Sprintf("%d.%06d", k.Proc.P_starttime.Sec, k.Proc.P_starttime.Usec)
}
