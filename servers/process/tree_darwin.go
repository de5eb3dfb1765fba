package process

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// tells is whether the system says which processes there are.
const tells = true

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
		pid: int(k.Proc.P_pid), parent: int(k.Eproc.Ppid), group: int(k.Eproc.Pgid),
		name: unix.ByteSliceToString(k.Proc.P_comm[:]),
		born: fmt.Sprint(k.Proc.P_starttime.Sec, k.Proc.P_starttime.Usec),
	}
}

// environOf is the environment that a process was started with, behind its arguments;
// "" if it is another user's, or the system does not tell.
func environOf(pid int) string {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return ""
	}
	return string(b)
}

// TTY is the device of a process's terminal; it is not known here.
func TTY(int) string { return "" }
