package socket

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// PeerOf asks the system who is at the other end.
func PeerOf(c *net.UnixConn) (Peer, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return Peer{}, fmt.Errorf("ask for the peer: %w", err)
	}
	var p Peer
	var inner error
	if err := raw.Control(func(fd uintptr) {
		var cred *unix.Xucred
		if cred, inner = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED); inner != nil {
			return
		}
		p.UID = int(cred.Uid)
		p.PID, inner = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	}); err != nil {
		return Peer{}, fmt.Errorf("ask for the peer: %w", err)
	}
	if inner != nil {
		return Peer{}, fmt.Errorf("ask for the peer: %w", inner)
	}
	return p, nil
}

// Program returns the name of a process's program, "" when unknown.
func Program(pid int) string {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return ""
	}
	return unix.ByteSliceToString(k.Proc.P_comm[:])
}

// wraps tells whether a shell only runs one command for another program; this
// system does not say.
func wraps(int) bool { return false }

// container tells processes of containers apart; this system does not say.
func container(int) string { return "" }

// Parent returns the id of a process's parent, 0 when unknown.
func Parent(pid int) int {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0
	}
	return int(k.Eproc.Ppid)
}

// Folder returns a process's working folder; this system does not say.
func Folder(int) string { return "" }
