package process

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

func processes(map[int]relative) []relative {
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

const zombie = 5 // of P_stat

func relativeOf(k *unix.KinfoProc) relative {
	return relative{
		pid: int(k.Proc.P_pid), parent: int(k.Eproc.Ppid), group: int(k.Eproc.Pgid),
		name:  unix.ByteSliceToString(k.Proc.P_comm[:]),
		ended: k.Proc.P_stat == zombie,
		born:  fmt.Sprint(k.Proc.P_starttime.Sec, k.Proc.P_starttime.Usec),
	}
}

// argsOf reads the number of arguments, the program's path up to the zeros that follow
// it, and the arguments.
func argsOf(pid int) []string {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(b) < 4 {
		return nil
	}
	n := int(binary.NativeEndian.Uint32(b))
	_, rest, _ := strings.Cut(string(b[4:]), "\x00")
	all := strings.Split(strings.TrimLeft(rest, "\x00"), "\x00")
	if n <= 0 || n > len(all) {
		return nil
	}
	return all[:n]
}

// Executable is the path by which a process was started, and what is there. It is nil where
// the system does not tell.
func Executable(pid int) (path string, info os.FileInfo) {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(b) < 4 {
		return "", nil
	}
	path, _, _ = strings.Cut(string(b[4:]), "\x00")
	if info, err = os.Stat(path); err != nil || !filepath.IsAbs(path) {
		return "", nil
	}
	return path, info
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
