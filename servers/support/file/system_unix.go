//go:build unix

package file

import (
	"io/fs"
	"os"
	"syscall"
)

// NoFollow is the flag that keeps an opening from going through a link.
const NoFollow = syscall.O_NOFOLLOW

const noWait = syscall.O_NONBLOCK

// OwnedByUser reports whether a file is the user's own.
func OwnedByUser(info fs.FileInfo) bool { return OwnedBy(info, os.Geteuid()) }

// OwnedBySystem reports whether a file belongs to the administrator of the machine.
func OwnedBySystem(info fs.FileInfo) bool { return OwnedBy(info, 0) }

// OwnedBy reports whether a file belongs to the user with a number.
func OwnedBy(info fs.FileInfo, uid int) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == uid
}

// Names is how many names a file has: more than one are hard links. It is 0 where the system does not tell.
func Names(info fs.FileInfo) uint64 {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return uint64(s.Nlink) //nolint:unconvert // it has another size on other systems
}

func modeOf(info fs.FileInfo) fs.FileMode { return info.Mode().Perm() }

func patiently(rename func() error) error { return rename() }

// syncRoot makes what was renamed in the folder outlast a power cut. Some network
// file systems refuse it; the rename itself has happened by then.
func syncRoot(root *os.Root) {
	if f, err := root.Open("."); err == nil {
		_ = f.Sync()
		f.Close()
	}
}
