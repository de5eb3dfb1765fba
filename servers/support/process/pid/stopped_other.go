//go:build !linux && !darwin

package pid

// Stopped is false: this system has no call for it.
func Stopped(int) bool { return false }
