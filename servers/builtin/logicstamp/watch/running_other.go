//go:build !linux

package watch

import "time"

// identify believes a status: what a process is, this system does not tell without starting
// a program.
func identify(int, time.Time) (active, verified bool, reason string) { return true, false, "" }
