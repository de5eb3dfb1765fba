package process

import (
	"fmt"

	"golang.org/x/sys/unix"
)

func processes() []relative {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil
	}
	out := make([]relative, len(all))
	for i := range all {
		out[i] = relativeOf(&all[i])
	}
	return out
}

func look(pid int) (relative, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return relative{}, false
	}
	return relativeOf(k), true
}

func relativeOf(k *unix.KinfoProc) relative {
	return relative{
		pid: int(k.Proc.P_pid), parent: int(k.Eproc.Ppid),
		born: fmt.Sprint(k.Proc.P_starttime.Sec, k.Proc.P_starttime.Usec),
	}
}
