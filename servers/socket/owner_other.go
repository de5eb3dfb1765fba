//go:build !unix

package socket

// Alive tells whether a process runs; this system does not say.
func Alive(int) bool { return false }
