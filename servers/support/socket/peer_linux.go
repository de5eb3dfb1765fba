package socket

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// PeerOf asks the system who is at the other end.
func PeerOf(c *net.UnixConn) (Peer, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return Peer{}, fmt.Errorf("ask for the peer: %w", err)
	}
	var cred *unix.Ucred
	var inner error
	if err := raw.Control(func(fd uintptr) {
		cred, inner = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return Peer{}, fmt.Errorf("ask for the peer: %w", err)
	}
	if inner != nil {
		return Peer{}, fmt.Errorf("ask for the peer: %w", inner)
	}
	return Peer{UID: int(cred.Uid), PID: int(cred.Pid)}, nil
}

// Program returns the name of a process's program, "" when unknown.
func Program(pid int) string {
	name := procFile(pid, "comm")
	// An interpreter's script says more than the interpreter.
	if args := strings.Split(procFile(pid, "cmdline"), "\x00"); interpreter(name) {
		for _, a := range args[min(1, len(args)):] {
			if a != "" && !strings.HasPrefix(a, "-") {
				return filepath.Base(a)
			}
		}
	}
	return name
}

func interpreter(name string) bool {
	switch name {
	case "node", "bun", "deno", "python", "python3", "MainThread":
		return true
	}
	return false
}

// wraps tells whether a shell only runs one command for another program.
func wraps(pid int) bool {
	return slices.ContainsFunc(strings.Split(procFile(pid, "cmdline"), "\x00"), func(arg string) bool {
		return strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.HasSuffix(arg, "c")
	})
}

// container tells processes of containers and sandboxes from those that see the
// same files, processes and users as this one.
func container(pid int) string {
	if pid <= 0 { // not in this process's namespace
		return "container " + rand.Text()
	}
	for _, kind := range []string{"mnt", "user", "pid"} {
		mine, err := os.Readlink("/proc/self/ns/" + kind)
		if err != nil {
			return "" // a system without namespaces
		}
		theirs, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/ns/" + kind)
		switch {
		case errors.Is(err, fs.ErrPermission):
			return "container " + strconv.Itoa(pid)
		case err == nil && theirs != mine:
			return "container " + theirs
		}
	}
	return ""
}

// Parent returns the id of a process's parent, 0 when unknown.
func Parent(pid int) int {
	n, _ := strconv.Atoi(statField(pid, 4)) // 0 is unknown
	return n
}

// statField returns a field of a process's stat by its number in proc(5), from 3 on.
func statField(pid, number int) string {
	stat := procFile(pid, "stat")
	// The program's name stands in brackets and may hold anything.
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if i := number - 3; i < len(fields) {
		return fields[i]
	}
	return ""
}

// Folder returns a process's working folder, "" when unknown.
func Folder(pid int) string {
	dir, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
	if err != nil {
		return ""
	}
	return dir
}

func procFile(pid int, name string) string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/" + name)
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(b), "\n\x00")
}
