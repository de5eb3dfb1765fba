package process

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/mcpdeck/mcpdeck/servers/support/process/pid"
)

// processes lists all, and looks only at those that are not known.
func processes(known map[int]relative) []relative {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var out []relative
	for _, e := range entries {
		id, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		p, ok := known[id]
		if !ok {
			p, ok = look(id)
		}
		if ok {
			out = append(out, p)
		}
	}
	return out
}

func look(id int) (relative, bool) {
	name, fields := pid.Stat(id)
	if len(fields) < 20 {
		return relative{}, false
	}
	parent, _ := strconv.Atoi(fields[1])
	user, _ := strconv.ParseUint(fields[11], 10, 64)
	system, _ := strconv.ParseUint(fields[12], 10, 64)
	group, _ := strconv.Atoi(fields[2])
	return relative{pid: id, parent: parent, group: group, name: name, born: fields[19], ended: fields[0] == "Z", worked: user + system}, true
}

// environOf is the environment that a process was started with, "" if it is another
// user's.
func environOf(pid int) string {
	path := "/proc/" + strconv.Itoa(pid)
	if info, err := os.Stat(path); err != nil || info.Sys().(*syscall.Stat_t).Uid != uint32(os.Geteuid()) {
		return ""
	}
	b, err := os.ReadFile(path + "/environ")
	if err != nil {
		return ""
	}
	return string(b)
}

func argsOf(pid int) []string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil || len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}

// Executable is the path of the program that a process runs, and what its file is: also
// that of a file that was replaced since. It is nil where the system does not tell.
func Executable(pid int) (path string, info os.FileInfo) {
	link := "/proc/" + strconv.Itoa(pid) + "/exe"
	path, err := os.Readlink(link)
	if err != nil {
		return "", nil
	}
	if info, err = os.Stat(link); err != nil {
		return "", nil
	}
	return strings.TrimSuffix(path, " (deleted)"), info
}

// TTY is the device of the terminal that a process reads from or writes to, "" if there is
// none.
func TTY(pid int) string {
	for _, fd := range []string{"0", "1", "2"} {
		name, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/fd/" + fd)
		if err == nil && (strings.HasPrefix(name, "/dev/pts/") || strings.HasPrefix(name, "/dev/tty")) {
			return name
		}
	}
	return ""
}
