//go:build unix

package drain

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// reader reports whether what is written to a pipe, a socket or a terminal can be read at
// its other end. A file can be read whenever somebody wants to.
func reader(f *os.File) (reads, known bool) {
	raw, err := f.SyscallConn()
	if err != nil {
		return false, true // it is closed
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		at := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}} //nolint:gosec // descriptors are small
		_, failed = unix.Poll(at, 0)
		reads = at[0].Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) == 0
	})
	return reads && err == nil, failed == nil
}

// closed is [HungUp] of a file. It keeps a thread, but no processor.
func closed(f *os.File) (is bool) {
	raw, err := f.SyscallConn()
	if err != nil {
		return true
	}
	err = raw.Control(func(fd uintptr) {
		for {
			at := []unix.PollFd{{Fd: int32(fd)}} //nolint:gosec // descriptors are small
			n, err := unix.Poll(at, -1)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			is = err == nil && n > 0
			return
		}
	})
	return is && err == nil
}
