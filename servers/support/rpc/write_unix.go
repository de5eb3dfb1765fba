//go:build unix

package rpc

import "syscall"

// writeNow writes as much of a line as the reader has room for, and returns how much that was.
func writeNow(to syscall.RawConn, line []byte) (n int) {
	_ = to.Write(func(fd uintptr) bool { // an error shows in the next write
		n, _ = syscall.Write(int(fd), line)
		return true
	})
	return max(n, 0)
}
