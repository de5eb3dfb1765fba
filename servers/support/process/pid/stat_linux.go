package pid

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Stat is the status of a process: its program's name, which may hold anything, and the fields
// from its state on, the third. There are none if they are unknown.
//
// The statuses of all processes are read often, and os.ReadFile takes three times as many
// calls of the system.
func Stat(id int) (name string, fields []string) {
	f, err := unix.Open("/proc/"+strconv.Itoa(id)+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", nil
	}
	defer func() { _ = unix.Close(f) }() // it was only read
	var b [1024]byte                     // the name has at most 64 bytes, and each of the first 24 numbers at most 20
	n, err := unix.Read(f, b[:])
	if err != nil {
		return "", nil
	}
	stat := string(b[:n])
	end := strings.LastIndexByte(stat, ')')
	_, name, _ = strings.Cut(stat[:max(end, 0)], "(")
	return name, strings.Fields(stat[end+1:])
}

// Born returns when a process began, as a word that no other process with its ID has: the
// ticks since the machine started. It is "" if that is unknown.
func Born(id int) string {
	const at = 22 - 3
	if _, fields := Stat(id); len(fields) > at {
		return fields[at]
	}
	return ""
}

// Stopped reports whether a process is stopped, by a signal or a debugger: it goes on only
// when it is told to.
func Stopped(id int) bool {
	_, fields := Stat(id)
	return len(fields) > 0 && strings.EqualFold(fields[0], "t")
}
