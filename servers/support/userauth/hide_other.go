//go:build !linux && !darwin

package userauth

// Hide does nothing: this system has no call for it.
func Hide() error { return nil }
